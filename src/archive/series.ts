import { TIME_FALLS_MAX } from '../market/market-state.ts'
import type { SlotRow } from '../market/rows.ts'

/** Buckets with from ≤ start < to (Unix seconds): the newest `limit` of them. */
export interface BucketRange {
  readonly from: number
  readonly to: number
  readonly limit: number
}

/** A series of buckets in two stores. */
export interface JoinedSeries<Bucket> {
  readonly startOf: (bucket: Bucket) => number
  /** Returns the start of the bucket that contains a time. */
  readonly bucketOf: (time: number) => number
  /** Merges the halves of a bucket that is in both stores. */
  readonly merge: (earlier: Bucket, later: Bucket) => Bucket
  /** Both return buckets oldest first. */
  readonly live: (range: BucketRange) => Promise<readonly Bucket[]>
  readonly archive: (range: BucketRange) => Promise<readonly Bucket[]>
}

/**
 * Reads a range of a series that begins in the archive, oldest first. Buckets around the end of the archive can be in both
 * stores. A store is read only if it can have buckets of the answer.
 */
export async function joinedRange<Bucket>(
  range: BucketRange,
  end: SlotRow,
  { startOf, bucketOf, merge, live, archive }: JoinedSeries<Bucket>
): Promise<Bucket[]> {
  const { from, to, limit } = range
  const firstLive = bucketOf(end.blockTime - TIME_FALLS_MAX)
  const pastArchive = bucketOf(end.blockTime + TIME_FALLS_MAX) + 1
  const later = to > firstLive ? await live(range) : []
  const oldest = later[0]
  const lowest = oldest !== undefined && later.length === limit ? Math.max(from, startOf(oldest)) : from
  const highest = Math.min(to, pastArchive)
  if (lowest >= highest) return [...later]
  const earlier = await archive({ from: lowest, to: highest, limit })
  const joined = new Map(earlier.map((bucket) => [startOf(bucket), bucket]))
  for (const bucket of later) {
    const known = joined.get(startOf(bucket))
    joined.set(startOf(bucket), known === undefined ? bucket : merge(known, bucket))
  }
  return [...joined.values()].sort((a, b) => startOf(a) - startOf(b)).slice(Math.max(0, joined.size - limit))
}
