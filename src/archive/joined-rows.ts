import { samePubkey } from '../chain/pubkey.ts'
import { mergeMinutes } from '../market/activity-sums.ts'
import type { ActivityHour } from '../market/activity-rows.ts'
import { CURVE_STAGES } from '../market/curves.ts'
import type { CurveRow, PoolRow, TokenRow } from '../market/registry-rows.ts'
import { mergeTraders } from '../market/merged-traders.ts'
import type { PairRow } from '../market/rows.ts'

/**
 * Joins the rows of one address in the archive and in the live store, which was built without the archive's rows.
 *
 * J1. First facts are the archive's: the first cursor, creation, creator, and the orientation of a pool. Facts that no event
 *     changes (decimals, quote) come from the archive, or from live blocks if no archived one states them.
 * J2. Values that the newest event or trade replaces are live if a live block stated them, else the archive's.
 * J3. Counts are sums.
 */
export const JOINED = {
  /** `shared` is the number of pools of the mint that both stores list. Active hours are those of one store. */
  tokens: ({ activeHours: _, ...earlier }: TokenRow, later: TokenRow, shared: number): TokenRow => ({
    ...earlier,
    decimals: earlier.decimals ?? later.decimals,
    trades: earlier.trades + later.trades,
    pools: earlier.pools + later.pools - shared,
    lastTrade: later.lastTrade ?? earlier.lastTrade,
    lastUsd: later.lastUsd ?? earlier.lastUsd
  }),

  /** The price level is the live blocks': no answer contains it. */
  pairs: (earlier: PairRow, later: PairRow): PairRow => ({ ...later, last: later.last ?? earlier.last }),

  pools: joinPools,
  curves: joinCurves,
  hours: joinHours
} as const

/**
 * Joins a pool. The mints of a pool never change on the chain. If a live row has other mints nevertheless, its price,
 * reserves and vaults are ignored, as in the fold (`pools.ts`, P6).
 */
function joinPools(earlier: PoolRow, later: PoolRow): PoolRow {
  const own = oriented(later, earlier)
  const counted = {
    ...earlier,
    feeBps: later.feeBps ?? earlier.feeBps,
    created: earlier.created ?? later.created,
    trades: earlier.trades + later.trades,
    lastTrade: later.lastTrade ?? earlier.lastTrade
  }
  if (own === null) return counted
  return {
    ...counted,
    baseDecimals: earlier.baseDecimals ?? own.baseDecimals,
    quoteDecimals: earlier.quoteDecimals ?? own.quoteDecimals,
    baseVault: own.baseVault ?? earlier.baseVault,
    quoteVault: own.quoteVault ?? earlier.quoteVault,
    lastPrice: own.lastPrice ?? earlier.lastPrice,
    reserves: own.lastTrade === null ? earlier.reserves : own.reserves
  }
}

/** Returns a pool with the orientation of another row; null if that row has other mints. */
function oriented(row: PoolRow, { base, quote }: PoolRow): PoolRow | null {
  if (samePubkey(row.base, base) && samePubkey(row.quote, quote)) return row
  if (!samePubkey(row.base, quote) || !samePubkey(row.quote, base)) return null
  const { baseDecimals, quoteDecimals, baseVault, quoteVault, reserves } = row
  return {
    ...row,
    base,
    quote,
    baseDecimals: quoteDecimals,
    quoteDecimals: baseDecimals,
    baseVault: quoteVault,
    quoteVault: baseVault,
    // Only a pool without a cash side can be reversed, and such a pool has no price.
    reserves: reserves === null ? null : { base: reserves.quote, quote: reserves.base }
  }
}

/**
 * Joins a curve. A mint has one curve, the first, and no event of an earlier stage changes it (`curves.ts`, K1, K3).
 * Progress, reserves and price are the live row's even if they are unknown: the archive's belong to an older state.
 */
function joinCurves(earlier: CurveRow, later: CurveRow): CurveRow {
  const isBehind = CURVE_STAGES.indexOf(later.status) < CURVE_STAGES.indexOf(earlier.status)
  if (isBehind || !samePubkey(earlier.curve, later.curve)) return earlier
  return {
    ...later,
    platform: earlier.platform,
    quote: earlier.quote ?? later.quote,
    decimals: earlier.decimals ?? later.decimals,
    quoteDecimals: earlier.quoteDecimals ?? later.quoteDecimals,
    forSale: earlier.forSale ?? later.forSale,
    targetQuote: joinedTarget(earlier, later),
    creator: earlier.creator ?? later.creator,
    created: earlier.created ?? later.created,
    graduated: earlier.graduated ?? later.graduated
  }
}

/** Returns the target at the curve's start if it is known; otherwise the live one. */
function joinedTarget(earlier: CurveRow, later: CurveRow): bigint | null {
  if (later.forSale === null && earlier.forSale !== null) return earlier.targetQuote ?? later.targetQuote
  return later.targetQuote ?? earlier.targetQuote
}

/** Joins an hour of one owner. The price before the hour is the archive's, even if it is null: there was none before. */
function joinHours(earlier: ActivityHour, later: ActivityHour): ActivityHour {
  const minutes = new Map(earlier.minutes.map((minute) => [minute.minute, minute]))
  for (const minute of later.minutes) {
    const known = minutes.get(minute.minute)
    minutes.set(minute.minute, known === undefined ? minute : mergeMinutes(known, minute))
  }
  return {
    ...earlier,
    minutes: [...minutes.values()].sort((a, b) => a.minute - b.minute),
    traders: mergeTraders(earlier.traders, later.traders)
  }
}
