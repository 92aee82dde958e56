import type { CoverageStore, GapRow } from '../../storage/port.ts'
import type { SourceGap } from '../node/block-source.ts'
import { LOST_FORK } from '../market/gap-reasons.ts'
import type { Clock } from '../ports.ts'

/** Store access of a live chain's source, other than to blocks. */
export interface SourceCoverage {
  /** The genesis of the cluster that the store was filled from; null while unknown. */
  readonly expectedGenesis: () => Promise<string | null>
  readonly onGenesis: (genesis: string) => Promise<void>
  readonly onGap: (gap: SourceGap) => Promise<void>
}

const GAPS_PER_READ = 1_000

/** Reads the gaps that begin after a slot (null: all), ascending by slot. */
export async function gapsAfter(store: Pick<CoverageStore, 'gaps'>, slot: number | null): Promise<GapRow[]> {
  const found: GapRow[] = []
  for (let after = slot; ;) {
    const gaps = await store.gaps({ after, limit: GAPS_PER_READ })
    found.push(...gaps)
    if (gaps.length < GAPS_PER_READ) return found
    after = gaps.at(-1)!.from
  }
}

/** Describes stored slots of a lost fork that cannot be rolled back, in one line; null if there are no such slots. */
export async function lostForkOf(store: Pick<CoverageStore, 'gaps'>): Promise<string | null> {
  const gap = (await gapsAfter(store, null)).find(({ reason }) => reason === LOST_FORK)
  return gap === undefined ? null : `the stored blocks of slots ${gap.from} to ${gap.to} stay: ${gap.detail}`
}

export function sourceCoverage(store: CoverageStore, clock: Clock): SourceCoverage {
  return {
    expectedGenesis: () => store.genesis(),
    async onGenesis(genesis) {
      const settled = await store.settleGenesis(genesis)
      if (settled !== genesis)
        throw new Error(`another process fills the store from the cluster with the genesis ${settled}`)
    },
    onGap: ({ from, to, reason, detail = reason }) =>
      store.addGap({ from, to, reason, detail, atMs: clock.now() })
  }
}
