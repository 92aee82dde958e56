import { crc32 } from 'node:zlib'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { valueIn } from '../codec/account-index-entry.ts'
import type { IndexedRange, IndexLookup, VersionKey } from '../port/program-accounts.ts'
import { blob, mapBounded, type CqlClient, type CqlRow } from './client.ts'
import { batchesOf, type RowWrite } from './row-write.ts'

/** Bits of a value's checksum in a bucket. Of ten million accounts with four indexes each bucket has 8 MB. */
const VALUE_BITS = 6
/** Bits of the address in a bucket: a value that five million accounts have is in eight partitions of 60 MB. */
const ADDRESS_BITS = 3
const BUCKETS = 2 ** (VALUE_BITS + ADDRESS_BITS)
const BUCKETS_OF_VALUE = 2 ** ADDRESS_BITS
/** Rows of an answer to a scan. */
const ROWS_AT_ONCE = 1_000
const BATCHES_AT_ONCE = 8
/** Bytes of a row on the wire, estimated. */
const ROW_BYTES = 150

const KEY = 'program = ? AND bucket = ?'
const INSERT =
  'INSERT INTO program_account_index (program, bucket, offset, length, value, address, slot) VALUES (?, ?, ?, ?, ?, ?, ?)'
const DELETE = `DELETE FROM program_account_index WHERE ${KEY} AND offset = ? AND length = ? AND value = ? AND address = ? AND slot = ?`
const DELETE_INDEX = `DELETE FROM program_account_index WHERE ${KEY} AND offset = ? AND length = ?`
const DELETE_ALL = `DELETE FROM program_account_index WHERE ${KEY}`
const SELECT = `SELECT address, slot FROM program_account_index WHERE ${KEY} AND offset = ? AND length = ? AND value = ?`
const SELECT_AFTER = `${SELECT} AND address > ?`

/** A version whose data is known. */
export type IndexedVersion = VersionKey & { readonly data: Uint8Array }

/** The entries of indexes in one table. */
export class CqlAccountIndex {
  readonly #client: CqlClient

  constructor(client: CqlClient) {
    this.#client = client
  }

  /** Stores the entries of versions. */
  put(program: Pubkey, versions: readonly IndexedVersion[], ranges: readonly IndexedRange[]): Promise<void> {
    return this.#write(INSERT, program, versions, ranges)
  }

  /** Deletes the entries of versions. */
  drop(program: Pubkey, versions: readonly IndexedVersion[], ranges: readonly IndexedRange[]): Promise<void> {
    return this.#write(DELETE, program, versions, ranges)
  }

  /** Deletes an index, or all of a program. */
  async clear(program: Pubkey, range: IndexedRange | null): Promise<void> {
    const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket)
    const statement = range === null ? DELETE_ALL : DELETE_INDEX
    const of = range === null ? [] : [range.offset, range.length]
    await mapBounded(buckets, BATCHES_AT_ONCE, async (bucket) =>
      this.#client.write([{ statement, params: [blob(program), bucket, ...of], bytes: ROW_BYTES }])
    )
  }

  /**
   * Yields the entries of a value, ascending by address, newest first. The first pages of its buckets are requested
   * together.
   */
  async *entries(
    program: Pubkey,
    { offset, length, value }: IndexLookup,
    after: Pubkey | undefined,
    expected: number
  ): AsyncGenerator<readonly VersionKey[]> {
    const size = Math.min(expected, ROWS_AT_ONCE)
    const from = bucketOf(value, after ?? FIRST_ADDRESS)
    const end = bucketOf(value, FIRST_ADDRESS) + BUCKETS_OF_VALUE
    const scans = Array.from({ length: end - from }, (_, i) => {
      const params = [blob(program), from + i, offset, length, blob(value)]
      return after !== undefined && i === 0
        ? this.#client.pages(SELECT_AFTER, [...params, blob(after)], size)
        : this.#client.pages(SELECT, params, size)
    })
    const firsts = await Promise.all(scans.map(async (scan) => scan.next()))
    for (const [i, page] of firsts.entries()) {
      if (page.done === true) continue
      yield page.value.map(keyOf)
      for await (const rows of scans[i]!) yield rows.map(keyOf)
    }
  }

  async #write(
    statement: string,
    program: Pubkey,
    versions: readonly IndexedVersion[],
    ranges: readonly IndexedRange[]
  ): Promise<void> {
    const byBucket = new Map<number, RowWrite[]>()
    for (const { address, slot, data } of versions)
      for (const range of ranges) {
        const value = valueIn(data, range)
        if (value === null) continue
        const bucket = bucketOf(value, address)
        const { offset, length } = range
        const params = [blob(program), bucket, offset, length, blob(value), blob(address), BigInt(slot)]
        const rows = byBucket.get(bucket) ?? []
        byBucket.set(bucket, rows)
        rows.push({ statement, params, bytes: ROW_BYTES })
      }
    const batches = [...byBucket.values()].flatMap(batchesOf)
    await mapBounded(batches, BATCHES_AT_ONCE, async (batch) => this.#client.write(batch))
  }
}

const FIRST_ADDRESS = new Uint8Array(32)

/** Buckets of one value ascend with the address. */
const bucketOf = (value: Uint8Array, address: Pubkey): number =>
  ((crc32(value) % 2 ** VALUE_BITS) << ADDRESS_BITS) + (address[0]! >> (8 - ADDRESS_BITS))

const keyOf = (row: CqlRow): VersionKey => ({
  address: new Uint8Array(row['address'] as Buffer),
  slot: Number(row['slot'])
})
