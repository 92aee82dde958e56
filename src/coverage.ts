import type { CoverageStore } from '../storage/port.ts'
import type { Clock } from './ports.ts'

/** Slots that a source has given up. */
export interface GivenUp {
  readonly from: number
  readonly to: number
  readonly reason: string
  /** In one line; where a source has none, its reason says it. */
  readonly detail?: string
}

/** What a source of a live chain asks and tells the store, beside blocks. */
export interface SourceCoverage {
  /** The genesis of the cluster that the store was filled from; null while none is known. */
  readonly expectedGenesis: () => Promise<string | null>
  readonly onGenesis: (genesis: string) => Promise<void>
  readonly onGap: (gap: GivenUp) => Promise<void>
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
