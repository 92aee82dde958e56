import { candlePrices, type CandlePrices } from '../api/candle.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { bucketStart, intervalSeconds } from '../market/candles.ts'
import type { Candle, Interval, Ohlc } from '../market/rows.ts'
import type { CandleStore } from '../../storage/port.ts'

/** Reads of one page at most. Buckets without a price have no candle, so that a page may need several reads. */
const READS_MAX = 8
/** Buckets of each read after the first. */
const BUCKETS_PER_READ = 1000

/** Selects candles of buckets with from ≤ start < to (Unix seconds); the newest `limit` of them. */
export interface CandleQuery {
  readonly mint: Pubkey
  readonly cash: Pubkey
  readonly interval: Interval
  readonly prices: CandlePrices
  readonly from: number
  readonly to: number
  readonly limit: number
}

export interface PricedCandle {
  readonly candle: Candle
  readonly prices: Ohlc
}

/** A page of candles, oldest first; `older` is the `to` of the next (older) page, null without one. */
export interface CandlePage {
  readonly candles: readonly PricedCandle[]
  readonly older: number | null
}

/**
 * Reads a page of candles. A page that is short after `READS_MAX` reads has an `older`, where the next page
 * continues.
 */
export async function candlePage(store: CandleStore, query: CandleQuery): Promise<CandlePage> {
  const { mint, cash, interval, prices: asked, from, limit } = query
  const newestFirst: PricedCandle[] = []
  let to = query.to
  for (let reads = 0; reads < READS_MAX; reads++) {
    const buckets = reads === 0 ? limit + 1 : BUCKETS_PER_READ
    const candles = await store.range(mint, cash, interval, { from, to, limit: buckets })
    for (const candle of candles.toReversed()) {
      const prices = candlePrices(candle, asked)
      if (prices === null) continue
      if (newestFirst.length === limit) return { candles: newestFirst.toReversed(), older: to }
      newestFirst.push({ candle, prices })
      to = candle.ts
    }
    const oldest = candles[0]
    if (oldest === undefined || candles.length < buckets)
      return { candles: newestFirst.toReversed(), older: null }
    to = oldest.ts
  }
  return { candles: newestFirst.toReversed(), older: to }
}

/**
 * Reads a page without holes: a bucket without a price repeats the close before it, from the first known price up to
 * the bucket of `headTime` (Unix seconds).
 */
export async function filledPage(
  store: CandleStore,
  query: CandleQuery,
  headTime: number
): Promise<CandlePage> {
  const { mint, cash, interval, prices: asked, limit } = query
  const seconds = intervalSeconds(interval)
  const newest = bucketStart(interval, Math.min(headTime, query.to - 1))
  const first = bucketStart(interval, query.from + seconds - 1)
  const start = Math.max(first, newest - (limit - 1) * seconds)
  if (start > newest) return { candles: [], older: null }
  const end = newest + seconds
  const [stored, before] = await Promise.all([
    store.range(mint, cash, interval, { from: start, to: end, limit }),
    candlePage(store, { ...query, from: 0, to: start, limit: 1 })
  ])
  const byStart = new Map(stored.map((candle) => [candle.ts, candle]))
  const candles: PricedCandle[] = []
  let close = before.candles[0]?.prices.close ?? null
  for (let ts = start; ts < end; ts += seconds) {
    const candle = byStart.get(ts) ?? emptyCandle(ts)
    const prices = candlePrices(candle, asked) ?? (close === null ? null : flat(close))
    if (prices === null) continue
    candles.push({ candle, prices })
    close = prices.close
  }
  const isMore = start > first && (before.candles.length > 0 || before.older !== null)
  return { candles, older: isMore ? start : null }
}

function emptyCandle(ts: number): Candle {
  const none = { native: null, usd: null, nativeRaw: null, usdRaw: null }
  return { ts, ...none, volumeToken: 0n, volumeCash: 0n, volumeMicroUsd: 0n, trades: 0, buys: 0 }
}

function flat(price: number): Ohlc {
  return { open: price, high: price, low: price, close: price }
}
