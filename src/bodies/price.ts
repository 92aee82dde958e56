import { z } from 'zod'
import { encodeBase58 } from '../chain/base58.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { humanAmount } from '../market/amount.ts'
import type { CashList } from '../market/cash.ts'
import { priceUsd, type PricedPair } from '../market/latest-price.ts'
import type { ActivityWindow } from '../market/windows.ts'
import { usdOrNull } from './event.ts'
import * as schema from './schema.ts'
import { secondsText } from './time.ts'

/** A price whose trade is further than this behind the indexed head is served as stale. Chosen. */
const STALE_AFTER_SECONDS = 3600

export const PRICE = z
  .object({
    mint: schema.address('The token'),
    price: schema.price('Cash per token of the newest price-forming trade of any pair'),
    price_native: schema.price('The same as `price`'),
    price_usd: schema.usd('Price').nullable().describe(schema.PRICE_USD),
    cash_mint: schema.address('The cash of that trade'),
    cash_symbol: z.string().nullable().describe('Its symbol; null for a mint that the operator added'),
    venue: schema.venue('Where that trade was'),
    pool: schema.address('Its pool'),
    slot: schema.count('Its slot'),
    signature: schema.signature('Its transaction'),
    ts: schema.time('Its block time'),
    ts_ms: schema.unixMs('Its block time'),
    age_seconds: schema.count('Seconds from that trade to the block time of the indexed head'),
    market_cap_usd: schema.accountState('Market capitalisation in USD'),
    volume_24h_usd: schema
      .usd('Volume')
      .nullable()
      .describe(
        `USD volume of all pairs in the ${schema.DAY}; null where there are trades and none has a value in USD`
      ),
    volume_24h_native: schema
      .amount('Volume')
      .describe(`Cash volume of the pair with \`cash_mint\` in the ${schema.DAY}, in human units`),
    liquidity_usd: schema.accountState('Liquidity in USD'),
    price_change_24h_pct: schema
      .percent('Change')
      .nullable()
      .describe(`${schema.PRICE_CHANGE}. The window is the ${schema.DAY}`),
    confidence: z
      .enum(['trade', 'stale'])
      .describe(`\`stale\` when the trade is more than ${STALE_AFTER_SECONDS} s behind the indexed head`)
  })
  .meta({ id: 'Price', description: 'The latest price of a token, from its newest price-forming trade' })

/**
 * The latest price as served: `day` is the mint's window of 24 hours, `dayCash` what the pair traded in it, in base units
 * of the cash. The age counts from the head's block time; the rest does not follow the head within its minute.
 */
export function priceBody(
  pair: PricedPair,
  day: ActivityWindow,
  dayCash: bigint,
  cash: CashList,
  headTime: number
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
    market_cap_usd: null,
    volume_24h_usd: usdOrNull(day.volumeMicroUsd),
    volume_24h_native: humanAmount(dayCash, pair.cashDecimals),
    liquidity_usd: null,
    price_change_24h_pct: day.changePct,
    confidence: age > STALE_AFTER_SECONDS ? 'stale' : 'trade'
  }
}
