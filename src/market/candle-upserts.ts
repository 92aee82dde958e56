import { bucketStart } from './buckets.ts'
import { mergeCandles } from './candles.ts'
import type { PairFold, PairKey } from './pairs.ts'
import { INTERVALS } from './rows.ts'
import type { Candle, CandleUpsert, Interval } from './rows.ts'

/** The buckets at the block before. */
export interface KnownCandles {
  candle(key: PairKey, interval: Interval, ts: number): Candle | null
}

/**
 * Returns the candles of folded blocks: adds each pair's rows to the stored buckets of every interval. The buckets of an interval
 * ascend.
 */
export function candleUpserts(known: KnownCandles, pairs: Iterable<PairFold>): CandleUpsert[] {
  const upserts: CandleUpsert[] = []
  for (const { key, row, minutes } of pairs) {
    let buckets: readonly AddedBucket[] = minutes.map((added) => ({ added, only: null }))
    for (const interval of INTERVALS) {
      if (interval !== '1m') buckets = largerBuckets(buckets, interval)
      for (const bucket of buckets) {
        const stored = known.candle(key, interval, bucket.added.ts)
        bucket.storedTrades = stored?.trades ?? 0
        bucket.candle = candleAfter(stored, bucket)
        upserts.push({ mint: row.mint, cash: row.cash, interval, candle: bucket.candle })
      }
    }
  }
  return upserts
}

/** A bucket with rows of the folded blocks. */
interface AddedBucket {
  /** These rows alone. */
  readonly added: Candle
  /** The bucket of the next smaller interval, if it is the only one with these rows. */
  readonly only: AddedBucket | null
  /** Trades of the bucket before these rows, and the bucket with them. */
  storedTrades?: number
  candle?: Candle
}

function largerBuckets(smaller: readonly AddedBucket[], interval: Interval): AddedBucket[] {
  const larger: AddedBucket[] = []
  for (const bucket of smaller) {
    const ts = bucketStart(interval, bucket.added.ts)
    const last = larger.at(-1)
    if (last?.added.ts === ts)
      larger[larger.length - 1] = { added: mergeCandles(last.added, bucket.added), only: null }
    else larger.push({ added: { ...bucket.added, ts }, only: bucket })
  }
  return larger
}

function candleAfter(stored: Candle | null, { added, only }: AddedBucket): Candle {
  if (stored === null) return added
  // A bucket lies within the next larger one. If their numbers of trades are equal, so are their contents.
  if (only?.candle !== undefined && stored.trades === only.storedTrades)
    return { ...only.candle, ts: added.ts }
  return mergeCandles(stored, added)
}
