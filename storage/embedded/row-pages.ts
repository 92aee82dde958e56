import type { Pubkey } from '../../src/chain/pubkey.ts'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { PageRequest } from '../port.ts'
import { openPageKey, pageKey } from './keys.ts'
import type { Key, PageList } from './keys.ts'
import type { RecordKind } from './record.ts'
import { extendPage, rowPageKind } from './row-page.ts'
import type { RowPage } from './row-page.ts'
import type { RowCodec } from './row-origin-codec.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/**
 * Rows in a page: a block rewrites half a page of each list it touches, a query reads one value a page. At 32 a
 * page is some 4 KB and the newest 100 rows are four values (src/docs/decisions/0002-embedded-engine.md).
 */
const PAGE_ROWS = 32
const CURSOR_MAX = Number.MAX_SAFE_INTEGER

/**
 * Lists of rows in cursor order, one for each owner (a mint, a pool). The newest rows are in the open page, at a
 * key that is known without looking; a full page moves to the key of its first cursor once the next row comes.
 */
export class RowPages<Row extends { readonly cursor: number }> {
  readonly #list: PageList
  readonly #codec: RowCodec<Row>
  readonly #kind: RecordKind<RowPage<Row>>

  constructor(list: PageList, name: string, codec: RowCodec<Row>) {
    this.#list = list
    this.#codec = codec
    this.#kind = rowPageKind(name, codec)
  }

  /** Appends rows to the lists of their owners; the rows of an owner come in cursor order. */
  async stage(
    view: View,
    batch: WriteBatch,
    rows: readonly Row[],
    ownerOf: (row: Row) => Pubkey
  ): Promise<void> {
    const lists = [...Map.groupBy(rows, (row) => pubkeyMapKey(ownerOf(row))).values()]
    const owners = lists.map((list) => ownerOf(list[0]!))
    const open = await view.getMany(
      this.#kind,
      owners.map((owner) => openPageKey(this.#list, owner))
    )
    lists.forEach((list, i) => this.#append(batch, owners[i]!, open[i]!, list))
  }

  /** Rows of an owner, `limit` at most, in the order asked for. */
  async read(view: View, owner: Pubkey, page: PageRequest): Promise<Row[]> {
    if (page.limit <= 0) return []
    const open = await view.get(this.#kind, openPageKey(this.#list, owner))
    if (open === null) return []
    return page.order === 'desc'
      ? this.#descending(view, owner, open, page)
      : this.#ascending(view, owner, open, page)
  }

  #append(batch: WriteBatch, owner: Pubkey, open: RowPage<Row> | null, rows: readonly Row[]): void {
    let page = open
    for (let taken = 0; taken < rows.length;) {
      let older = page === null ? null : page.older
      if (page !== null && page.rows.length >= PAGE_ROWS) {
        older = pageKey(this.#list, owner, page.rows[0]!.cursor)
        batch.putOwned(this.#kind, older, page)
        page = null
      }
      const room = PAGE_ROWS - (page?.rows.length ?? 0)
      page = extendPage(this.#codec, page, rows.slice(taken, taken + room))
      page.older = older
      taken += room
    }
    if (page !== null) batch.putOwned(this.#kind, openPageKey(this.#list, owner), page)
  }

  async #descending(view: View, owner: Pubkey, open: RowPage<Row>, page: PageRequest): Promise<Row[]> {
    const rows: Row[] = []
    const from = Math.min(page.from ?? CURSOR_MAX, CURSOR_MAX)
    if (takeNewest(rows, open, page)) return rows

    // From page to page in memory, as far as it goes.
    let newer = open
    let reached = openPageKey(this.#list, owner)
    for (;;) {
      if (newer.older === null) return rows
      const older = newer.older === undefined ? undefined : view.hot(this.#kind, newer.older)
      if (older === undefined || older === null) break
      if (takeNewest(rows, older, page)) return rows
      reached = newer.older!
      newer = older
    }

    const first = pageKey(this.#list, owner, 0)
    const start = pageKey(this.#list, owner, Math.max(from, 0))
    const contiguous = Buffer.compare(reached, start) <= 0
    let linked: RowPage<Row> | null = contiguous ? newer : null
    const range = { gte: first, lt: contiguous ? reached : start }
    const expected = pagesOf(page.limit - rows.length)
    for await (const [key, older] of view.scan(this.#kind, range, { reverse: true, expected, keep: true })) {
      if (linked !== null && view.newest) linked.older = key
      linked = older
      if (takeNewest(rows, older, page)) return rows
    }
    if (linked !== null && view.newest) linked.older = null
    return rows
  }

  /** Does not warm the memory: whoever reads forward reads long lists once. */
  async #ascending(view: View, owner: Pubkey, open: RowPage<Row>, page: PageRequest): Promise<Row[]> {
    const rows: Row[] = []
    const from = Math.max(page.from ?? -1, -1)
    if (open.rows[0]!.cursor > from + 1) {
      const first = pageKey(this.#list, owner, 0)
      const gte = (await this.#keyBelow(view, first, owner, from + 1)) ?? first
      const range = { gte, lt: openPageKey(this.#list, owner) }
      const expected = pagesOf(page.limit)
      for await (const [, older] of view.scan(this.#kind, range, { expected }))
        if (takeOldest(rows, older, page)) return rows
    }
    takeOldest(rows, open, page)
    return rows
  }

  /** The page whose first cursor is below another: the one that may hold it. */
  #keyBelow(view: View, first: Key, owner: Pubkey, cursor: number): Promise<Key | null> {
    return view.lastKey({ gte: first, lt: pageKey(this.#list, owner, cursor) })
  }
}

/** One more than full pages would need, as the first one is entered in its middle. */
const pagesOf = (rows: number): number => Math.ceil(rows / PAGE_ROWS) + 1

/** Takes what belongs to the query, newest first; true when nothing older can. */
function takeNewest<Row extends { readonly cursor: number }>(
  into: Row[],
  page: RowPage<Row>,
  query: PageRequest
): boolean {
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
