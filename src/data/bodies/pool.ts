import { z } from 'zod'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { priceUsd } from '../../market/cash-price.ts'
import { withReserves, type PoolReserves } from '../../accounts/pools/live-reserves.ts'
import type { CurveRow, PoolRow } from '../../market/registry-rows.ts'
import { poolLiquidityUsd } from '../../market/token-value.ts'
import type { ActivityWindow } from '../../market/windows.ts'
import { addressOrNull, humanOrNull, rawOrNull, timeOrNull, unpricedInDay, usdOrNull } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'
import { sourceMark, sourceOfRecord } from '../../ingest/bodies/source.ts'
import { ageSeconds } from '../../kernel/http/time.ts'

const RESERVE =
  'without the amounts that the vaults owe to others. It comes from the accounts, or from the newest trade if that is newer and states it. Null if unknown'

export const POOL = z
  .object({
    pool: schema.address('The pool, curve or market'),
    venue: schema.venue('Its venue'),
    base_mint: schema.address('The token; if neither side is cash, the first mint of the pool’s first event'),
    quote_mint: schema.address('Its cash, or the other token'),
    base_symbol: z.string().nullable().describe('Symbol of the base; null when unknown'),
    quote_symbol: z.string().nullable().describe('Symbol of the quote; null when unknown'),
    base_reserve: schema
      .amount('Reserve of the base')
      .nullable()
      .describe(`Reserve of the base in human units, ${RESERVE}`),
    base_reserve_raw: schema
      .rawAmount('Reserve of the base')
      .nullable()
      .describe(`Reserve of the base in base units, ${RESERVE}`),
    quote_reserve: schema
      .amount('Reserve of the quote')
      .nullable()
      .describe(`Reserve of the quote in human units, ${RESERVE}`),
    quote_reserve_raw: schema
      .rawAmount('Reserve of the quote')
      .nullable()
      .describe(`Reserve of the quote in base units, ${RESERVE}`),
    reserves_from: z
      .enum(['account', 'trade'])
      .nullable()
      .describe('Origin of the reserves; null if the reserves are unknown'),
    reserves_slot: schema
      .count('Slot of the reserves')
      .nullable()
      .describe(
        'Slot of the reserves: the accounts, all read at this slot, or the trade. Null if the reserves are unknown'
      ),
    reserves_age_seconds: schema
      .count('Age of the reading')
      .nullable()
      .describe(
        'Seconds since the accounts were read, by the clock of the service; null if the reserves come from a trade'
      ),
    reserves_reason: z
      .string()
      .nullable()
      .describe('Reason why the reserves are missing, or are not fresh from the accounts; null otherwise'),
    base_vault: schema
      .address('Vault of the base')
      .nullable()
      .describe('Vault of the base; null if neither an event nor the account of the pool states it'),
    quote_vault: schema
      .address('Vault of the quote')
      .nullable()
      .describe('Vault of the quote; null if neither an event nor the account of the pool states it'),
    liquidity_usd: schema
      .usd('Liquidity')
      .nullable()
      .describe(
        `Liquidity in USD: ${schema.LIQUIDITY}; null if the reserves are unknown, and for a completed curve`
      ),
    price: schema
      .price('Price')
      .nullable()
      .describe(
        'Cash per token of its newest price-forming trade. Null before such a trade, and if neither side is cash. In a store of an older version, null until the next such trade'
      ),
    price_usd: schema.usd('Price').nullable().describe(schema.PRICE_USD),
    fee_bps: z
      .number()
      .min(0)
      .nullable()
      .describe('Trading fee in hundredths of a percent; null if no event states it'),
    volume_24h_usd: schema
      .usd('Volume')
      .nullable()
      .describe(
        `Volume in USD in the ${schema.DAY}, of trades with a value in USD; null if there are trades and none has one`
      ),
    unpriced_trades_24h: schema.unpricedTrades('`volume_24h_usd`'),
    trades_24h: schema.count(`Trades in the ${schema.DAY}`),
    created_at: schema.time('Time of creation', 'block').nullable(),
    created_slot: schema
      .count('Slot of that')
      .nullable()
      .describe('Slot of its creation; null if it was created before the index began'),
    last_trade_at: schema.time('Time of its newest trade', 'block').nullable(),
    live: z
      .boolean()
      .describe(
        'Whether a live block has named the pool. The reserves and the liquidity of other pools are null'
      ),
    source: sourceMark('the pool is known only')
  })
  .meta({ id: 'Pool', description: 'A pool in which a token trades' })

/**
 * Renders a pool at a time of the service in Unix milliseconds. `row` has the decimals that are known, `day` is its 24-hour
 * window, `curve` the bonding curve of its token. `isArchived` marks a pool that no live block has named.
 */
export function poolBody(
  row: PoolRow,
  day: ActivityWindow,
  symbols: { readonly base: string | null; readonly quote: string | null },
  curve: CurveRow | null,
  reserves: PoolReserves,
  nowMs: number,
  isArchived = false
): z.input<typeof POOL> {
  const { lastTrade, lastPrice, created, baseDecimals, quoteDecimals } = row
  const { base, quote, from, slot, readAtMs, reason } = reserves
  return {
    pool: pubkeyToBase58(row.pool),
    venue: row.venue,
    base_mint: pubkeyToBase58(row.base),
    quote_mint: pubkeyToBase58(row.quote),
    base_symbol: symbols.base,
    quote_symbol: symbols.quote,
    base_reserve: humanOrNull(base, baseDecimals),
    base_reserve_raw: rawOrNull(base),
    quote_reserve: humanOrNull(quote, quoteDecimals),
    quote_reserve_raw: rawOrNull(quote),
    reserves_from: from,
    reserves_slot: slot,
    reserves_age_seconds: readAtMs === null ? null : ageSeconds(readAtMs, nowMs),
    reserves_reason: reason,
    base_vault: addressOrNull(reserves.baseVault),
    quote_vault: addressOrNull(reserves.quoteVault),
    liquidity_usd: poolLiquidityUsd(withReserves(row, reserves), curve),
    price: lastPrice?.price ?? null,
    price_usd: lastPrice === null ? null : priceUsd(lastPrice),
    fee_bps: row.feeBps,
    volume_24h_usd: usdOrNull(day.volumeMicroUsd),
    ...unpricedInDay(day.unpriced),
    trades_24h: day.trades,
    created_at: timeOrNull(created?.blockTime),
    created_slot: created?.slot ?? null,
    last_trade_at: timeOrNull(lastTrade?.blockTime),
    live: !isArchived,
    ...sourceOfRecord(isArchived)
  }
}
