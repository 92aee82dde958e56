import { intervalSeconds } from '../../src/market/buckets.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import type { CandleRange } from '../port.ts'

/** Buckets of a page. A request for 300 candles of a busy pair reads five or six values. */
export const PAGE_BUCKETS = 64

/** Returns the page of a bucket by its time in unix seconds; pages of a series are numbered from 1970. */
export const pageAt = (interval: Interval, ts: number): number =>
  Math.max(0, Math.floor(ts / (intervalSeconds(interval) * PAGE_BUCKETS)))

/** A page with candles in place of those with their time. */
export function mergedPage(stored: readonly Candle[], candles: readonly Candle[]): Candle[] {
  const byTime = new Map([...stored, ...candles].map((candle) => [candle.ts, candle]))
  return [...byTime.values()].sort((a, b) => a.ts - b.ts)
}

/** Appends the candles of a page that are in range, newest first. Returns true once the limit is reached. */
export function takeNewest(into: Candle[], page: readonly Candle[], range: CandleRange): boolean {
  for (let i = page.length - 1; i >= 0 && into.length < range.limit; i--) {
    const candle = page[i]!
    if (candle.ts >= range.from && candle.ts < range.to) into.push(candle)
  }
  return into.length >= range.limit
}
