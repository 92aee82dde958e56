import { decodeNumber } from '../codec/document-key.ts'
import type { DocumentStore, HistoryKind, HistoryRow, NewHistoryRow } from '../document-store.ts'
import { blob, mapBounded, type CqlClient } from './client.ts'
import { ttlSecondsOf } from './document-rows.ts'

const OF_BUCKET = 'kind = ? AND owner = ? AND bucket = ?'
const INSERT =
  'INSERT INTO histories (kind, owner, bucket, key, value) VALUES (?, ?, ?, ?, ?) USING TTL ? AND TIMESTAMP ?'
const INSERT_BUCKET = 'INSERT INTO histories_buckets (kind, owner, bucket) VALUES (?, ?, ?) USING TTL ?'
const SELECT = `SELECT key, value FROM histories WHERE ${OF_BUCKET} ORDER BY key DESC`
const SELECT_BUCKETS =
  'SELECT bucket FROM histories_buckets WHERE kind = ? AND owner = ? ORDER BY bucket DESC'
const DELETE_BUCKET = `DELETE FROM histories WHERE ${OF_BUCKET}`
const DELETE_ROWS = `DELETE FROM histories WHERE ${OF_BUCKET} AND key <= ?`
const FORGET_BUCKET = `DELETE FROM histories_buckets WHERE ${OF_BUCKET}`
const BUCKETS_PER_READ = 32
const WRITES_AT_ONCE = 8
/** Bytes of a row's key on the wire, estimated. */
const KEY_BYTES = 100

/**
 * Histories: plain writes into partitions by owner and time, without a condition. A bucket is in the index before its rows are
 * stored.
 */
export function histories(client: CqlClient): Pick<DocumentStore, 'append' | 'newest' | 'deleteUpTo'> {
  const bucketsOf = async (kind: string, owner: string): Promise<bigint[]> => {
    const buckets: bigint[] = []
    for await (const rows of client.pages(SELECT_BUCKETS, [kind, owner], BUCKETS_PER_READ))
      buckets.push(...rows.map((row) => row['bucket'] as bigint))
    return buckets
  }
  return {
    async append({ kind, bucketMs }: HistoryKind, rows: readonly NewHistoryRow[]) {
      await mapBounded(rows, WRITES_AT_ONCE, async ({ owner, atMs, key, value, ttlMs }) => {
        const bucket = bucketAt(atMs, bucketMs)
        const now = client.now()
        const ttl = ttlSecondsOf(ttlMs === null ? null : now + ttlMs, now)
        // The index outlives the last row of the bucket.
        const outlives = ttl === 0 ? 0 : ttl + Math.ceil(bucketMs / 1_000)
        await client.write([
          { statement: INSERT_BUCKET, params: [kind, owner, bucket, outlives], bytes: KEY_BYTES }
        ])
        // The time of the event, so that a row which is appended again after its deletion stays deleted.
        const writtenAt = BigInt(Math.floor(atMs)) * 1_000n
        const params = [kind, owner, bucket, blob(key), value, ttl, writtenAt]
        await client.write([{ statement: INSERT, params, bytes: KEY_BYTES + value.length }])
      })
    },

    async newest({ kind }: HistoryKind, owner: string, limit: number) {
      const found: HistoryRow[] = []
      for (const bucket of await bucketsOf(kind, owner)) {
        for await (const rows of client.pages(SELECT, [kind, owner, bucket], limit - found.length)) {
          for (const row of rows)
            found.push({ key: new Uint8Array(row['key'] as Buffer), value: row['value'] as string })
          if (found.length >= limit) return found.slice(0, limit)
        }
      }
      return found
    },

    async deleteUpTo({ kind, bucketMs }: HistoryKind, owner: string, key: Uint8Array | null) {
      const atMs = key === null ? Infinity : decodeNumber(key, 0)!
      const last = key === null ? null : bucketAt(atMs, bucketMs)
      for (const bucket of await bucketsOf(kind, owner)) {
        const at = [kind, owner, bucket]
        if (key !== null && bucket === last)
          await client.write([{ statement: DELETE_ROWS, params: [...at, blob(key)], bytes: KEY_BYTES }])
        if (last !== null && bucket >= last) continue
        await client.write([{ statement: DELETE_BUCKET, params: at, bytes: KEY_BYTES }])
        await client.write([{ statement: FORGET_BUCKET, params: at, bytes: KEY_BYTES }])
      }
    }
  }
}

const bucketAt = (atMs: number, bucketMs: number): bigint => BigInt(Math.floor(atMs / bucketMs))
