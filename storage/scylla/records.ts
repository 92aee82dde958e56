import { keyText } from '../codec/keys.ts'
import type { Key as StoreKey } from '../codec/keys.ts'
import { packRecord, unpackRecord } from '../codec/record.ts'
import type { RecordKind } from '../codec/record.ts'
import type { CommittedVersion, ScyllaBase } from './base.ts'
import type { CqlRow, CqlStatement } from './client.ts'
import { superseded } from './errors.ts'
import { versionTimestamp } from './version.ts'
import type { RowWrite } from './row-write.ts'
import type { TableCommit } from './commit.ts'
import type { Snapshot } from './visibility.ts'

/**
 * A table of records that later blocks replace. Its columns are those of the key, then
 *
 *   epoch int, commit int, value blob, before_epoch int, before_commit int, before_value blob
 *
 * `commit` is the number of the commit. The newest version is in front, and the newest committed one in the `before_`
 * columns, so that a reader can always use one of them. A record without an earlier version has 0, 0 and no bytes there. A
 * version of no bytes removes the record.
 */
export interface RecordLayout<Key, T> {
  readonly table: string
  /** Columns of the partition key, and clustering columns in their order; empty if a partition is one record. */
  readonly partition: readonly string[]
  readonly clustering: readonly string[]
  readonly kind: RecordKind<T>
  /** The values of the key's columns, the partition's first: Buffer for blob, bigint for bigint, number for int. */
  values(key: Key): readonly unknown[]
  /** The key of this record in the embedded store, which the checksum of its bytes covers. */
  storeKey(key: Key): StoreKey
  /** The key of a row that a range has read; `row` has the columns of the key. */
  keyOf(row: CqlRow): Key
  /** Time to live of a version, in seconds; absent or 0 means for ever. */
  readonly ttlSeconds?: (retentionSeconds: number | null) => number
}

/** Records of one partition, by their last clustering column. */
export interface RecordRange {
  /** Values of the partition key and of all clustering columns but the last. */
  readonly within: readonly unknown[]
  /** Bounds of the last clustering column. */
  readonly gte?: unknown
  readonly gt?: unknown
  readonly lte?: unknown
  readonly lt?: unknown
  readonly order: 'asc' | 'desc'
  /** Maximum number of records; 0 and below give none. */
  readonly limit: number
}

const BOUNDS = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const
const VERSION_COLUMNS = ['epoch', 'commit', 'value', 'before_epoch', 'before_commit', 'before_value'] as const
const NO_BYTES = Buffer.alloc(0)
/** Rows that are read beyond a limit, for those of a block that is not visible yet. */
const UNSEEN_ROWS = 4
const PAGE_ROWS_MAX = 500
/** Bytes on the wire of the columns beside the key and the values, estimated. */
const COLUMN_BYTES = 60

export class RecordTable<Key, T> {
  readonly #base: ScyllaBase
  readonly #layout: RecordLayout<Key, T>
  readonly #select: string
  readonly #insert: string
  readonly #ttlSeconds: number
  /** Statements of ranges, by the bounds that they have. */
  readonly #ranges = new Map<string, string>()

  constructor(base: ScyllaBase, layout: RecordLayout<Key, T>) {
    this.#base = base
    this.#layout = layout
    this.#ttlSeconds = layout.ttlSeconds?.(base.retentionSeconds) ?? 0
    const { table } = layout
    const key = [...layout.partition, ...layout.clustering]
    const columns = [...key, ...VERSION_COLUMNS]
    this.#select = `SELECT ${VERSION_COLUMNS.join(', ')} FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`
    this.#insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) USING TIMESTAMP ? AND TTL ?`
  }

  /** The newest committed value, or null. Rejects with STORAGE_UNAVAILABLE like every read. */
  async get(key: Key): Promise<T | null> {
    const { client, visibility } = this.#base
    const { snapshot } = visibility
    const [row] = await client.read(this.#select, this.#layout.values(key))
    return row === undefined ? null : this.#value(key, await this.#visible(row, snapshot))
  }

  /** Values in the order of the keys, a bounded number of them read at a time. */
  async getMany(keys: readonly Key[]): Promise<(T | null)[]> {
    const { client, visibility } = this.#base
    const { snapshot } = visibility
    const answers = await client.readEach(
      this.#select,
      keys.map((key) => this.#layout.values(key))
    )
    return Promise.all(
      answers.map(async ([row], i) =>
        row === undefined ? null : this.#value(keys[i]!, await this.#visible(row, snapshot))
      )
    )
  }

  /** Records of one partition in the order of their last clustering column. */
  async range(range: RecordRange): Promise<{ readonly key: Key; readonly value: T }[]> {
    const bounds = boundsOf(range)
    const params = [...range.within, ...bounds.map((bound) => range[bound])]
    const read = { statement: this.#rangeStatement(bounds, range.order), params }
    return this.#records(read, range.limit, () => true)
  }

  /**
   * Lists values in the order of their partitions, after a key: `limit` at most. For tables whose partitions are one record
   * and have one column as their key.
   */
  async list(after: Key | null, limit: number): Promise<T[]> {
    const { table, partition } = this.#layout
    const [column] = partition
    const all = `SELECT ${[column, ...VERSION_COLUMNS].join(', ')} FROM ${table}`
    const values = after === null ? [] : this.#layout.values(after)
    const read = {
      statement: after === null ? all : `${all} WHERE token(${column}) >= token(?)`,
      params: values
    }
    const [bound] = values as Buffer[]
    let isBeyond = after === null
    const found = await this.#records(read, limit, (row) => {
      isBeyond ||= this.#isBehind(row[column!] as Buffer, bound!)
      return isBeyond
    })
    return found.map(({ value }) => value)
  }

  /** Tells whether a partition comes after another one: partitions of one token are in the order of their keys. */
  #isBehind(key: Buffer, bound: Buffer): boolean {
    const { client } = this.#base
    if (Buffer.compare(key, bound) > 0) return true
    return !key.equals(bound) && client.partitionToken(key) !== client.partitionToken(bound)
  }

  /** Reads records by a statement, without those that `isListed` leaves out. */
  async #records(
    { statement, params }: CqlStatement,
    limit: number,
    isListed: (row: CqlRow) => boolean
  ): Promise<{ readonly key: Key; readonly value: T }[]> {
    const found: { key: Key; value: T }[] = []
    if (limit <= 0) return found
    const { client, visibility } = this.#base
    const { snapshot } = visibility
    const pageRows = Math.min(limit + UNSEEN_ROWS, PAGE_ROWS_MAX)
    for await (const rows of client.pages(statement, params, pageRows))
      for (const row of rows) {
        if (!isListed(row)) continue
        const version = this.#visible(row, snapshot)
        const known = version instanceof Promise ? await version : version
        if (known === null || known.value.length === 0) continue
        const key = this.#layout.keyOf(row)
        found.push({ key, value: unpackRecord(this.#layout.kind, this.#layout.storeKey(key), known.value) })
        if (found.length === limit) return found
      }
    return found
  }

  /**
   * Reads the versions that the commit's blocks replace: the newest committed values, in the order of the keys. Records that
   * this writer knows are not read. Values staged into the same commit are not seen.
   */
  async committed(commit: TableCommit, keys: readonly Key[]): Promise<(T | null)[]> {
    const versions = await this.#committed(commit, keys)
    return versions.map((version, i) => this.#value(keys[i]!, version))
  }

  /**
   * Puts values in place of those of their keys; a key may come once a commit. Reads the replaced versions that it does not
   * know.
   */
  async stage(
    commit: TableCommit,
    records: readonly { readonly key: Key; readonly value: T }[]
  ): Promise<void> {
    const before = await this.#committed(
      commit,
      records.map(({ key }) => key)
    )
    records.forEach(({ key, value }, i) => {
      const packed = Buffer.from(packRecord(this.#layout.kind, this.#layout.storeKey(key), value))
      this.#put(commit, key, packed, before[i]!)
    })
  }

  /** Removes the records of keys, if they exist. A key may come once a commit, also counting staged ones. */
  async remove(commit: TableCommit, keys: readonly Key[]): Promise<void> {
    const before = await this.#committed(commit, keys)
    keys.forEach((key, i) => {
      const known = before[i]!
      if (known !== null && known.value.length > 0) this.#put(commit, key, NO_BYTES, known)
    })
  }

  #put(commit: TableCommit, key: Key, value: Buffer, before: CommittedVersion | null): void {
    commit.write([this.#replacement(commit, key, value, before)])
    const version = { epoch: commit.epoch, number: commit.number, value }
    const text = this.#textOf(this.#layout.storeKey(key))
    commit.whenVisible(() => commit.committed.set(text, version))
  }

  #replacement(commit: TableCommit, key: Key, value: Buffer, before: CommittedVersion | null): RowWrite {
    const behind = before ?? { epoch: 0, number: 0, value: NO_BYTES }
    return {
      statement: this.#insert,
      params: [
        ...this.#layout.values(key),
        ...[commit.epoch, commit.number, value],
        ...[behind.epoch, behind.number, behind.value],
        ...[versionTimestamp(commit), this.#ttlSeconds]
      ],
      bytes: value.length + behind.value.length + COLUMN_BYTES
    }
  }

  /** The versions that a commit puts behind its own, from the cache or from the store. */
  async #committed(commit: TableCommit, keys: readonly Key[]): Promise<(CommittedVersion | null)[]> {
    const { client } = this.#base
    const { committed } = commit
    const texts = keys.map((key) => this.#textOf(this.#layout.storeKey(key)))
    const versions = texts.map((text) => committed.get(text))
    const unknown = [...keys.keys()].filter((i) => versions[i] === undefined)
    if (unknown.length === 0) return versions as (CommittedVersion | null)[]
    const answers = await client.readEachThrough(
      this.#select,
      unknown.map((i) => this.#layout.values(keys[i]!))
    )
    unknown.forEach((i, n) => {
      const row = answers[n]![0]
      const found = row === undefined ? null : this.#replaced(row, commit.base)
      // The answer's buffer holds many values; a cached value gets its own.
      const kept = found === null ? null : { ...found, value: Buffer.from(found.value) }
      versions[i] = kept
      committed.set(texts[i]!, kept)
    })
    return versions as (CommittedVersion | null)[]
  }

  /**
   * The visible version of a row. If two commits have passed since the snapshot, neither of its versions may be visible. The
   * newest known snapshot decides then; if that does not suffice, the watermarks are read again, which are newer than the
   * row.
   */
  #visible(row: CqlRow, snapshot: Snapshot): CommittedVersion | null | Promise<CommittedVersion | null> {
    const found = firstVisible(row, snapshot)
    if (found !== 'unknown') return found
    const again = firstVisible(row, this.#base.visibility.snapshot)
    if (again !== 'unknown') return again
    return this.#base.refresh().then(() => {
      const { snapshot, committed } = this.#base.visibility
      const last = firstVisible(row, snapshot)
      const flushed = last === 'unknown' ? firstVisible(row, committed) : last
      return flushed === 'unknown' ? null : flushed
    })
  }

  /**
   * The version that a commit replaces. If nodes have forgotten a flush that later rows were built on, the version is a
   * committed one: the journal has its blocks, and flushing them again changes nothing.
   */
  #replaced(row: CqlRow, base: Snapshot): CommittedVersion | null {
    const found = firstVisible(row, base)
    const again = found === 'unknown' ? firstVisible(row, this.#base.visibility.committed) : found
    if (again === 'unknown') throw superseded()
    return again
  }

  #value(key: Key, version: CommittedVersion | null): T | null {
    if (version === null || version.value.length === 0) return null
    return unpackRecord(this.#layout.kind, this.#layout.storeKey(key), version.value)
  }

  #textOf(storeKey: StoreKey): string {
    return `${this.#layout.table} ${keyText(storeKey)}`
  }

  #rangeStatement(bounds: readonly (keyof typeof BOUNDS)[], order: 'asc' | 'desc'): string {
    const name = `${bounds.join()} ${order}`
    const known = this.#ranges.get(name)
    if (known !== undefined) return known
    const { table, partition, clustering } = this.#layout
    const last = clustering.at(-1)!
    const within = [...partition, ...clustering.slice(0, -1)].map((column) => `${column} = ?`)
    const where = [...within, ...bounds.map((bound) => `${last} ${BOUNDS[bound]} ?`)]
    // The first clustering columns are fixed, but the server requires all of them in the order.
    const ordered = clustering.map((column) => `${column} ${order === 'asc' ? 'ASC' : 'DESC'}`)
    const statement =
      `SELECT ${[...partition, ...clustering, ...VERSION_COLUMNS].join(', ')} FROM ${table} ` +
      `WHERE ${where.join(' AND ')} ORDER BY ${ordered.join(', ')}`
    this.#ranges.set(name, statement)
    return statement
  }
}

const boundsOf = (range: RecordRange): (keyof typeof BOUNDS)[] =>
  (Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]).filter((bound) => range[bound] !== undefined)

/**
 * The first of a row's two versions that is visible. The version in the `before_` columns is always committed: if it is not
 * visible either, the snapshot is older than the row. Without one, the record did not exist at the snapshot.
 */
function firstVisible(row: CqlRow, snapshot: Snapshot): CommittedVersion | null | 'unknown' {
  const [epoch, number] = [row['epoch'] as number, row['commit'] as number]
  if (snapshot.isVisible(epoch, number)) return { epoch, number, value: row['value'] as Buffer }
  const [beforeEpoch, beforeNumber] = [row['before_epoch'] as number, row['before_commit'] as number]
  if (beforeEpoch === 0) return null
  if (!snapshot.isVisible(beforeEpoch, beforeNumber)) return 'unknown'
  return { epoch: beforeEpoch, number: beforeNumber, value: row['before_value'] as Buffer }
}
