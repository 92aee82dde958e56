import { HOLDER_ROW_CODES, packRow, unpackRow } from '../codec/holder-row.ts'
import type {
  HolderListId,
  HolderRow,
  HolderRowKey,
  HolderRowKind,
  HolderRowsPage,
  HolderRowsQuery,
  HolderStore,
  PresentRow
} from '../port/holders.ts'
import { blob, mapBounded } from './client.ts'
import type { CqlClient, CqlRow } from './client.ts'
import { batchesOf, type RowWrite } from './row-write.ts'

/** Partitions of rows by address. Of ten million accounts each has 25 MB. */
const ADDRESS_BUCKETS = 64
const BITS_BELOW = 2
/** Partitions of rows by amount: one for each number of leading zero bits. Amounts of a mint spread over some thirty. */
const AMOUNT_BUCKETS = 65
/** Rows of an answer to a scan. */
const ROWS_AT_ONCE = 1_000
/** Buckets that a page reads ahead: most pages take one round trip or two. */
const BUCKETS_AT_ONCE = 16
const BATCHES_AT_ONCE = 8
/** Bytes of a row's key on the wire, estimated. */
const KEY_BYTES = 120
/** Versions of a row besides the first that a page expects. */
const SPARE = 8

const OF_BUCKET = 'mint = ? AND reading = ? AND kind = ? AND bucket = ?'
const INSERT =
  'INSERT INTO holder_rows (mint, reading, kind, bucket, key, slot, value) VALUES (?, ?, ?, ?, ?, ?, ?)'
const DELETE = `DELETE FROM holder_rows WHERE ${OF_BUCKET} AND key = ? AND slot = ?`
const CLEAR = `DELETE FROM holder_rows WHERE ${OF_BUCKET}`
const SELECT = `SELECT key, slot, value FROM holder_rows WHERE ${OF_BUCKET}`
const SELECT_AFTER = `${SELECT} AND key > ?`
const SELECT_AT = `${SELECT} AND key = ? AND slot <= ? LIMIT 1`

const BUCKETS: Readonly<Record<HolderRowKind, number>> = {
  account: ADDRESS_BUCKETS,
  owner: ADDRESS_BUCKETS,
  'owner-rank': AMOUNT_BUCKETS,
  'account-rank': AMOUNT_BUCKETS,
  sums: 1,
  change: 1
}

/** Holder lists in one table. */
export class CqlHolders implements HolderStore {
  readonly #client: CqlClient

  constructor(client: CqlClient) {
    this.#client = client
  }

  async put(list: HolderListId, rows: readonly HolderRow[]): Promise<void> {
    const writeOf = (row: HolderRow): RowWrite => {
      const packed = packRow(row.value)
      const params = [...partitionOf(list, row), blob(row.key), BigInt(row.slot), packed]
      return { statement: INSERT, params, bytes: KEY_BYTES + packed.length }
    }
    const [changes, others] = [rows.filter(isChange), rows.filter((row) => !isChange(row))]
    await this.#write(changes, writeOf)
    await this.#write(others, writeOf)
  }

  async at(
    list: HolderListId,
    kind: HolderRowKind,
    slot: number,
    keys: readonly Uint8Array[]
  ): Promise<(PresentRow | null)[]> {
    const each = keys.map((key) => [...partitionOf(list, { kind, key }), blob(key), BigInt(slot)])
    const answers = await this.#client.readEach(SELECT_AT, each)
    return answers.map(([row]) => (row === undefined ? null : presentRow(kind, row)))
  }

  async page(
    list: HolderListId,
    kind: HolderRowKind,
    { slot, after, limit }: HolderRowsQuery
  ): Promise<HolderRowsPage> {
    const rows: PresentRow[] = []
    let done = null as Buffer | null
    for await (const found of this.#rowsAfter(list, kind, after, Math.min(limit + SPARE, ROWS_AT_ONCE))) {
      for (const row of found) {
        const key = row['key'] as Buffer
        if (done?.equals(key) === true || Number(row['slot']) > slot) continue
        done = key
        const present = presentRow(kind, row)
        if (present === null) continue
        if (rows.length === limit) return { rows, hasMore: true }
        rows.push(present)
      }
    }
    return { rows, hasMore: false }
  }

  async drop(list: HolderListId, rows: readonly HolderRowKey[]): Promise<void> {
    await this.#write(rows, (row) => ({
      statement: DELETE,
      params: [...partitionOf(list, row), blob(row.key), BigInt(row.slot)],
      bytes: KEY_BYTES
    }))
  }

  async clear(list: HolderListId): Promise<void> {
    const partitions = Object.entries(BUCKETS).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, bucket) => [
        blob(list.mint),
        list.reading,
        HOLDER_ROW_CODES[kind as HolderRowKind],
        bucket
      ])
    )
    await mapBounded(partitions, BATCHES_AT_ONCE, async (params) =>
      this.#client.write([{ statement: CLEAR, params, bytes: KEY_BYTES }])
    )
  }

  /** Yields rows ascending by key. The first pages of some buckets are requested together. */
  async *#rowsAfter(
    { mint, reading }: HolderListId,
    kind: HolderRowKind,
    after: Uint8Array | undefined,
    size: number
  ): AsyncGenerator<CqlRow[]> {
    const first = after === undefined ? 0 : bucketOf(kind, after)
    for (let from = first; from < BUCKETS[kind]; from += BUCKETS_AT_ONCE) {
      const count = Math.min(BUCKETS_AT_ONCE, BUCKETS[kind] - from)
      const scans = Array.from({ length: count }, (_, i) => {
        const partition = [blob(mint), reading, HOLDER_ROW_CODES[kind], from + i]
        return from + i === first && after !== undefined
          ? this.#client.pages(SELECT_AFTER, [...partition, blob(after)], size)
          : this.#client.pages(SELECT, partition, size)
      })
      const firsts = await Promise.all(scans.map(async (scan) => scan.next()))
      for (const [i, page] of firsts.entries()) {
        if (page.done === true) continue
        yield page.value
        yield* scans[i]!
      }
    }
  }

  async #write<T extends HolderRowKey>(rows: readonly T[], writeOf: (row: T) => RowWrite): Promise<void> {
    const byPartition = Map.groupBy(
      rows,
      ({ kind, key }) => HOLDER_ROW_CODES[kind] * 100 + bucketOf(kind, key)
    )
    const batches = [...byPartition.values()].flatMap((each) => batchesOf(each.map(writeOf)))
    await mapBounded(batches, BATCHES_AT_ONCE, async (batch) => this.#client.write(batch))
  }
}

const isChange = ({ kind }: HolderRow): boolean => kind === 'change'

function bucketOf(kind: HolderRowKind, key: Uint8Array): number {
  if (BUCKETS[kind] === 1) return 0
  if (BUCKETS[kind] === ADDRESS_BUCKETS) return key[0]! >> BITS_BELOW
  // Inverted, a leading zero bit of the amount is a leading one.
  for (let at = 0; at < 8; at++) {
    const amount = ~key[at]! & 255
    if (amount !== 0) return at * 8 + Math.clz32(amount) - 24
  }
  return AMOUNT_BUCKETS - 1
}

const partitionOf = (
  { mint, reading }: HolderListId,
  { kind, key }: Pick<HolderRowKey, 'kind' | 'key'>
): unknown[] => [blob(mint), reading, HOLDER_ROW_CODES[kind], bucketOf(kind, key)]

function presentRow(kind: HolderRowKind, row: CqlRow): PresentRow | null {
  const value = unpackRow(row['value'] as Buffer)
  return value === null
    ? null
    : { kind, key: new Uint8Array(row['key'] as Buffer), slot: Number(row['slot']), value }
}
