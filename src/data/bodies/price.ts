import { z } from 'zod'
import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { humanAmount } from '../../market/amount.ts'
import type { CashList, CashMint } from '../../market/cash.ts'
import { priceUsd } from '../../market/cash-price.ts'
import { type PricedPair } from '../../market/latest-price.ts'
import type { TokenValue } from '../../market/token-value.ts'
import type { ActivityWindow } from '../../market/windows.ts'
import { unpricedInDay, unvaluedIn, usdOrNull } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'
import { sourceMark, sourceOfSlot, type ArchiveEnd } from '../../ingest/bodies/source.ts'
import { secondsText } from '../../kernel/http/time.ts'

/** Seconds behind the indexed head after which a price is served as stale: the maximum age of a price of SOL. */
const STALE_AFTER_SECONDS = 3600

/** Describes a field of the trade, which is null only for a cash mint that was never traded. */
const traded = <T extends z.ZodType>(field: T, meaning: string) =>
  field.nullable().describe(`${meaning}; null for wrapped SOL, USDC or USDT before its first trade`)

export const PRICE = z
  .object({
    mint: schema.address('The token'),
    price: traded(schema.price('Price'), 'Cash per token of the newest price-forming trade of any pair'),
    price_native: traded(schema.price('Price'), 'Equal to `price`'),
    price_usd: schema
      .usd('Price')
      .nullable()
      .describe(`${schema.PRICE_USD}. A dollar mint without a trade is 1`),
    cash_mint: traded(schema.address('Cash'), 'The cash of that trade; base58'),
    cash_symbol: z
      .string()
      .nullable()
      .describe('Symbol of the cash; null for a mint that the operator added'),
    venue: traded(schema.venue('Venue'), 'Venue of that trade'),
    pool: traded(schema.address('Pool'), 'Its pool; base58'),
    slot: traded(schema.count('Slot'), 'Its slot'),
    signature: traded(schema.signature('Signature'), 'Its transaction; base58'),
    ts: traded(schema.time('Time', 'block'), 'Time of that trade; block time, UTC, `YYYY-MM-DD HH:MM:SS`'),
    ts_ms: traded(schema.unixMs('Time', 'block'), 'Time of that trade; block time, Unix milliseconds'),
    age_seconds: traded(
      schema.count('Seconds'),
      'Seconds from that trade to the block time of the indexed head'
    ),
    market_cap_usd: schema.usd('Market capitalisation').nullable().describe(schema.SAME_MARKET_CAP),
    supply_slot: schema.count('Slot').nullable().describe(schema.SUPPLY_SLOT),
    volume_24h_usd: schema
      .usd('Volume')
      .nullable()
      .describe(
        `USD volume of all pairs in the ${schema.DAY}, of trades with a value in USD; null if there are trades and none has one`
      ),
    unpriced_trades_24h: schema.unpricedTrades('`volume_24h_usd`'),
    volume_24h_native: schema
      .amount('Volume')
      .describe(`Cash volume of the pair with \`cash_mint\` in the ${schema.DAY}, in human units`),
    liquidity_usd: schema.usd('Liquidity').nullable().describe(schema.SAME_LIQUIDITY),
    unvalued_pools: schema.unvaluedPools,
    price_change_24h_pct: schema
      .percent('Change')
      .nullable()
      .describe(`${schema.PRICE_CHANGE}. The window is the ${schema.DAY}`),
    confidence: z
      .enum(['trade', 'stale'])
      .describe(
        `\`stale\` when the trade is more than ${STALE_AFTER_SECONDS} s behind the indexed head, or no trade is known`
      ),
    source: sourceMark('that trade is')
  })
  .meta({ id: 'Price', description: 'The latest price of a token, from its newest price-forming trade' })

export const PRICES = z
  .object({
    tenant: schema.text('Tenant of the key in use'),
    data: z.array(PRICE).describe('In the order of the request'),
    missing: z
      .array(schema.address('A token'))
      .describe('Tokens without a known price, in the order of the request')
  })
  .meta({ id: 'Prices' })

/** Renders the price of a cash mint that was never traded as a token: 1 USD for dollars by definition, null for SOL. */
export function untradedPriceBody(
  { mint, pegged }: CashMint,
  day: Pick<ActivityWindow, 'volumeMicroUsd' | 'unpriced'>,
  value: TokenValue
): z.input<typeof PRICE> {
  return {
    mint: pubkeyToBase58(mint),
    price: null,
    price_native: null,
    price_usd: pegged ? 1 : null,
    cash_mint: null,
    cash_symbol: null,
    venue: null,
    pool: null,
    slot: null,
    signature: null,
    ts: null,
    ts_ms: null,
    age_seconds: null,
    market_cap_usd: value.marketCapUsd,
    supply_slot: value.supplySlot,
    volume_24h_usd: usdOrNull(day.volumeMicroUsd),
    ...unpricedInDay(day.unpriced),
    volume_24h_native: 0,
    liquidity_usd: value.liquidityUsd,
    ...unvaluedIn(value),
    price_change_24h_pct: null,
    confidence: 'stale'
  }
}

/**
 * Renders the latest price. `day` is the mint's 24-hour window, `dayCash` the pair's volume in that window, in base units
 * of the cash. Within a minute, only the age changes with the head's block time.
 */
export function priceBody(
  pair: PricedPair,
  day: Pick<ActivityWindow, 'volumeMicroUsd' | 'unpriced' | 'changePct'>,
  dayCash: bigint,
  value: TokenValue,
  cash: CashList,
  headTime: number,
  archiveEnd: ArchiveEnd = null
): z.input<typeof PRICE> {
  const { last } = pair
  const age = Math.max(0, headTime - last.blockTime)
  return {
    mint: pubkeyToBase58(pair.mint),
    price: last.price,
    price_native: last.price,
    price_usd: priceUsd(last),
    cash_mint: pubkeyToBase58(pair.cash),
    cash_symbol: cash.of(pair.cash)?.symbol ?? null,
    venue: last.venue,
    pool: pubkeyToBase58(last.pool),
    slot: last.slot,
    signature: encodeBase58(last.signature),
    ts: secondsText(last.blockTime),
    ts_ms: last.blockTime * 1000,
    age_seconds: age,
    market_cap_usd: value.marketCapUsd,
    supply_slot: value.supplySlot,
    volume_24h_usd: usdOrNull(day.volumeMicroUsd),
    ...unpricedInDay(day.unpriced),
    volume_24h_native: humanAmount(dayCash, pair.cashDecimals),
    liquidity_usd: value.liquidityUsd,
    ...unvaluedIn(value),
    price_change_24h_pct: day.changePct,
    confidence: age > STALE_AFTER_SECONDS ? 'stale' : 'trade',
    ...sourceOfSlot(last.slot, archiveEnd)
  }
}
