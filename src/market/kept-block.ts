import type { DecodedBlock } from './block.ts'
import { bucketStart, bucketStarts } from './buckets.ts'
import { bucketAt } from './candles.ts'
import type { KnownMarket } from './fold.ts'
import { MARKET } from './activity.ts'
import type { TotalsRow } from './activity-rows.ts'
import type { LoadedRecords, Stored } from './read-set.ts'
import { byName, LATEST } from './records.ts'
import type { LatestName } from './records.ts'
import { INTERVALS } from './rows.ts'
import type { SlotRow } from './rows.ts'
import type { SolUsd } from './sol-usd.ts'
import type { AffectedKeys } from './affected-keys.ts'

/**
 * A committed block with the state it was folded on: enough to roll it back, or to fold it again after other blocks.
 * Stored as long as it may be needed for either.
 */
export interface KeptBlock {
  readonly block: DecodedBlock
  readonly before: MarketBefore
}

/** The market at the block before, limited to the addresses that a block affects. */
export interface MarketBefore {
  /** Null before the first block. */
  readonly head: SlotRow | null
  readonly solUsd: SolUsd
  readonly totals: TotalsRow | null
  /** Rows at each address that the block affects. */
  readonly values: LoadedRecords
}

/** Extracts the values before a block from a market that holds everything the block affects. */
export function marketBefore(known: KnownMarket, head: SlotRow | null, affected: AffectedKeys): MarketBefore {
  const { solUsd, totals } = known
  const latest = byName<Pick<LoadedRecords, LatestName>>(LATEST, (name) =>
    [...affected[name]].map(([text, address]) => ({ address, row: known.latest(name, text) }))
  )
  const values = {
    ...latest,
    candles: candlesBefore(known, affected),
    activity: hoursBefore(known, affected)
  }
  return { head, solUsd, totals, values }
}

function candlesBefore(known: KnownMarket, { pairs, blockTime }: AffectedKeys): Stored<'candles'>[] {
  const starts = bucketStarts(blockTime)
  return Array.from(pairs, ([key, { mint, cash }]) =>
    INTERVALS.map((interval, index) => {
      const ts = starts[index]!
      const address = { mint, cash, interval, ts }
      return { address, row: bucketAt(address, known.candle(key, interval, ts)) }
    })
  ).flat()
}

function hoursBefore(known: KnownMarket, { tokens, pools, blockTime }: AffectedKeys): Stored<'activity'>[] {
  const hour = bucketStart('1h', blockTime)
  return [
    { of: 'market' as const, owner: MARKET },
    ...Array.from(tokens.values(), (owner) => ({ of: 'mint' as const, owner })),
    ...Array.from(pools.values(), (owner) => ({ of: 'pool' as const, owner }))
  ].map(({ of, owner }) => ({ address: { of, owner, hour }, row: known.activity(of, owner, hour) }))
}
