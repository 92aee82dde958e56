import type { Edit } from '../../src/market/amendment.ts'
import { cursorAt, POSITIONS_PER_SLOT } from '../../src/market/cursor.ts'
import type { Key as StoreKey } from '../codec/keys.ts'
import { packRecord, unpackRecord } from '../codec/record.ts'
import type { RecordKind } from '../codec/record.ts'
import type { PageRequest } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { BucketIndex, type Owner } from './bucket-index.ts'
import { blob } from './client.ts'
import type { CqlRow } from './client.ts'
import { versionTimestamp } from './version.ts'
import type { RowWrite } from './row-write.ts'
import type { TableCommit } from './commit.ts'
import type { Version } from './version.ts'
import type { Snapshot } from './visibility.ts'

/**
 * Lists of rows that blocks add to, one for each owner, in the order of cursors. The table and its index are
 *
 *   <table>          owner blob, bucket int, cursor bigint, epoch int, commit int, row blob,
 *                    PRIMARY KEY ((owner, bucket), cursor, epoch), both clustered descending
 *   <table>_buckets  owner blob, bucket int, PRIMARY KEY (owner, bucket), clustered descending
 *
 * A bucket is a range of slots, which bounds the size of a partition. The index says which buckets of an owner have rows.
 * The epoch is part of the key. So rows of a writer that lost its claim stay next to those of its successor, in whatever
 * order they arrive, and are never visible. Of the visible rows of a cursor the one with the latest epoch counts. An
 * amendment replaces a row by a new one, or removes it by a row of no bytes.
 */
export interface RowListLayout<Row> {
  readonly table: string
  /** Length of a bucket. */
  readonly slotsPerBucket: number
  /** The setting after which rows expire; null if they stay. */
  readonly expires: 'retentionSeconds' | 'logTtlSeconds' | null
  /**
   * Whether an amendment puts rows above the head of the tables, which count from then on. Such lists are read only in
   * ascending order.
   */
  readonly isAboveHead?: boolean
  /** Packs a row; its key is `storeKey`. */
  readonly kind: RecordKind<Row>
  cursorOf(row: Row): number
  /** Key that the checksum of a row's bytes covers, too. */
  storeKey(owner: Uint8Array, cursor: number): StoreKey
}

const NO_BYTES = Buffer.alloc(0)
/** Rows that are read beyond a limit, for those of a block that is not visible yet. */
const UNSEEN_ROWS = 4
const PAGE_ROWS_MAX = 1_000
/** Maximum buckets that are read at once: one at first, then twice as many each time until they suffice. */
const BUCKETS_AT_ONCE_MAX = 8
/** Bytes on the wire of the columns beside the packed row, estimated. */
const COLUMN_BYTES = 80

/** Value at a cursor: the packed row, or no bytes. */
interface Entry {
  readonly owner: Owner
  readonly cursor: number
  readonly packed: Buffer
  readonly number: number
}

/** Part of a list: cursors from `low` to `high`, both included. */
interface Span {
  readonly low: number
  readonly high: number
}

export class RowList<Row> {
  readonly #base: ScyllaBase
  readonly #layout: RowListLayout<Row>
  readonly #index: BucketIndex
  readonly #ttlSeconds: number
  readonly #insert: string
  readonly #selectOne: string
  readonly #selectSpan: Readonly<Record<PageRequest['order'], string>>

  constructor(base: ScyllaBase, layout: RowListLayout<Row>) {
    this.#base = base
    this.#layout = layout
    this.#ttlSeconds = layout.expires === null ? 0 : (base[layout.expires] ?? 0)
    const { table } = layout
    this.#index = new BucketIndex(base, `${table}_buckets`, this.#ttlSeconds)
    this.#insert = `INSERT INTO ${table} (owner, bucket, cursor, epoch, commit, row) VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP ? AND TTL ?`
    const select = `SELECT cursor, epoch, commit, row FROM ${table} WHERE owner = ? AND bucket = ?`
    this.#selectOne = `${select} AND cursor = ?`
    const span = (order: string): string =>
      `${select} AND cursor >= ? AND cursor <= ? ORDER BY cursor ${order}, epoch ${order}`
    this.#selectSpan = { asc: span('ASC'), desc: span('DESC') }
  }

  /** Visible rows of an owner, `limit` at most, in the requested order. All are of one moment. */
  async read(owner: Owner, page: PageRequest): Promise<Row[]> {
    this.#base.client.assertOpen()
    const rows: Row[] = []
    const { snapshot } = this.#base.visibility
    const span = spanOf(page, this.#layout.isAboveHead === true ? Infinity : endOf(snapshot))
    if (span === null || page.limit <= 0) return rows
    const between = { low: this.#bucketOf(span.low), high: this.#bucketOf(span.high) }
    const newest = this.#bucketOf(endOf(snapshot))
    let atOnce = 1
    for await (const { buckets, unindexed } of this.#index.find(owner, {
      ...between,
      newest,
      order: page.order
    })) {
      atOnce = Math.max(atOnce, 1 + unindexed)
      for (let next = 0; next < buckets.length; atOnce = Math.min(2 * atOnce, BUCKETS_AT_ONCE_MAX)) {
        const limit = page.limit - rows.length
        const read = buckets.slice(next, next + atOnce)
        next += read.length
        const parts = read.map((bucket) => this.#ofBucket(owner, bucket, span, { ...page, limit }, snapshot))
        for (const part of await Promise.all(parts)) {
          for (const row of part) if (rows.length < page.limit) rows.push(row)
        }
        if (rows.length === page.limit) return rows
      }
    }
    return rows
  }

  /** The visible row at a cursor, with its version, or null. */
  async at(owner: Owner, cursor: number): Promise<(Version & { readonly row: Row }) | null> {
    const { snapshot } = this.#base.visibility
    const params = [blob(owner), this.#bucketOf(cursor), BigInt(cursor)]
    for (const row of await this.#base.client.read(this.#selectOne, params)) {
      const [epoch, number] = [row['epoch'] as number, row['commit'] as number]
      if (!snapshot.isVisible(epoch, number)) continue
      return isRemoved(row) ? null : { epoch, number, row: this.#unpack(owner, cursor, row) }
    }
    return null
  }

  /**
   * Adds rows, in any order. A cursor of an owner may come once. `numberOf` is for rows of an earlier commit that the
   * writer's commit includes; they become visible with the others.
   */
  stage(
    commit: TableCommit,
    rows: readonly Row[],
    ownerOf: (row: Row) => Owner,
    numberOf: (row: Row) => number = () => commit.number
  ): void {
    const entries = rows.map((row): Entry => {
      const [owner, cursor] = [ownerOf(row), this.#layout.cursorOf(row)]
      const packed = Buffer.from(packRecord(this.#layout.kind, this.#layout.storeKey(owner, cursor), row))
      return { owner, cursor, packed, number: numberOf(row) }
    })
    this.#write(commit, entries)
  }

  /** Puts rows in place of those at their cursors, and removes others; a cursor of an owner may come once. */
  amend(commit: TableCommit, { put, remove }: Edit<Row, Row>, ownerOf: (row: Row) => Owner): void {
    this.stage(commit, put, ownerOf)
    // Otherwise both would have one timestamp, and either could win.
    const placeOf = (row: Row): string =>
      `${blob(ownerOf(row)).toString('latin1')}${this.#layout.cursorOf(row)}`
    const taken = new Set(put.map(placeOf))
    const gone = remove.filter((row) => !taken.has(placeOf(row)))
    this.removeAt(
      commit,
      gone.map((row) => ({ owner: ownerOf(row), cursor: this.#layout.cursorOf(row) }))
    )
  }

  /** Removes the rows at places; the rows need not exist. */
  removeAt(commit: TableCommit, places: readonly { readonly owner: Owner; readonly cursor: number }[]): void {
    const { number } = commit
    this.#write(
      commit,
      places.map((place) => ({ ...place, packed: NO_BYTES, number }))
    )
  }

  #write(commit: TableCommit, entries: readonly Entry[]): void {
    // By text of the owner and bucket: rows of one partition go in batches.
    const partitions = new Map<string, { owner: Owner; bucket: number; writes: RowWrite[] }>()
    const timestamp = this.#timestampOf(commit)
    for (const { owner, cursor, packed, number } of entries) {
      const bucket = this.#bucketOf(cursor)
      const text = `${blob(owner).toString('latin1')}${bucket}`
      let partition = partitions.get(text)
      if (partition === undefined) partitions.set(text, (partition = { owner, bucket, writes: [] }))
      const key = [blob(owner), bucket, BigInt(cursor)]
      partition.writes.push({
        statement: this.#insert,
        params: [...key, commit.epoch, number, packed, timestamp, this.#ttlSeconds],
        bytes: packed.length + COLUMN_BYTES
      })
    }
    for (const [text, { owner, bucket, writes }] of partitions) {
      commit.write(writes)
      this.#index.stage(commit, owner, bucket, text)
    }
  }

  async #ofBucket(
    owner: Owner,
    bucket: number,
    { low, high }: Span,
    { order, limit }: PageRequest,
    snapshot: Snapshot
  ): Promise<Row[]> {
    const found: CqlRow[] = []
    // If several rows have one cursor, the row of the latest epoch counts: the last one ascending, the first one descending.
    let newest: CqlRow | null = null
    const params = [blob(owner), bucket, BigInt(low), BigInt(high)]
    const pageRows = Math.min(limit + UNSEEN_ROWS, PAGE_ROWS_MAX)
    reading: for await (const rows of this.#base.client.pages(this.#selectSpan[order], params, pageRows))
      for (const row of rows) {
        if (!snapshot.isVisible(row['epoch'] as number, row['commit'] as number)) continue
        const isSame = newest !== null && newest['cursor'] === row['cursor']
        if (isSame && order === 'desc') continue
        if (!isSame && newest !== null && !isRemoved(newest)) found.push(newest)
        newest = row
        if (found.length === limit) break reading
      }
    if (newest !== null && !isRemoved(newest) && found.length < limit) found.push(newest)
    return found.map((row) => this.#unpack(owner, Number(row['cursor']), row))
  }

  #unpack(owner: Owner, cursor: number, row: CqlRow): Row {
    return unpackRecord(this.#layout.kind, this.#layout.storeKey(owner, cursor), row['row'] as Buffer)
  }

  #bucketOf(cursor: number): number {
    return Math.floor(cursor / POSITIONS_PER_SLOT / this.#layout.slotsPerBucket)
  }

  /**
   * Rows that expire carry the newest block's time as timestamp. Files of a time window are filled by it, and dropped as a
   * whole.
   */
  #timestampOf(commit: TableCommit): bigint {
    return this.#layout.expires === null ? versionTimestamp(commit) : BigInt(commit.blockTime) * 1_000_000n
  }
}

const isRemoved = (row: CqlRow): boolean => (row['row'] as Buffer).length === 0

/** The last cursor that may be visible. */
const endOf = ({ head }: Snapshot): number => (head === null ? -1 : cursorAt(head.slot + 1, 0) - 1)

/** The section of a page that may be visible, or null. */
function spanOf({ from, until, order }: PageRequest, end: number): Span | null {
  const [before, after] = order === 'desc' ? [from, until] : [until, from]
  const below = before === undefined ? Infinity : order === 'desc' ? before - 1 : before
  const above = after === undefined ? 0 : order === 'desc' ? after : after + 1
  const span = { low: Math.max(above, 0), high: Math.min(below, end) }
  return span.low <= span.high ? span : null
}
