import type { TotalsRow } from './activity-rows.ts'
import type { DecodedBlock } from './block.ts'
import { bucketStart, bucketStarts } from './candles.ts'
import type { KnownMarket } from './fold.ts'
import { MARKET } from './activity.ts'
import type { Loaded } from './missing.ts'
import { INTERVALS } from './rows.ts'
import type { SlotRow } from './rows.ts'
import type { SolUsd } from './sol-usd.ts'
import type { Touched } from './touched.ts'

/**
 * A committed block with what it was folded on: enough to take it back, or to fold it again behind other blocks. Kept
 * for as long as either may be asked for.
 */
export interface KeptBlock {
  readonly block: DecodedBlock
  readonly before: MarketBefore
}

/** The market as of the block before, as far as a block touches it. */
export interface MarketBefore {
  /** Null before the first block. */
  readonly head: SlotRow | null
  readonly solUsd: SolUsd
  readonly totals: TotalsRow | null
  /** Of each address that the block touches, what there was; null where there was nothing. */
  readonly values: Loaded
}

/** What a market that holds all that a block touches knows of it. */
export function marketBefore(known: KnownMarket, head: SlotRow | null, touched: Touched): MarketBefore {
  const { solUsd, totals } = known
  const starts = bucketStarts(touched.blockTime)
  const hour = bucketStart('1h', touched.blockTime)
  const tokens = [...touched.tokens.values()]
  const pools = [...touched.pools.values()]
  const values: Loaded = {
    pairs: Array.from(touched.pairs, ([key, { mint, cash }]) => ({ mint, cash, row: known.pair(key) })),
    candles: Array.from(touched.pairs, ([key, { mint, cash }]) =>
      INTERVALS.map((interval, index) => {
        const ts = starts[index]!
        return { mint, cash, interval, ts, candle: known.candle(key, interval, ts) }
      })
    ).flat(),
    launches: Array.from(touched.launches.values(), (mint) => ({ mint, launch: known.launch(mint) })),
    tokens: tokens.map((mint) => ({ mint, token: known.token(mint) })),
    pools: pools.map((pool) => ({ pool, row: known.pool(pool) })),
    curves: Array.from(touched.curves.values(), (mint) => ({ mint, curve: known.curve(mint) })),
    hours: [
      { of: 'market' as const, owner: MARKET },
      ...tokens.map((owner) => ({ of: 'mint' as const, owner })),
      ...pools.map((owner) => ({ of: 'pool' as const, owner }))
    ].map((of) => ({ ...of, hour, activity: known.activity(of.of, of.owner, hour) }))
  }
  return { head, solUsd, totals, values }
}
