import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Edit } from '../../src/market/amendment.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { LaunchRow } from '../../src/market/rows.ts'
import { keysOf, keyText, launchKeysOf } from '../codec/keys.ts'
import { launchListingKind, listedLaunchKind } from '../codec/launch.ts'
import type { Key } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import type { LaunchStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { BucketedRecords } from './bucketed-records.ts'
import type { BucketedLayout, Place, PositionRange } from './bucketed-records.ts'
import type { Commit, TableCommit } from './commit.ts'
import type { RowWrite } from './row-write.ts'
import { AddressedRows } from './generic-tables.ts'
import type { Version } from './version.ts'
import { readConsistently } from './read-consistently.ts'
import type { Table } from './table.ts'

type LaunchPage = Parameters<LaunchStore['page']>[0]
/** 7.3 hours: at 70,000 launches a day, which no day has had, 20 MB in two versions. */
const SLOTS_PER_BUCKET = 65_536
/** The list of all launches. The others are those of a status. */
const ALL = keysOf('n').gte
/** Listings that are read at a time, if more are skipped or have left the list. */
const LISTINGS_PER_READ_MAX = 1_000

/** Commits after which a mark is deleted, about 100 s: by then no process uses a snapshot from before the mark. */
const MARKED_COMMITS = 256
/** Maximum marks that wait for deletion; further ones stay, and readers skip them. */
const MARKS_MAX = 10_000

/**
 * Launches by mint, and lists of whole launches by cursor: of all, and of those in a status. A launch that leaves a list
 * is marked in it by the same commit, and the mark is deleted later.
 */
export function launchTable(base: ScyllaBase): Table<LaunchStore> {
  const launches = new AddressedRows(base, 'launches')
  const lists = new LaunchLists(base)
  return {
    port: {
      get: (mint) => launches.get(mint),
      page: (page) => readConsistently(base, () => lists.page(page))
    },
    stage: (commit: Commit) => change(commit, { put: commit.blocks.launches, remove: [] }),
    amend: (commit, amendment) => change(commit, amendment.launches)
  }

  async function change(commit: TableCommit, { put, remove }: Edit<LaunchRow, Pubkey>): Promise<void> {
    const mints = [...put.map(({ mint }) => mint), ...remove]
    const stored = await launches.committed(commit, mints)
    await Promise.all([
      launches.amend(commit, { put, remove }),
      lists.stage(
        commit,
        stored.map((before, i) => ({ row: put[i] ?? null, before }))
      )
    ])
  }
}

/** A launch as a commit leaves it, and as it was before; null if it is, or was, absent. */
interface LaunchChange {
  readonly row: LaunchRow | null
  readonly before: LaunchRow | null
}

class LaunchLists {
  readonly #base: ScyllaBase
  readonly #launches: BucketedRecords<LaunchRow | null>
  /** The records of the listings, read without decoding the launches. */
  readonly #listings: BucketedRecords<true | null>
  /** Deletes marks, by the numbers of their commits, oldest first. */
  readonly #marks: { readonly number: number; readonly deletion: RowWrite }[] = []

  constructor(base: ScyllaBase) {
    this.#base = base
    this.#launches = new BucketedRecords(base, layoutOf(listedLaunchKind))
    this.#listings = new BucketedRecords(base, layoutOf(launchListingKind))
  }

  async page(page: LaunchPage): Promise<LaunchRow[]> {
    const { client, visibility } = this.#base
    client.assertOpen()
    const { head } = visibility.snapshot
    const rows: LaunchRow[] = []
    if (page.limit <= 0 || head === null) return rows
    const list = page.status === undefined ? ALL : launchKeysOf(page.status).gte
    const range = await this.#without(list, rangeOf(page, cursorAt(head.slot + 1, 0)), page.offset ?? 0)
    if (range === null) return rows
    for await (const { value } of listed(this.#launches, list, range, page.limit)) {
      rows.push(value)
      if (rows.length === page.limit) break
    }
    return rows
  }

  async stage(commit: TableCommit, changes: readonly LaunchChange[]): Promise<void> {
    const records = new Map<string, Place & { readonly value: LaunchRow | null }>()
    const put = ({ status, cursor }: LaunchRow, value: LaunchRow | null): void => {
      for (const owner of [ALL, launchKeysOf(status).gte])
        records.set(`${keyText(owner)}${cursor}`, { owner, position: cursor, value })
    }
    for (const { before } of changes) if (before !== null) put(before, null)
    for (const { row } of changes) if (row !== null) put(row, row)
    const staged = [...records.values()]
    await this.#launches.stage(commit, staged)
    const left = staged.filter(({ value }) => value === null)
    commit.whenVisible(() => this.#mark(commit, left))
    this.#tidyUp(commit)
  }

  #mark(version: Version, places: readonly Place[]): void {
    for (const place of places)
      if (this.#marks.length < MARKS_MAX)
        this.#marks.push({ number: version.number, deletion: this.#launches.deletion(version, place) })
  }

  #tidyUp(commit: TableCommit): void {
    const old = this.#marks.findIndex(({ number }) => number > commit.number - MARKED_COMMITS)
    for (const { deletion } of this.#marks.splice(0, old < 0 ? this.#marks.length : old))
      commit.afterwards(deletion)
  }

  /** The range without its first `count` launches; null if it has no more. */
  async #without(list: Key, range: CursorRange, count: number): Promise<CursorRange | null> {
    if (count === 0) return range
    let passed = 0
    for await (const { position } of listed(this.#listings, list, range, count))
      if (++passed === count) return beyond(range, position)
    return null
  }
}

type CursorRange = Omit<PositionRange, 'limit'>

/**
 * Reads a list without the launches that have left it, page by page as the caller takes them. `expected` is the likely
 * number.
 */
async function* listed<T>(
  records: BucketedRecords<T | null>,
  list: Key,
  range: CursorRange,
  expected: number
): AsyncGenerator<{ readonly position: number; readonly value: T }, void> {
  const limit = Math.min(expected, LISTINGS_PER_READ_MAX)
  for (let rest = range; ;) {
    const read = await records.range(list, { ...rest, limit })
    for (const { position, value } of read) if (value !== null) yield { position, value }
    if (read.length < limit) return
    rest = beyond(rest, read.at(-1)!.position)
  }
}

/** The part of a range that comes after a position in its order. */
const beyond = (range: CursorRange, position: number): CursorRange =>
  range.order === 'asc' ? { ...range, gte: position + 1 } : { ...range, lt: position }

/** The cursors that a page requests. A launch is likely at the newer end, and at the cursor of an earlier page. */
function rangeOf({ from, order }: LaunchPage, end: number): CursorRange {
  const all = { gte: 0, lt: end, order, likely: order === 'desc' || from !== undefined }
  return from === undefined ? all : beyond(all, Math.min(Math.max(from, 0), end))
}

function layoutOf<T>(kind: RecordKind<T>): BucketedLayout<T> {
  return {
    table: 'launch_lists',
    position: 'cursor',
    positionBytes: 8,
    positionsPerBucket: cursorAt(SLOTS_PER_BUCKET, 0),
    kind
  }
}
