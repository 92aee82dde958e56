import type { Pubkey } from '../../src/chain/pubkey.ts'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { PageRequest } from '../port.ts'
import { keyAfter, openPageKey, pageKey } from './keys.ts'
import type { PageList } from './keys.ts'
import type { RecordKind } from './record.ts'
import { closedPage, extendPage, rowPageKind } from './row-page.ts'
import type { RowPage } from './row-page.ts'
import type { RowCodec } from './row-origin-codec.ts'
import type { Soon } from './soon.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

const CURSOR_MAX = Number.MAX_SAFE_INTEGER
/** Chosen: a query that begins further back finds its first page sooner on disk. */
const SKIPPED_PAGES_MAX = 64

/**
 * Lists of rows in cursor order, one for each owner (a mint, a pool). The newest rows are in the open page, at a
 * key that is known without looking; a full page moves to the key of its first cursor once the next row comes.
 */
export class RowPages<Row extends { readonly cursor: number }> {
  readonly #list: PageList
  readonly #pageRows: number
  readonly #codec: RowCodec<Row>
  readonly #kind: RecordKind<RowPage<Row>>

  constructor(list: PageList, name: string, codec: RowCodec<Row>, pageRows: number) {
    this.#list = list
    this.#pageRows = pageRows
    this.#codec = codec
    this.#kind = rowPageKind(name, codec)
  }

  /**
   * Appends rows to the lists of their owners; the rows of an owner come in cursor order. Gives the rows as memory
   * keeps them, in cursor order: another list that takes them as `owned` keeps the same ones.
   */
  async stage(
    view: View,
    batch: WriteBatch,
    rows: readonly Row[],
    ownerOf: (row: Row) => Pubkey,
    owned = false
  ): Promise<Row[]> {
    const lists = [...Map.groupBy(rows, (row) => pubkeyMapKey(ownerOf(row))).values()]
    const owners = lists.map((list) => ownerOf(list[0]!))
    const open = await view.getMany(
      this.#kind,
      owners.map((owner) => openPageKey(this.#list, owner))
    )
    const kept = lists.flatMap((list, i) => this.#append(batch, owners[i]!, open[i]!, list, owned))
    return kept.sort((a, b) => a.cursor - b.cursor)
  }

  /** Rows of an owner, `limit` at most, in the order asked for. */
  read(view: View, owner: Pubkey, page: PageRequest): Soon<Row[]> {
    if (page.limit <= 0) return []
    return page.order === 'desc'
      ? (this.#newestInMemory(view, owner, page) ?? this.#newestOnDisk(view, owner, page))
      : (this.#oldestInMemory(view, owner, page) ?? this.#oldestOnDisk(view, owner, page))
  }

  #append(
    batch: WriteBatch,
    owner: Pubkey,
    open: RowPage<Row> | null,
    rows: readonly Row[],
    owned: boolean
  ): readonly Row[] {
    const kept: Row[] = []
    let page = open
    for (let taken = 0; taken < rows.length;) {
      let older = page === null ? null : page.older
      if (page !== null && page.rows.length >= this.#pageRows) {
        older = pageKey(this.#list, owner, page.rows[0]!.cursor)
        batch.putOwned(this.#kind, older, page, closedPage(page))
        page = null
      }
      const held = page?.rows.length ?? 0
      const room = this.#pageRows - held
      page = extendPage(this.#codec, page, rows.slice(taken, taken + room), owned)
      page.older = older
      kept.push(...page.rows.slice(held))
      taken += room
    }
    if (page !== null) batch.putOwned(this.#kind, openPageKey(this.#list, owner), page)
    return kept
  }

  /** From page to page back from the open one; null where memory ends before the query does. */
  #newestInMemory(view: View, owner: Pubkey, query: PageRequest): Row[] | null {
    const rows: Row[] = []
    let page = view.hot(this.#kind, openPageKey(this.#list, owner))
    for (let skipped = 0; page !== undefined && skipped < SKIPPED_PAGES_MAX;) {
      if (page === null || takeNewest(rows, page, query)) return rows
      if (rows.length === 0) skipped++
      const { older } = page
      if (older === null) return rows
      // A page that is linked to is there: a null would mean that memory is wrong.
      page = older === undefined ? undefined : (view.hot(this.#kind, older) ?? undefined)
    }
    return null
  }

  async #newestOnDisk(view: View, owner: Pubkey, query: PageRequest): Promise<Row[]> {
    const rows: Row[] = []
    const openKey = openPageKey(this.#list, owner)
    const first = pageKey(this.#list, owner, 0)
    let lt = keyAfter(openKey)
    /** The page after the next one read, where nothing is between the two. */
    let newer: RowPage<Row> | null = null
    if (query.from !== undefined) {
      const open = view.get(this.#kind, openKey)
      if (open === null || takeNewest(rows, open, query)) return rows
      const begins = open.rows[0]!.cursor < query.from
      lt = begins ? openKey : pageKey(this.#list, owner, Math.max(query.from, 0))
      if (begins) newer = open
    }
    const options = { reverse: true, expected: this.#pagesOf(query.limit - rows.length), keep: true }
    for await (const [key, page] of view.scan(this.#kind, { gte: first, lt }, options)) {
      if (newer !== null && view.newest) newer.older = key
      newer = page
      if (takeNewest(rows, page, query)) return rows
    }
    if (newer !== null && view.newest) newer.older = null
    if (newer === null && query.from === undefined) view.rememberAbsent(openKey)
    return rows
  }

  /** Only of the open page: whoever reads forward reads long lists once, and memory is not kept for that. */
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
      // The page whose first cursor is the last one up to there may hold what comes next.
      const next = Math.min(Math.max(query.from, -1), CURSOR_MAX - 1) + 1
      range.gte = (await view.lastKey({ gte: first, lt: pageKey(this.#list, owner, next) })) ?? first
    }
    for await (const [, page] of view.scan(this.#kind, range, { expected: this.#pagesOf(query.limit) }))
      if (takeOldest(rows, page, query)) break
    return rows
  }

  /** One more than full pages would need, as the first one is entered in its middle. */
  #pagesOf(rows: number): number {
    return Math.ceil(rows / this.#pageRows) + 1
  }
}

/** Takes what belongs to the query, newest first; true when nothing older can. */
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
