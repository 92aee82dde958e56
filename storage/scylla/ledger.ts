import { ledgerMarkKey, ledgerPageKey, ledgerRowKind, ledgerSumKey } from '../codec/ledger-row.ts'
import type { Key } from '../codec/keys.ts'
import { packRecord, unpackRecord } from '../codec/record.ts'
import type {
  LedgerPage,
  LedgerPageQuery,
  LedgerRowKeys,
  LedgerRows,
  LedgerStore,
  LedgerSum
} from '../port/ledger.ts'
import { mapBounded, type CqlClient, type CqlRow } from './client.ts'
import { batchesOf, type RowWrite } from './row-write.ts'

/** Slots of a partition of pages (`013-ledger.cql`). */
const PAGE_SLOTS = 8_192
/** Sums of a partition (`013-ledger.cql`). */
const SUMS = 128
/** Buckets that are read without the index of buckets: the ends of a short range. */
const UNINDEXED = 2
/** Writes under way: those of a block go to as many partitions as it has addresses. */
const WRITES_AT_ONCE = 32
/** Rows of an answer, and those that a range has besides: places with rows of several tokens. */
const ROWS_AT_ONCE = 1_000
const SPARE = 4
/** Bytes of a row's key on the wire, estimated. */
const KEY_BYTES = 80
/** Owners whose last bucket is known to be in the index: those of ten tenants. */
const KNOWN_MAX = 4_000

const INSERT_BUCKET = 'INSERT INTO ledger_pages_buckets (owner, bucket) VALUES (?, ?)'
const INSERT_PAGE = 'INSERT INTO ledger_pages (owner, bucket, slot, fence, value) VALUES (?, ?, ?, ?, ?)'
const INSERT_SUM =
  'INSERT INTO ledger_sums (owner, level, bucket, number, fence, value) VALUES (?, ?, ?, ?, ?, ?)'
const INSERT_MARK = 'INSERT INTO ledger_marks (owner, fence, value) VALUES (?, ?, ?)'
const SELECT_BUCKETS =
  'SELECT bucket FROM ledger_pages_buckets WHERE owner = ? AND bucket >= ? AND bucket <= ?'
const SELECT_PAGES =
  'SELECT slot, fence, value FROM ledger_pages WHERE owner = ? AND bucket = ? AND slot >= ? AND slot <= ?'
const SELECT_SUMS =
  'SELECT number, fence, value FROM ledger_sums WHERE owner = ? AND level = ? AND bucket = ? AND number >= ? AND number < ?'
const SELECT_MARK = 'SELECT fence, value FROM ledger_marks WHERE owner = ? LIMIT 1'
const DELETE_PAGE = 'DELETE FROM ledger_pages WHERE owner = ? AND bucket = ? AND slot = ? AND fence <= ?'
const DELETE_SUM =
  'DELETE FROM ledger_sums WHERE owner = ? AND level = ? AND bucket = ? AND number = ? AND fence <= ?'

/** Ledgers in tables of their own. */
export class CqlLedgers implements LedgerStore {
  readonly #client: CqlClient
  /** The bucket of each owner that was indexed last. */
  readonly #indexed = new Map<string, number>()

  constructor(client: CqlClient) {
    this.#client = client
  }

  async put({ token, pages = [], sums = [], marks = [] }: LedgerRows): Promise<void> {
    await this.#index(pages)
    await this.#writeEach(
      pages.map(({ owner, slot, value }) =>
        rowWrite(INSERT_PAGE, [owner, bucketOf(slot), BigInt(slot)], token, ledgerPageKey(owner, slot), value)
      )
    )
    const byPartition = Map.groupBy(sums, ({ owner, level, number }) => `${owner} ${level} ${partOf(number)}`)
    await mapBounded([...byPartition.values()], WRITES_AT_ONCE, async (some) => {
      const rows = some.map(({ owner, level, number, value }) =>
        rowWrite(
          INSERT_SUM,
          [owner, level, partOf(number), BigInt(number)],
          token,
          ledgerSumKey(owner, level, number),
          value
        )
      )
      for (const batch of batchesOf(rows)) await this.#client.write(batch)
    })
    await this.#writeEach(
      marks.map(({ owner, value }) => rowWrite(INSERT_MARK, [owner], token, ledgerMarkKey(owner), value))
    )
  }

  async pages(owner: string, { from, to, order, limit }: LedgerPageQuery): Promise<LedgerPage[]> {
    const pages: LedgerPage[] = []
    for (const bucket of await this.#buckets(owner, from, to, order)) {
      const statement = order === 'asc' ? SELECT_PAGES : `${SELECT_PAGES} ORDER BY slot DESC`
      const params = [owner, bucket, BigInt(from), BigInt(Math.min(to, Number.MAX_SAFE_INTEGER))]
      const size = Math.min(limit - pages.length + SPARE, ROWS_AT_ONCE)
      for await (const { number: slot, value } of this.#rows(statement, params, 'slot', size, order, (slot) =>
        ledgerPageKey(owner, slot)
      )) {
        pages.push({ owner, slot, value })
        if (pages.length === limit) return pages
      }
    }
    return pages
  }

  async sums(owner: string, level: number, from: number, to: number): Promise<LedgerSum[]> {
    if (from >= to) return []
    const first = partOf(from)
    const parts = Array.from({ length: partOf(to - 1) - first + 1 }, (_, at) => first + at)
    const answers = await mapBounded(parts, WRITES_AT_ONCE, async (part) => {
      const found: LedgerSum[] = []
      const params = [owner, level, part, BigInt(from), BigInt(to)]
      const keyOf = (number: number): Key => ledgerSumKey(owner, level, number)
      for await (const row of this.#rows(SELECT_SUMS, params, 'number', SUMS, 'asc', keyOf))
        found.push({ owner, level, ...row })
      return found
    })
    return answers.flat()
  }

  async marks(owners: readonly string[]): Promise<(Uint8Array | null)[]> {
    const answers = await this.#client.readEach(
      SELECT_MARK,
      owners.map((owner) => [owner])
    )
    return answers.map(([row], at) => (row === undefined ? null : valueIn(ledgerMarkKey(owners[at]!), row)))
  }

  async drop({ token, owner, slots = [], sums = [] }: LedgerRowKeys): Promise<void> {
    const fence = BigInt(token)
    await this.#writeEach([
      ...slots.map((slot) => ({
        statement: DELETE_PAGE,
        params: [owner, bucketOf(slot), BigInt(slot), fence],
        bytes: KEY_BYTES
      })),
      ...sums.map(({ level, number }) => ({
        statement: DELETE_SUM,
        params: [owner, level, partOf(number), BigInt(number), fence],
        bytes: KEY_BYTES
      }))
    ])
  }

  /** Adds the buckets of pages to the index, before the pages are written. */
  async #index(pages: readonly LedgerPage[]): Promise<void> {
    const fresh: [owner: string, bucket: number][] = pages
      .map(({ owner, slot }): [string, number] => [owner, bucketOf(slot)])
      .filter(([owner, bucket]) => this.#indexed.get(owner) !== bucket)
    await this.#writeEach(fresh.map((params) => ({ statement: INSERT_BUCKET, params, bytes: KEY_BYTES })))
    for (const [owner, bucket] of fresh) {
      this.#indexed.delete(owner)
      this.#indexed.set(owner, bucket)
    }
    // The oldest come first.
    const surplus = Math.max(0, this.#indexed.size - KNOWN_MAX)
    for (const owner of [...this.#indexed.keys().take(surplus)]) this.#indexed.delete(owner)
  }

  async #buckets(owner: string, from: number, to: number, order: 'asc' | 'desc'): Promise<readonly number[]> {
    const first = bucketOf(from)
    const last = Math.min(bucketOf(to), BUCKET_MAX)
    const isShort = last - first < UNINDEXED
    const buckets = isShort
      ? Array.from({ length: last - first + 1 }, (_, at) => first + at)
      : (await this.#client.read(SELECT_BUCKETS, [owner, first, last])).map((row) => row['bucket'] as number)
    return order === 'asc' ? buckets : buckets.toReversed()
  }

  /** Yields the rows of an answer, of each number the one with the greatest token. */
  async *#rows(
    statement: string,
    params: readonly unknown[],
    column: string,
    size: number,
    order: 'asc' | 'desc',
    keyOf: (number: number) => Key
  ): AsyncGenerator<{ number: number; value: Uint8Array }, void, undefined> {
    let best: CqlRow | null = null
    const read = (row: CqlRow): { number: number; value: Uint8Array } => {
      const number = Number(row[column])
      return { number, value: valueIn(keyOf(number), row) }
    }
    for await (const rows of this.#client.pages(statement, params, size))
      for (const row of rows) {
        if (best !== null && best[column] !== row[column]) yield read(best)
        // Tokens descend where numbers ascend, and ascend where numbers descend.
        else if (best !== null && order === 'asc') continue
        best = row
      }
    if (best !== null) yield read(best)
  }

  async #writeEach(rows: readonly RowWrite[]): Promise<void> {
    await mapBounded(rows, WRITES_AT_ONCE, async (row) => this.#client.write([row]))
  }
}

/** The greatest number of a bucket. */
const BUCKET_MAX = 2 ** 31 - 1
const bucketOf = (slot: number): number => Math.floor(slot / PAGE_SLOTS)
const partOf = (number: number): number => Math.floor(number / SUMS)

function rowWrite(
  statement: string,
  place: readonly unknown[],
  token: number,
  key: Key,
  value: Uint8Array
): RowWrite {
  // Packed bytes are valid until the next record is packed.
  const packed = Buffer.from(packRecord(ledgerRowKind, key, { token, value }))
  return { statement, params: [...place, BigInt(token), packed], bytes: KEY_BYTES + packed.length }
}

const valueIn = (key: Key, row: CqlRow): Uint8Array =>
  unpackRecord(ledgerRowKind, key, row['value'] as Buffer).value
