import { keyAt, keyText } from '../codec/keys.ts'
import type { Key as StoreKey } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import type { ScyllaBase } from './base.ts'
import { BucketIndex } from './bucket-index.ts'
import { versionTimestamp } from './version.ts'
import type { RowWrite } from './row-write.ts'
import type { TableCommit } from './commit.ts'
import type { Version } from './version.ts'
import { RecordTable } from './records.ts'
import { lastOf } from './table.ts'

/**
 * Records of an owner in the order of a number (a cursor, an hour, a minute), cut into partitions of a bounded size. The
 * table and its index are
 *
 *   <table>          owner blob, bucket int, <position> bigint, and the columns of versions,
 *                    PRIMARY KEY ((owner, bucket), <position>), clustered descending
 *   <table>_buckets  owner blob, bucket int, PRIMARY KEY (owner, bucket), clustered descending
 *
 * The index says which buckets of an owner have records, so that a wide range reads no empty bucket.
 */
export interface BucketedLayout<T> {
  readonly table: string
  readonly position: string
  /** The key of a record in the embedded store is that of its owner, followed by the position in this many bytes. */
  readonly positionBytes: 4 | 8
  readonly positionsPerBucket: number
  readonly kind: RecordKind<T>
  /** Whether records expire with the retention, if there is one. */
  readonly expires?: boolean
}

/** The place of a record. The owner is the beginning of its key in the embedded store. */
export interface Place {
  readonly owner: StoreKey
  readonly position: number
}

export interface PositionRange {
  /** Inclusive; at least 0. */
  readonly gte: number
  /** Exclusive. */
  readonly lt: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Whether a record at the beginning of the range is likely: that bucket is read without the index. */
  readonly likely?: boolean
}

/** A range over at most this many buckets is read without the index. */
const UNINDEXED_MAX = 2
/** Maximum buckets that are read at once: one at first, then twice as many each time until they suffice. */
const BUCKETS_AT_ONCE_MAX = 4
/** The greatest that a table can name; no block has a position beyond it. */
const BUCKET_MAX = 2 ** 31 - 1
/** Ranges begin anywhere, so that the index caches nothing of them. */
const NO_BUCKET = -1
/** Bytes on the wire of a row's key beside the owner, estimated. */
const KEY_BYTES = 40

export class BucketedRecords<T> {
  readonly #positionsPerBucket: number
  readonly #records: RecordTable<Place, T>
  readonly #index: BucketIndex
  readonly #delete: string

  constructor(base: ScyllaBase, layout: BucketedLayout<T>) {
    const { table, position, positionBytes, positionsPerBucket, kind, expires = false } = layout
    this.#positionsPerBucket = positionsPerBucket
    const ttlSeconds = expires ? (base.retentionSeconds ?? 0) : 0
    this.#records = new RecordTable<Place, T>(base, {
      table,
      partition: ['owner', 'bucket'],
      clustering: [position],
      kind,
      values: (place) => [place.owner, this.#bucketOf(place.position), BigInt(place.position)],
      storeKey: (place) => keyAt(place.owner, place.position, positionBytes),
      keyOf: (row) => ({ owner: row['owner'] as Buffer, position: Number(row[position]) }),
      ttlSeconds: () => ttlSeconds
    })
    this.#index = new BucketIndex(base, `${table}_buckets`, ttlSeconds)
    this.#delete = `DELETE FROM ${table} USING TIMESTAMP ? WHERE owner = ? AND bucket = ? AND ${position} = ?`
  }

  get(place: Place): Promise<T | null> {
    return this.#records.get(place)
  }

  /** Reads the newest committed values that the commit's block replaces, in the order of their places. */
  committed(commit: TableCommit, places: readonly Place[]): Promise<(T | null)[]> {
    return this.#records.committed(commit, places)
  }

  /** Puts values in place of those of their places; a place may come once a commit. */
  async stage(commit: TableCommit, records: readonly (Place & { readonly value: T })[]): Promise<void> {
    await this.#records.stage(
      commit,
      records.map(({ owner, position, value }) => ({ key: { owner, position }, value }))
    )
    const textOf = ({ owner, position }: Place): string => `${keyText(owner)}${this.#bucketOf(position)}`
    for (const place of lastOf<Place>(records, textOf))
      this.#index.stage(commit, place.owner, this.#bucketOf(place.position), textOf(place))
  }

  /** Removes the records at places, if they exist. A place may come once a commit, also counting staged ones. */
  remove(commit: TableCommit, places: readonly Place[]): Promise<void> {
    return this.#records.remove(commit, places)
  }

  /** Deletes the record at a place as a version left it; a version that a later commit wrote stays. */
  deletion(version: Version, { owner, position }: Place): RowWrite {
    const params = [versionTimestamp(version), owner, this.#bucketOf(position), BigInt(position)]
    return { statement: this.#delete, params, bytes: owner.length + KEY_BYTES }
  }

  /**
   * Records of an owner within a range, in its order, `limit` at most. At most as many are read of each bucket, and from
   * four buckets at once.
   */
  async range(
    owner: StoreKey,
    range: PositionRange
  ): Promise<{ readonly position: number; readonly value: T }[]> {
    const found: { position: number; value: T }[] = []
    let atOnce = 1
    for await (const buckets of this.#bucketsIn(owner, range)) {
      for (let next = 0; next < buckets.length; atOnce = Math.min(2 * atOnce, BUCKETS_AT_ONCE_MAX)) {
        const limit = range.limit - found.length
        const read = buckets.slice(next, next + atOnce)
        next += read.length
        const parts = await Promise.all(
          read.map((bucket) => this.#ofBucket(owner, bucket, { ...range, limit }))
        )
        for (const { key, value } of parts.flat().slice(0, limit))
          found.push({ position: key.position, value })
        if (found.length === range.limit) return found
      }
    }
    return found
  }

  /** Buckets of a range that may have records, in its order, as many at a time as are known at once. */
  async *#bucketsIn(
    owner: StoreKey,
    { gte, lt, order, limit, likely = false }: PositionRange
  ): AsyncGenerator<readonly number[], void, undefined> {
    if (limit <= 0 || lt <= gte) return
    let low = this.#bucketOf(gte)
    let high = Math.min(this.#bucketOf(lt - 1), BUCKET_MAX)
    const unindexed = high - low < UNINDEXED_MAX ? high - low + 1 : likely ? 1 : 0
    for (let i = 0; i < unindexed; i++) yield [order === 'asc' ? low++ : high--]
    if (low <= high) yield* this.#index.read(owner, { low, high, newest: NO_BUCKET, order })
  }

  #ofBucket(
    owner: StoreKey,
    bucket: number,
    { gte, lt, order, limit }: PositionRange
  ): Promise<{ key: Place; value: T }[]> {
    const bounds = { gte: BigInt(gte), lt: BigInt(lt) }
    return this.#records.range({ within: [owner, bucket], ...bounds, order, limit })
  }

  #bucketOf(position: number): number {
    return Math.floor(position / this.#positionsPerBucket)
  }
}
