import { bucketStart } from './buckets.ts'
import { INTERVALS } from './rows.ts'
import type { Candle, Interval } from './rows.ts'

/** The buckets of a pair that were last loaded or written, one of each interval. */
export class RunningBuckets {
  /** By index in INTERVALS; the candle is null if the store does not have the bucket. */
  readonly #held: { readonly ts: number; readonly candle: Candle | null }[] = []
  #storedUntil: number

  /** Takes a time in Unix seconds: no bucket that starts later is stored. */
  constructor(storedUntil: number) {
    this.#storedUntil = storedUntil
  }

  /** Returns a bucket; null if the store has none, undefined if the store must be read. */
  at(interval: Interval, ts: number): Candle | null | undefined {
    const bucket = this.#held[INTERVALS.indexOf(interval)]
    if (bucket?.ts === ts) return bucket.candle
    return ts > bucketStart(interval, this.#storedUntil) ? null : undefined
  }

  hold(interval: Interval, ts: number, candle: Candle | null): void {
    this.#held[INTERVALS.indexOf(interval)] = { ts, candle }
  }

  /** Records that a block of a time has written to the pair. */
  wrote(blockTime: number): void {
    this.#storedUntil = Math.max(this.#storedUntil, blockTime)
  }
}
