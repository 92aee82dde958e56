import { HOLDER_ROW_CODES, packRow, unpackRow } from '../codec/holder-row.ts'
import { HOLDER_ROW_KINDS } from '../port/holders.ts'
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
import { holderBucket, holderPartitions, holderRange } from './holder-partitions.ts'
import { beginScans, mergedScans } from './merged-scans.ts'
import { batchesOf, type RowWrite } from './row-write.ts'

/** Rows of an answer to a scan. */
const ROWS_AT_ONCE = 1_000
/** Ranges that a page reads ahead: most pages take one round trip or two. */
const RANGES_AT_ONCE = 16
/** Partitions that a page of a large list reads ahead: four ranges. */
const SCANS_AT_ONCE = 64
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
    await this.#write(list, changes, writeOf)
    await this.#write(list, others, writeOf)
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
    await this.#write(list, rows, (row) => ({
      statement: DELETE,
      params: [...partitionOf(list, row), blob(row.key), BigInt(row.slot)],
      bytes: KEY_BYTES
    }))
  }

  async clear(list: HolderListId): Promise<void> {
    const partitions = (Object.keys(HOLDER_ROW_KINDS) as HolderRowKind[]).flatMap((kind) => {
      const { ranges, shares } = holderPartitions(list, kind)
      return Array.from({ length: ranges * shares }, (_, bucket) => partitionAt(list, kind, bucket))
    })
    await mapBounded(partitions, BATCHES_AT_ONCE, async (params) =>
      this.#client.write([{ statement: CLEAR, params, bytes: KEY_BYTES }])
    )
  }

  /** Yields rows ascending by key. The first pages of some ranges are requested together. */
  async *#rowsAfter(
    list: HolderListId,
    kind: HolderRowKind,
    after: Uint8Array | undefined,
    size: number
  ): AsyncGenerator<CqlRow[]> {
    const { ranges, shares } = holderPartitions(list, kind)
    const first = after === undefined ? 0 : holderRange(kind, after)
    const atOnce = shares === 1 ? RANGES_AT_ONCE : SCANS_AT_ONCE / shares
    // Keys of a range are spread over its shares evenly, or nearly so.
    const sizeOfShare = shares === 1 ? size : Math.ceil((size * 2) / shares)
    for (let from = first; from < ranges; from += atOnce) {
      const count = Math.min(atOnce, ranges - from) * shares
      const scans = Array.from({ length: count }, (_, i) => {
        const bucket = from * shares + i
        const partition = partitionAt(list, kind, bucket)
        return after !== undefined && bucket < (first + 1) * shares
          ? this.#client.pages(SELECT_AFTER, [...partition, blob(after)], sizeOfShare)
          : this.#client.pages(SELECT, partition, sizeOfShare)
      })
      const begun = await beginScans(scans)
      for (let at = 0; at < begun.length; at += shares)
        yield* mergedScans(begun.slice(at, at + shares), 'key')
    }
  }

  async #write<T extends HolderRowKey>(
    list: HolderListId,
    rows: readonly T[],
    writeOf: (row: T) => RowWrite
  ): Promise<void> {
    const byPartition = Map.groupBy(rows, ({ kind, key }) => `${kind} ${holderBucket(list, kind, key)}`)
    const batches = [...byPartition.values()].flatMap((each) => batchesOf(each.map(writeOf)))
    await mapBounded(batches, BATCHES_AT_ONCE, async (batch) => this.#client.write(batch))
  }
}

const isChange = ({ kind }: HolderRow): boolean => kind === 'change'

const partitionAt = ({ mint, reading }: HolderListId, kind: HolderRowKind, bucket: number): unknown[] => [
  blob(mint),
  reading,
  HOLDER_ROW_CODES[kind],
  bucket
]

const partitionOf = (list: HolderListId, { kind, key }: Pick<HolderRowKey, 'kind' | 'key'>): unknown[] =>
  partitionAt(list, kind, holderBucket(list, kind, key))

function presentRow(kind: HolderRowKind, row: CqlRow): PresentRow | null {
  const value = unpackRow(row['value'] as Buffer)
  return value === null
    ? null
    : { kind, key: new Uint8Array(row['key'] as Buffer), slot: Number(row['slot']), value }
}
