import { bucketStart } from '../../market/buckets.ts'
import { INTERVALS as LONG_INTERVALS, SECOND_INTERVALS, type CandleInterval } from '../../market/rows.ts'
import type { Candle, Trade } from './answers.ts'

/** The intervals of candles, the shortest first. */
export const INTERVALS: readonly CandleInterval[] = [...SECOND_INTERVALS, ...LONG_INTERVALS]

/**
 * Grows candles by trades of their pair, oldest bucket first, as the service folds them: prices by price-forming trades, volumes
 * by all. A trade of a bucket before the last candle is left to the next check.
 */
export function grown(
  candles: readonly Candle[],
  trades: readonly Trade[],
  interval: CandleInterval,
  currency: 'usd' | 'native'
): Candle[] {
  const all = [...candles]
  for (const trade of trades.toSorted((a, b) => a.cursor - b.cursor)) {
    const ms = bucketStart(interval, trade.block_time) * 1_000
    const last = all.at(-1)
    if (last !== undefined && ms < last.ts_ms) continue
    const price = trade.price_forming ? (currency === 'usd' ? trade.price_usd : trade.price) : null
    if (last?.ts_ms === ms) all[all.length - 1] = withTrade(last, trade, price)
    // A bucket without a price has no candle.
    else if (price !== null) all.push(withTrade(emptyCandle(ms, price), trade, price))
  }
  return all
}

function emptyCandle(ms: number, price: number): Candle {
  return {
    ts: new Date(ms).toISOString().slice(0, 19).replace('T', ' '),
    ts_ms: ms,
    open: price,
    high: price,
    low: price,
    close: price,
    volume_usd: null,
    volume_token: 0,
    volume_cash: 0,
    trades: 0,
    buys: 0,
    sells: 0,
    closed: false
  }
}

function withTrade(candle: Candle, trade: Trade, price: number | null): Candle {
  const { amount_usd: usd, event, token_amount: tokens, cash_amount: cash } = trade
  return {
    ...candle,
    high: price === null ? candle.high : Math.max(candle.high, price),
    low: price === null ? candle.low : Math.min(candle.low, price),
    close: price ?? candle.close,
    volume_usd: usd === null ? candle.volume_usd : (candle.volume_usd ?? 0) + usd,
    volume_token: candle.volume_token + tokens,
    volume_cash: candle.volume_cash + (cash ?? 0),
    trades: candle.trades + 1,
    buys: candle.buys + (event === 'buy' ? 1 : 0),
    sells: candle.sells + (event === 'sell' ? 1 : 0)
  }
}

/** Replaces the end of candles by newer ones of the service. */
export function withNewer(candles: readonly Candle[], newer: readonly Candle[]): Candle[] {
  const [first] = newer
  if (first === undefined) return [...candles]
  return [...candles.filter(({ ts_ms: ms }) => ms < first.ts_ms), ...newer]
}

/** Returns whether newer candles reach back to the known ones, so that no bucket is between them. */
export function meets(candles: readonly Candle[], newer: readonly Candle[]): boolean {
  const [first] = newer
  const last = candles.at(-1)
  return first === undefined || last === undefined || first.ts_ms <= last.ts_ms
}

/** Returns the first candle of the live index after those of an imported archive; null if there is no such border. */
export function liveStart(candles: readonly Candle[]): Candle | null {
  if (candles[0]?.source !== 'archive') return null
  return candles.find(({ source }) => source !== 'archive') ?? null
}
