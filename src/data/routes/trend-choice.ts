import type { z } from 'zod'
import type { TRENDING_ITEM, Trend } from '../bodies/trending.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { pubkeyFromBase58 } from '../../chain/pubkey.ts'
import type { CashList } from '../../market/cash.ts'

type Item = z.input<typeof TRENDING_ITEM>

/** Sort fields of trending tokens. */
export const TREND_SORTS = [
  'volume_usd',
  'volume_sol',
  'trades',
  'traders',
  'price_change_pct',
  'market_cap_usd',
  'liquidity_usd'
] as const satisfies readonly (keyof Item)[]

interface TrendQuery {
  readonly sort: (typeof TREND_SORTS)[number]
  readonly order: 'asc' | 'desc'
  readonly min_liquidity_usd?: number | undefined
  readonly venue?: VenueId | undefined
  readonly exclude_cash: boolean
}

interface Candidate {
  readonly trend: Pick<Trend, 'venues'>
  readonly item: Item
}

/**
 * Returns a function that filters and sorts tokens, given in the order of volume. Null if a query requests that order
 * without a filter.
 */
export function trendChoice(
  { sort, order, min_liquidity_usd: minLiquidity, venue, exclude_cash }: TrendQuery,
  cash: CashList
): ((candidates: readonly Candidate[]) => Item[]) | null {
  const isFiltered = minLiquidity !== undefined || venue !== undefined || exclude_cash
  if (sort === 'volume_usd' && order === 'desc' && !isFiltered) return null
  const passes = ({ trend, item }: Candidate): boolean =>
    (minLiquidity === undefined || (item.liquidity_usd ?? -1) >= minLiquidity) &&
    (venue === undefined || trend.venues.includes(venue)) &&
    (!exclude_cash || cash.of(pubkeyFromBase58(item.mint)) === undefined)
  const sign = order === 'desc' ? -1 : 1
  return (candidates) =>
    candidates
      .filter(passes)
      .map(({ item }) => item)
      .sort((a, b) => compare(a[sort], b[sort], sign))
}

/** Compares values; unknown values come last in both orders. */
function compare(a: number | null, b: number | null, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return sign * (a - b)
}
