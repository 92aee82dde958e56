import type { Candle, Trade } from './answers.ts'

export const INTERVALS = ['1s', '5s', '15s', '1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w'] as const
export type Interval = (typeof INTERVALS)[number]

const SECONDS: Readonly<Record<Interval, number>> = {
  '1s': 1,
  '5s': 5,
  '15s': 15,
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '30m': 1_800,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
  '1w': 604_800
}
/** Weeks start on Mondays; the epoch was a Thursday. */
const FIRST_MONDAY_MS = 4 * 86_400_000

/** Returns the start of the bucket of a time, both in Unix milliseconds. */
export function bucketOf(ms: number, interval: Interval): number {
  const length = SECONDS[interval] * 1_000
  const origin = interval === '1w' ? FIRST_MONDAY_MS : 0
  return Math.floor((ms - origin) / length) * length + origin
}

/**
 * Grows candles by trades of their pair, oldest bucket first, as the service folds them: prices by price-forming trades, volumes
 * by all. A trade of a bucket before the last candle is left to the next check.
 */
export function grown(
  candles: readonly Candle[],
  trades: readonly Trade[],
  interval: Interval,
  currency: 'usd' | 'native'
): Candle[] {
  const all = [...candles]
  for (const trade of trades.toSorted((a, b) => a.cursor - b.cursor)) {
    const ms = bucketOf(trade.block_time * 1_000, interval)
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
