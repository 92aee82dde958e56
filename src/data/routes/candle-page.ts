import { candlePrices, type CandlePrices } from '../bodies/candle.ts'
import { bucketStart, intervalSeconds } from '../../market/buckets.ts'
import type { Candle, CandleInterval, Interval, Ohlc, PairAddress } from '../../market/rows.ts'
import type { CandleStore } from '../../../storage/port.ts'

/** Maximum reads of one page. Buckets without a price have no candle, so a page may need several reads. */
const READS_MAX = 8
/** Buckets of each read after the first. */
const BUCKETS_PER_READ = 1000

/** Candles of a range of buckets. */
export interface CandleStretch {
  /** Oldest first. */
  readonly candles: readonly Candle[]
  /** Start of the oldest bucket read, if a limit of the source ended the read early; null if the range is complete. */
  readonly cutAt: number | null
}

/** The candles of one interval. */
export interface CandleSource {
  /** Returns buckets with from ≤ start < to (Unix seconds): the newest `limit` of them. */
  range(range: { readonly from: number; readonly to: number; readonly limit: number }): Promise<CandleStretch>
}

/** Returns the stored candles of a pair. */
export function storedCandles(
  store: CandleStore,
  { mint, cash }: PairAddress,
  interval: Interval,
  currency: CandlePrices['currency']
): CandleSource {
  return {
    range: async (range) => ({
      candles: await store.range(mint, cash, interval, { ...range, currency }),
      cutAt: null
    })
  }
}

/** Selects candles of buckets with from ≤ start < to (Unix seconds); the newest `limit` of them. */
export interface CandleQuery {
  readonly interval: CandleInterval
  readonly prices: CandlePrices
  readonly from: number
  readonly to: number
  readonly limit: number
  /** Lets other work run between two reads. */
  readonly pause?: () => Promise<void>
}

export interface PricedCandle {
  readonly candle: Candle
  readonly prices: Ohlc
}

/** A page of candles, oldest first; `older` is the `to` of the next (older) page, null on the last page. */
export interface CandlePage {
  readonly candles: readonly PricedCandle[]
  readonly older: number | null
  /** Whether a limit of the source ended the page. */
  readonly isCut: boolean
}

/**
 * Reads a page of candles. A page that is short after `READS_MAX` reads, or cut, has an `older`, where the next page
 * continues.
 */
export async function candlePage(source: CandleSource, query: CandleQuery): Promise<CandlePage> {
  const { prices: asked, from, limit, pause } = query
  const newestFirst: PricedCandle[] = []
  const page = (older: number | null, isCut = false): CandlePage => ({
    candles: newestFirst.toReversed(),
    older,
    isCut
  })
  let to = query.to
  for (let reads = 0; reads < READS_MAX; reads++) {
    const buckets = reads === 0 ? limit + 1 : BUCKETS_PER_READ
    const { candles, cutAt } = await source.range({ from, to, limit: buckets })
    for (const candle of candles.toReversed()) {
      const prices = candlePrices(candle, asked)
      if (prices === null) continue
      if (newestFirst.length === limit) return page(to)
      newestFirst.push({ candle, prices })
      to = candle.ts
    }
    if (cutAt !== null) return page(cutAt, true)
    const oldest = candles[0]
    if (oldest === undefined || candles.length < buckets) return page(null)
    to = oldest.ts
    await pause?.()
  }
  return page(to)
}

/**
 * Reads a page without holes, from the first known price up to the bucket of `headTime` (Unix seconds). A bucket
 * without a price repeats the previous close. If a limit of the source ended the read, the close before the page is
 * unknown; the page then begins with its first price.
 */
export async function filledPage(
  source: CandleSource,
  query: CandleQuery,
  headTime: number
): Promise<CandlePage> {
  const { interval, prices: asked, limit } = query
  const seconds = intervalSeconds(interval)
  const newest = bucketStart(interval, Math.min(headTime, query.to - 1))
  const first = bucketStart(interval, query.from + seconds - 1)
  const start = Math.max(first, newest - (limit - 1) * seconds)
  if (start > newest) return { candles: [], older: null, isCut: false }
  const end = newest + seconds
  const stored = await source.range({ from: start, to: end, limit })
  const before =
    stored.cutAt === null ? await candlePage(source, { ...query, from: 0, to: start, limit: 1 }) : null
  const byStart = new Map(stored.candles.map((candle) => [candle.ts, candle]))
  const candles: PricedCandle[] = []
  let close = before?.candles[0]?.prices.close ?? null
  for (let ts = start; ts < end; ts += seconds) {
    const candle = byStart.get(ts) ?? emptyCandle(ts)
    const prices = candlePrices(candle, asked) ?? (close === null ? null : flat(close))
    if (prices === null) continue
    candles.push({ candle, prices })
    close = prices.close
  }
  if (before === null || (before.isCut && before.candles.length === 0))
    return { candles, older: candles[0]?.candle.ts ?? end, isCut: true }
  const isMore = start > first && (before.candles.length > 0 || before.older !== null)
  return { candles, older: isMore ? start : null, isCut: false }
}

function emptyCandle(ts: number): Candle {
  const none = { native: null, usd: null, nativeRaw: null, usdRaw: null }
  return { ts, ...none, volumeToken: 0n, volumeCash: 0n, volumeMicroUsd: 0n, trades: 0, buys: 0 }
}

function flat(price: number): Ohlc {
  return { open: price, high: price, low: price, close: price }
}
