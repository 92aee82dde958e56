import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { PageRequest } from '../port.ts'
import { cursorOfPageKey, keyAfter, openPageKey, pageKey } from '../codec/keys.ts'
import type { Key, PageList } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import type { RowCodec } from '../codec/row-origin.ts'
import { horizonOf } from './horizon.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { partialPage, type RowPage } from './row-page.ts'
import type { View } from './view.ts'

const CURSOR_MAX = Number.MAX_SAFE_INTEGER
/** Maximum newer pages that a query skips. A query that begins further back finds its first page sooner by its key. */
const SKIPPED_PAGES_MAX = 64
/** Maximum further pages of a list that are read one by one if they are not cached. */
const SINGLE_READS_MAX = 3
/** Pages that are read between two turns of other work, about 40 µs each. */
export const PAGES_PER_TURN = 64

/** A page request of a list, with the sections of a row that the reader does not use, as bits of its codec. */
export type RowRequest = PageRequest & { readonly unusedBits?: number }

/** Reads the lists of `RowPages`: the newest rows from page to page, the oldest ones by their keys. */
export class RowPageReader<Row extends Before & { readonly cursor: number }, Before> {
  readonly #list: PageList
  readonly #pageRows: number
  readonly #codec: RowCodec<Row, Before>
  readonly #kind: RecordKind<RowPage<Row>>

  constructor(
    list: PageList,
    pageRows: number,
    codec: RowCodec<Row, Before>,
    kind: RecordKind<RowPage<Row>>
  ) {
    this.#list = list
    this.#pageRows = pageRows
    this.#codec = codec
    this.#kind = kind
  }

  /** Rows of an owner, `limit` at most, in the requested order. Unused sections of them may be empty. */
  read(view: View, owner: Pubkey, page: RowRequest): MaybePromise<Row[]> {
    const kept = withinRetention(page, horizonOf(view).cursor)
    if (kept.limit <= 0) return []
    return kept.order === 'desc'
      ? this.#newest(view, owner, kept)
      : (this.#oldestInMemory(view, owner, kept) ?? this.#oldestOnDisk(view, owner, kept))
  }

  /** Returns what decodes a page without the sections that the reader does not use; undefined if it uses all. */
  #decode({ unusedBits = 0 }: Pick<RowRequest, 'unusedBits'>) {
    if (unusedBits === 0) return undefined
    return (contents: Uint8Array): RowPage<Row> => partialPage(this.#codec, contents, unusedBits)
  }

  /** A page that others name; null if it is past the retention and deleted. */
  pageAt(view: View, key: Key, request: Pick<RowRequest, 'unusedBits'> = {}): RowPage<Row> | null {
    const page = view.getPage(this.#kind, key, this.#decode(request))
    if (page === null) this.#assertExpired(view, cursorOfPageKey(key))
    return page
  }

  /** Throws if a page that others name is missing, and not past the retention. */
  #assertExpired(view: View, cursor: number): void {
    if (cursor < horizonOf(view).cursor) return
    throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `a ${this.#kind.name} is missing`)
  }

  /** Reads from page to page back from the open one. Skips newer pages as long as they are cached. */
  #newest(view: View, owner: Pubkey, query: RowRequest): MaybePromise<Row[]> {
    let page = view.getPage(this.#kind, openPageKey(this.#list, owner), this.#decode(query))
    const { from = Infinity } = query
    for (let skipped = 0; page !== null && page.rows[0]!.cursor >= from; skipped++) {
      if (page.older === null) return []
      const older = pageKey(this.#list, owner, page.older)
      const known = skipped < SKIPPED_PAGES_MAX ? view.hot(this.#kind, older) : undefined
      if (known === undefined || known === null) return this.#newestBelow(view, owner, query, from)
      page = known
    }
    return page === null ? [] : this.#readBackward(view, owner, page, query, [])
  }

  /** Reads from the last page that begins before `from`. */
  async #newestBelow(view: View, owner: Pubkey, query: RowRequest, from: number): Promise<Row[]> {
    const range = { gte: pageKey(this.#list, owner, 0), lt: pageKey(this.#list, owner, Math.max(from, 0)) }
    const key = await view.lastKey(range)
    const page = key === null ? null : this.pageAt(view, key, query)
    return page === null ? [] : this.#readBackward(view, owner, page, query, [])
  }

  /**
   * Reads from page to page. Several pages that are not cached are read together, on the engine's threads: as many single reads
   * take more time of this thread, and make the engine merge tables.
   */
  #readBackward(
    view: View,
    owner: Pubkey,
    first: RowPage<Row>,
    query: RowRequest,
    rows: Row[]
  ): MaybePromise<Row[]> {
    let page = first
    for (let read = 1; !takeNewest(rows, page, query) && page.older !== null; read++) {
      const key = pageKey(this.#list, owner, page.older)
      // Most lists have two pages at most.
      const isScanned = read > 1 && this.#pagesOf(query.limit - rows.length) > SINGLE_READS_MAX
      if (isScanned && !view.isCached(key)) return this.#scanBackward(view, owner, page.older, query, rows)
      const older = this.pageAt(view, key, query)
      if (older === null) return rows
      page = older
      if (read === PAGES_PER_TURN)
        return yieldToEventLoop().then(() => this.#readBackward(view, owner, page, query, rows))
    }
    return rows
  }

  /** Reads from the page that begins at a cursor back. */
  async #scanBackward(
    view: View,
    owner: Pubkey,
    newest: number,
    query: RowRequest,
    rows: Row[]
  ): Promise<Row[]> {
    const range = {
      gte: pageKey(this.#list, owner, 0),
      lt: keyAfter(pageKey(this.#list, owner, newest))
    }
    const expected = this.#pagesOf(query.limit - rows.length)
    let next: number | null = newest
    for await (const [key, page] of view.pagesBack(this.#kind, range, expected, this.#decode(query))) {
      if (cursorOfPageKey(key) !== next) break
      next = page.older
      if (takeNewest(rows, page, query)) return rows
    }
    if (next !== null) this.#assertExpired(view, next)
    return rows
  }

  /** Reads only the open page. Readers that go forward read long lists once, so their pages are not cached. */
  #oldestInMemory(view: View, owner: Pubkey, query: PageRequest): Row[] | null {
    const open = view.hot(this.#kind, openPageKey(this.#list, owner))
    if (open === undefined) return null
    const rows: Row[] = []
    if (open === null) return rows
    if (open.older !== null && open.rows[0]!.cursor > (query.from ?? -1) + 1) return null
    takeOldest(rows, open, query)
    return rows
  }

  async #oldestOnDisk(view: View, owner: Pubkey, query: PageRequest): Promise<Row[]> {
    const rows: Row[] = []
    const first = pageKey(this.#list, owner, 0)
    const range = { gte: first, lt: keyAfter(openPageKey(this.#list, owner)) }
    if (query.from !== undefined) {
      // The last page whose first cursor is not above `from` may hold the next rows.
      const next = Math.min(Math.max(query.from, -1), CURSOR_MAX - 1) + 1
      range.gte = (await view.lastKey({ gte: first, lt: pageKey(this.#list, owner, next) })) ?? first
    }
    // The read begins in the middle of the first page.
    const expected = this.#pagesOf(query.limit) + 1
    for await (const [, page] of view.scan(this.#kind, range, { expected }))
      if (takeOldest(rows, page, query)) break
    return rows
  }

  /** Full pages that have so many rows. */
  #pagesOf(rows: number): number {
    return Math.ceil(rows / this.#pageRows)
  }
}

/** Limits a request to rows within the retention. */
function withinRetention(page: RowRequest, horizon: number): RowRequest {
  if (horizon === 0) return page
  return page.order === 'desc'
    ? { ...page, until: Math.max(page.until ?? 0, horizon) }
    : { ...page, from: Math.max(page.from ?? -1, horizon - 1) }
}

/** Takes the rows of a page that match the query, newest first. Returns true when no older row can match. */
function takeNewest<Row extends { readonly cursor: number }>(
  into: Row[],
  page: RowPage<Row>,
  query: PageRequest
): boolean {
  if (query.from !== undefined && page.rows[0]!.cursor >= query.from) return false
  for (let i = page.rows.length - 1; i >= 0; i--) {
    const row = page.rows[i]!
    if (query.from !== undefined && row.cursor >= query.from) continue
    if (query.until !== undefined && row.cursor < query.until) return true
    into.push(row)
    if (into.length === query.limit) return true
  }
  return false
}

function takeOldest<Row extends { readonly cursor: number }>(
  into: Row[],
  page: RowPage<Row>,
  query: PageRequest
): boolean {
  for (const row of page.rows) {
    if (query.from !== undefined && row.cursor <= query.from) continue
    if (query.until !== undefined && row.cursor > query.until) return true
    into.push(row)
    if (into.length === query.limit) return true
  }
  return false
}
