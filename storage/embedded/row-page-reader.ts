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

  #page(view: View, key: Key, unused: number): RowPage<Row> | null {
    const decode = (contents: Uint8Array): RowPage<Row> => partialPage(this.#codec, contents, unused)
    return view.getPage(this.#kind, key, unused === 0 ? undefined : decode)
  }

  /** A page that others name; null if it is past the retention and deleted. */
  pageAt(view: View, key: Key, unused = 0): RowPage<Row> | null {
    const page = this.#page(view, key, unused)
    if (page === null && cursorOfPageKey(key) < horizonOf(view).cursor) return null
    if (page === null) throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `a ${this.#kind.name} is missing`)
    return page
  }

  /** Reads from page to page back from the open one. Skips newer pages as long as they are cached. */
  #newest(view: View, owner: Pubkey, query: RowRequest): MaybePromise<Row[]> {
    let page = this.#page(view, openPageKey(this.#list, owner), query.unusedBits ?? 0)
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
    const page = key === null ? null : this.pageAt(view, key, query.unusedBits)
    return page === null ? [] : this.#readBackward(view, owner, page, query, [])
  }

  #readBackward(
    view: View,
    owner: Pubkey,
    first: RowPage<Row>,
    query: RowRequest,
    rows: Row[]
  ): MaybePromise<Row[]> {
    let page = first
    for (let read = 1; !takeNewest(rows, page, query) && page.older !== null; read++) {
      const older = this.pageAt(view, pageKey(this.#list, owner, page.older), query.unusedBits)
      if (older === null) return rows
      page = older
      if (read === PAGES_PER_TURN)
        return yieldToEventLoop().then(() => this.#readBackward(view, owner, page, query, rows))
    }
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
    for await (const [, page] of view.scan(this.#kind, range, { expected: this.#pagesOf(query.limit) }))
      if (takeOldest(rows, page, query)) break
    return rows
  }

  /** One more than full pages would need, because the read begins in the middle of the first page. */
  #pagesOf(rows: number): number {
    return Math.ceil(rows / this.#pageRows) + 1
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
