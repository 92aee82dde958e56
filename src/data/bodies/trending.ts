import { z } from 'zod'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { priceUsd } from '../../market/cash-price.ts'
import { type PricedPair } from '../../market/latest-price.ts'
import type { RankedMint, RankedWindow } from '../../market/ranking.ts'
import type { MintNames } from '../../market/mint-names.ts'
import type { TokenValue } from '../../market/token-value.ts'
import type { ActivityWindow } from '../../market/windows.ts'
import { solAmount, unpricedIn, unvaluedIn, usdOrNull } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'

export const RANKED_WINDOW_NAMES = ['1h', '4h', '24h'] as const satisfies readonly RankedWindow[]

export const TRENDING_ITEM = z
  .object({
    rank: z
      .int()
      .min(1)
      .describe('Position in the list; without `sort` and filters, 1 is the largest volume'),
    mint: schema.address('The token'),
    token: schema.address('The token, equal to `mint`'),
    name: z.string().nullable().describe('Name, as in `/v1/tokens/{mint}`'),
    symbol: z.string().nullable().describe('Symbol, as in `/v1/tokens/{mint}`'),
    volume_usd: schema
      .usd('Value of the trades in the window')
      .nullable()
      .describe(
        'Value of the trades in the window in USD, of those with a known value; null if none has one'
      ),
    unpriced_trades: schema.unpricedTrades('`volume_usd`'),
    volume_sol: schema.amount('Wrapped SOL of the trades against it in the window'),
    trades: schema.count('Trades in the window'),
    traders: schema
      .count('Distinct traders')
      .nullable()
      .describe(
        'Distinct traders in the window: exact up to 256 in each hour, else estimated with a standard error of 2.3 %; null if blocks newer than the head are known'
      ),
    price_usd: schema
      .usd('Price')
      .nullable()
      .describe(
        'Price of the newest price-forming trade in USD, as in `/v1/tokens/{mint}/price`; null before the first one, and if its cash had no price in USD then'
      ),
    price_change_pct: schema.percent('Change of the price').nullable().describe(schema.PRICE_CHANGE),
    market_cap_usd: schema.usd('Market capitalisation').nullable().describe(schema.SAME_MARKET_CAP),
    liquidity_usd: schema.usd('Liquidity').nullable().describe(schema.SAME_LIQUIDITY),
    unvalued_pools: schema.unvaluedPools,
    window: z.enum(RANKED_WINDOW_NAMES).describe('The requested window')
  })
  .meta({ id: 'TrendingItem', description: 'A token and its trading in a rolling window' })

/** Facts about a ranked mint other than its rank. */
export interface Trend {
  readonly activity: ActivityWindow
  readonly names: MintNames
  readonly value: TokenValue
  /** The pair with the newest price; null if the mint has no priced pair. */
  readonly pair: PricedPair | null
  /** Venues on which it traded in the window, among its newest hundred pools. */
  readonly venues: readonly VenueId[]
}

/** Renders a ranked mint. */
export function trendingItem(
  { mint, trades, microUsd }: RankedMint,
  { activity, names, value, pair }: Trend,
  rank: number,
  window: RankedWindow
): z.input<typeof TRENDING_ITEM> {
  const address = pubkeyToBase58(mint)
  return {
    rank,
    mint: address,
    token: address,
    name: names.name,
    symbol: names.symbol,
    volume_usd: activity.volumeMicroUsd === null ? null : usdOrNull(microUsd),
    ...unpricedIn(activity.unpriced),
    volume_sol: solAmount(activity.volumeCash),
    trades,
    traders: activity.traders,
    price_usd: pair === null ? null : priceUsd(pair.last),
    price_change_pct: activity.changePct,
    market_cap_usd: value.marketCapUsd,
    liquidity_usd: value.liquidityUsd,
    ...unvaluedIn(value),
    window
  }
}
