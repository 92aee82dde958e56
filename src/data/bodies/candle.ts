import { z } from 'zod'
import { humanAmount } from '../../market/amount.ts'
import type { Candle, Ohlc } from '../../market/rows.ts'
import * as schema from '../../kernel/http/schema.ts'
import { sourceMark, sourceOfBucket, type ArchiveEnd } from '../../ingest/bodies/source.ts'
import { secondsText } from '../../kernel/http/time.ts'

export const CANDLE = z
  .object({
    ts: schema.time('Start of the bucket; weeks start on Mondays at 00:00 UTC', 'block'),
    ts_ms: schema.unixMs('Start of the bucket', 'block'),
    open: schema.price('First price, in the requested currency'),
    high: schema.price('Highest price'),
    low: schema.price('Lowest price'),
    close: schema.price('Last price'),
    volume_usd: schema
      .usd('Volume')
      .nullable()
      .describe(
        'Volume in USD of the trades with a value in USD; null if no trade of the bucket has one. `unpriced_trades` says how many it lacks'
      ),
    unpriced_trades: schema
      .count(
        'Trades without a value in USD, because SOL had no price yet: `volume_usd` lacks them. Absent if it has all trades, and in candles of versions that did not count such trades'
      )
      .optional(),
    volume_token: schema.amount('Tokens traded'),
    volume_cash: schema.amount('Cash traded'),
    trades: schema.count('Trades, including those that form no price'),
    buys: schema.count('Trades in which cash was spent for the token'),
    sells: schema.count('Trades in which the token was sold for cash'),
    closed: z.boolean().describe('False while the indexed head is still inside the bucket'),
    source: sourceMark('the bucket begins in the time of blocks')
  })
  .meta({ id: 'Candle', description: 'Prices and volume of a pair in one bucket' })

/** Columns of candles as CSV and Parquet. The order never changes, and new columns come last. */
export const CANDLE_COLUMNS = [
  ...['ts', 'ts_ms', 'open', 'high', 'low', 'close', 'volume_usd', 'volume_token', 'volume_cash'],
  ...['trades', 'buys', 'sells', 'closed', 'unpriced_trades', 'source']
] as const satisfies readonly (keyof z.input<typeof CANDLE>)[]

/** A candle in a list of all tokens. */
export const PAIR_CANDLE = CANDLE.extend({
  mint: schema.address('The token'),
  cash_mint: schema.address('The cash of the pair')
}).meta({ id: 'PairCandle', description: 'Prices and volume of a pair in one bucket, with the pair' })

/** Columns of the candles of all tokens. */
export const PAIR_CANDLE_COLUMNS = [...CANDLE_COLUMNS, 'mint', 'cash_mint'] as const

export const CANDLES = z
  .object({
    cash_mint: schema.address('The cash of the pair, even if the request names no cash'),
    data: z.array(CANDLE).describe('Oldest first'),
    nextCursor: z
      .string()
      .nullable()
      .describe('The `after` of the page of older candles; null on the last page')
  })
  .meta({ id: 'Candles' })

export const POOL_CANDLES = z
  .object({
    pool: schema.address('The pool'),
    mint: schema
      .address('Its token')
      .nullable()
      .describe('Its token, `base_mint` of the pool; null for an unknown pool'),
    cash_mint: schema
      .address('Its cash')
      .nullable()
      .describe('Its cash; null for an unknown pool, and for a pool of two tokens, which has no candles'),
    data: CANDLES.shape.data,
    nextCursor: CANDLES.shape.nextCursor
  })
  .meta({ id: 'PoolCandles' })

/** The prices of a candle that a request selects. */
export interface CandlePrices {
  readonly currency: 'native' | 'usd'
  /** Whether prices come from all rows, not only from price-forming ones. */
  readonly raw: boolean
}

export interface CandleView {
  readonly decimals: number
  readonly cashDecimals: number
  /** Length of the interval in seconds, and the block time of the indexed head. */
  readonly intervalSeconds: number
  readonly headTime: number
  readonly archiveEnd: ArchiveEnd
}

/** Returns the prices of a bucket; null if it has no candle (src/docs/endpoints.md). */
export function candlePrices(candle: Candle, { currency, raw }: CandlePrices): Ohlc | null {
  if (currency === 'usd') return raw ? candle.usdRaw : candle.usd
  return raw ? candle.nativeRaw : candle.native
}

/** Renders a candle. `closed` is false while the indexed head is still inside the bucket. */
export function candleBody(candle: Candle, prices: Ohlc, view: CandleView): z.input<typeof CANDLE> {
  const { unpriced } = candle
  const isPriced = candle.trades === 0 || candle.usdRaw !== null
  const { source } = sourceOfBucket(candle.ts, view.archiveEnd)
  const body = {
    ts: secondsText(candle.ts),
    ts_ms: candle.ts * 1000,
    open: prices.open,
    high: prices.high,
    low: prices.low,
    close: prices.close,
    volume_usd: isPriced ? Number(candle.volumeMicroUsd) / 1e6 : null,
    volume_token: humanAmount(candle.volumeToken, view.decimals),
    volume_cash: humanAmount(candle.volumeCash, view.cashDecimals),
    trades: candle.trades,
    buys: candle.buys,
    sells: candle.trades - candle.buys,
    closed: candle.ts + view.intervalSeconds <= view.headTime
  }
  // Most candles have neither, and spreading objects into the literal takes a third of its time.
  if (unpriced === undefined && source === undefined) return body
  const { closed, ...sums } = body
  return {
    ...sums,
    ...(unpriced !== undefined && { unpriced_trades: unpriced }),
    closed,
    ...(source !== undefined && { source })
  }
}
