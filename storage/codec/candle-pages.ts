import { intervalSeconds } from '../../src/market/buckets.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import type { CandleRange, CandleUpsert } from '../port.ts'
import type { FirstPages, OpenCandles, OpenSeries } from './open-candles.ts'

/** Buckets of a page. A request for 300 candles of a busy pair reads five or six values. */
export const PAGE_BUCKETS = 64

/** Returns the page of a bucket by its time in unix seconds; pages of a series are numbered from 1970. */
export const pageAt = (interval: Interval, ts: number): number =>
  Math.max(0, Math.floor(ts / (intervalSeconds(interval) * PAGE_BUCKETS)))

/** Returns a pair's newest candles after the upserts, and the candles that move into pages. */
export function replaceNewest(
  open: OpenCandles,
  upserts: readonly CandleUpsert[]
): { newest: OpenCandles; passed: CandleUpsert[] } {
  const newest = { ...open }
  const passed: CandleUpsert[] = []
  for (const upsert of upserts) {
    const { interval, candle } = upsert
    const known = newest[interval]
    if (known !== undefined && candle.ts < known.ts) passed.push(upsert)
    else {
      if (known !== undefined && known.ts < candle.ts) passed.push({ ...upsert, candle: known })
      newest[interval] = candle
    }
  }
  return { newest, passed }
}

/** Returns the first pages of a pair's series after the upserts. Those that are unknown stay so. */
export function lowerFirstPages(
  { newest, firstPages }: OpenSeries,
  upserts: readonly CandleUpsert[]
): FirstPages {
  let lowered: Partial<Record<Interval, number>> | null = null
  for (const { interval, candle } of upserts) {
    const first = (lowered ?? firstPages)[interval]
    // Most upserts are of the newest bucket, or of a later one.
    if (first === undefined || candle.ts >= newest[interval]!.ts) continue
    const page = pageAt(interval, candle.ts)
    if (page < first) (lowered ??= { ...firstPages })[interval] = page
  }
  return lowered ?? firstPages
}

/** Returns the first pages of series that begin with the upserts. */
export function firstPagesOf(upserts: readonly CandleUpsert[]): FirstPages {
  const first: Partial<Record<Interval, number>> = {}
  for (const { interval, candle } of upserts)
    first[interval] = Math.min(first[interval] ?? Infinity, pageAt(interval, candle.ts))
  return first
}

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
