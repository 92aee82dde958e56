import type { Pubkey } from '../../src/chain/pubkey.ts'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Edit } from '../../src/market/amendment.ts'
import {
  addressIn,
  cursorOfPageKey,
  isOpenPageKey,
  keyAfter,
  keysOf,
  openPageKey,
  pageKey
} from '../codec/keys.ts'
import type { Key, PageList } from '../codec/keys.ts'
import { unpackRecord, type RecordKind } from '../codec/record.ts'
import { appendedTo, endOf, type PageEnd } from './page-end.ts'
import { closedPage, extendPage, rowPageKind } from './row-page.ts'
import type { RowPage } from './row-page.ts'
import { PAGES_PER_TURN, RowPageReader, type RowRequest } from './row-page-reader.ts'
import type { RowBefore, RowCodec } from '../codec/row-origin.ts'
import { RowFinder } from './row-finder.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/**
 * Lists of rows in cursor order, one for each owner (a mint, a pool). The newest rows are in the open page, whose key is
 * known without a search. A full page moves to the key of its first cursor once the next row comes. Each page names the one
 * before it, so that the newest rows are found without a search.
 */
export class RowPages<Row extends Before & { readonly cursor: number }, Before = RowBefore> {
  readonly #list: PageList
  readonly #pageRows: number
  readonly #codec: RowCodec<Row, Before>
  readonly kind: RecordKind<RowPage<Row>>
  readonly #reader: RowPageReader<Row, Before>
  /** Finds single rows. */
  readonly finder: RowFinder<Row, Before>

  constructor(list: PageList, name: string, codec: RowCodec<Row, Before>, pageRows: number) {
    this.#list = list
    this.#pageRows = pageRows
    this.#codec = codec
    this.kind = rowPageKind(name, codec)
    this.#reader = new RowPageReader(list, pageRows, codec, this.kind)
    this.finder = new RowFinder(list, codec, this.kind)
  }

  /**
   * Appends rows to the lists of their owners; the rows of an owner come in cursor order. Caches pages decoded, for lists
   * that are read in the near future.
   */
  async stage(
    view: View,
    batch: WriteBatch,
    rows: readonly Row[],
    ownerOf: (row: Row) => Pubkey
  ): Promise<void> {
    const lists = [...Map.groupBy(rows, (row) => pubkeyMapKey(ownerOf(row))).values()]
    const owners = lists.map((list) => ownerOf(list[0]!))
    const open = await view.getMany(
      this.kind,
      owners.map((owner) => openPageKey(this.#list, owner))
    )
    for (const [i, list] of lists.entries()) this.#append(batch, owners[i]!, open[i]!, list)
  }

  /** Appends rows like `stage`, and caches pages as bytes: for many blocks, whose rows are not read in the near future. */
  async append<Owned extends Row>(
    view: View,
    batch: WriteBatch,
    rows: readonly Owned[],
    ownerOf: (row: Owned) => Pubkey
  ): Promise<void> {
    const lists = [...Map.groupBy(rows, (row) => pubkeyMapKey(ownerOf(row))).values()]
    const keys = lists.map((list) => openPageKey(this.#list, ownerOf(list[0]!)))
    const open = await view.getMany(this.kind, keys, false)
    for (const [i, list] of lists.entries()) {
      const before = open[i] ?? null
      let page: PageEnd<Row, Before> | null = before === null ? null : endOf(this.#codec, before)
      for (let taken = 0; taken < list.length;) {
        let older = page?.older ?? null
        if (page !== null && page.count >= this.#pageRows) {
          older = page.first
          batch.putUncached(this.kind, pageKey(this.#list, ownerOf(list[0]!), older), page)
          page = null
        }
        const some = list.slice(taken, taken + this.#pageRows - (page?.count ?? 0))
        page = appendedTo(this.#codec, page, some, older)
        taken += some.length
      }
      if (page !== null) batch.putOwned(this.kind, keys[i]!, page)
    }
  }

  /** Puts rows in place of those with their cursors, or between others, and removes rows from their lists. */
  async amend<Owned extends Row>(
    view: View,
    batch: WriteBatch,
    edit: Edit<Owned, Owned>,
    ownerOf: (row: Owned) => Pubkey
  ): Promise<void> {
    const changes = [
      ...edit.remove.map((row) => ({ row, isPut: false })),
      ...edit.put.map((row) => ({ row, isPut: true }))
    ]
    for (const ofOwner of Map.groupBy(changes, ({ row }) => pubkeyMapKey(ownerOf(row))).values()) {
      const owner = ownerOf(ofOwner[0]!.row)
      const first = Math.min(...ofOwner.map(({ row }) => row.cursor))
      const { rows, older } = await this.#takeOut(view, batch, owner, first)
      const byCursor = new Map<number, Row>(rows.map((row) => [row.cursor, row]))
      for (const { row, isPut } of ofOwner) {
        if (isPut) byCursor.set(row.cursor, row)
        else byCursor.delete(row.cursor)
      }
      const rest = [...byCursor.values()].sort((a, b) => a.cursor - b.cursor)
      this.#putBack(view, batch, owner, rest, older)
    }
  }

  /** Rows of an owner, `limit` at most, in the requested order. */
  read(view: View, owner: Pubkey, page: RowRequest): MaybePromise<Row[]> {
    return this.#reader.read(view, owner, page)
  }

  /**
   * Checks the next pages from a key on, at most `limit`. Returns those with every row below a cursor, and the key to
   * continue at, or null at the end. For closed pages it reads only keys: all rows of a page are below the
   * first row of the page after it.
   */
  async expired(
    view: View,
    from: Key,
    cursor: number,
    limit: number
  ): Promise<{ readonly keys: readonly Key[]; readonly next: Key } | null> {
    const found = await view.keys({ gte: from, lt: keysOf(this.#list).lt }, limit + 1)
    const seen = found.slice(0, limit)
    const last = seen.at(-1)
    if (last === undefined) return null
    const isLive = (key: Key | undefined): boolean =>
      key !== undefined && !isOpenPageKey(key) && cursorOfPageKey(key) >= cursor
    const open = found.filter((key, i) => isOpenPageKey(key) && !isLive(found[i - 1]))
    const pages = await view.getMany(this.kind, open, false)
    const openPage = new Map(open.map((key, i) => [key, pages[i]]))
    const keys = seen.filter((key, i) => {
      const after = found[i + 1]
      if (isOpenPageKey(key)) return (openPage.get(key)?.rows.at(-1)?.cursor ?? Infinity) < cursor
      if (isLive(key) || after === undefined) return false
      return (openPage.get(after)?.rows[0]?.cursor ?? cursorOfPageKey(after)) <= cursor
    })
    return { keys, next: keyAfter(isLive(last) ? openPageKey(this.#list, addressIn(last)) : last) }
  }

  /** Tells whether every row of a page is below a cursor; true also for a deleted page. */
  isExpired(view: View, key: Key, cursor: number): boolean {
    const page = view.get(this.kind, key)
    return page === null || page.rows.at(-1)!.cursor < cursor
  }

  /** The rows of a page's bytes. Throws as `unpackRecord` does. */
  rowsIn(key: Key, bytes: Uint8Array): readonly Row[] {
    return unpackRecord(this.kind, key, bytes).rows
  }

  /**
   * Makes one list of an owner's remaining pages and of rows from lost pages. Rows between two pages become pages, each page
   * names the one before it, and the last one becomes the open page.
   */
  async mend(view: View, batch: WriteBatch, owner: Pubkey, found: readonly Row[]): Promise<void> {
    const lost = [...found].sort((a, b) => a.cursor - b.cursor)
    const openKey = openPageKey(this.#list, owner)
    let end = -1
    let last: { readonly key: Key | null; readonly page: RowPage<Row> } | null = null
    const place = (key: Key): void => {
      if (last === null || last.key?.equals(key) === true) return
      if (last.key !== null) batch.delete(last.key)
      batch.putOwned(this.kind, key, last.page)
    }
    const append = (key: Key | null, page: RowPage<Row>): void => {
      const older = last?.page.rows[0]!.cursor ?? null
      if (older !== null) place(pageKey(this.#list, owner, older))
      if (key !== null && page.older !== older) batch.putOwned(this.kind, key, { ...page, older })
      last = { key, page: { ...page, older } }
      end = page.rows.at(-1)!.cursor
    }
    const appendLost = (until: number): void => {
      const rows = lost.filter(({ cursor }) => cursor > end && cursor < until)
      for (let at = 0; at < rows.length; at += this.#pageRows) {
        const older = null
        append(null, extendPage(this.#codec, null, rows.slice(at, at + this.#pageRows), older))
      }
    }
    const pages = { gte: pageKey(this.#list, owner, 0), lt: keyAfter(openKey) }
    for await (const [key, page] of view.scan(this.kind, pages, { expected: PAGES_PER_TURN })) {
      appendLost(page.rows[0]!.cursor)
      append(key, page)
    }
    appendLost(Infinity)
    place(openKey)
  }

  #append(
    batch: WriteBatch,
    owner: Pubkey,
    open: RowPage<Row> | null,
    rows: readonly Row[],
    /** The page before, if none is open. */
    before: number | null = null
  ): void {
    let page = open
    for (let taken = 0; taken < rows.length;) {
      let older = page === null ? before : page.older
      if (page !== null && page.rows.length >= this.#pageRows) {
        older = page.rows[0]!.cursor
        batch.putOwned(this.kind, pageKey(this.#list, owner, older), page, closedPage(page))
        page = null
      }
      const held = page?.rows.length ?? 0
      const room = this.#pageRows - held
      page = extendPage(this.#codec, page, rows.slice(taken, taken + room), older)
      taken += room
    }
    if (page !== null) batch.putOwned(this.kind, openPageKey(this.#list, owner), page)
  }

  /** Deletes the pages from the one that a cursor belongs to on. Returns their rows and the page before them. */
  async #takeOut(
    view: View,
    batch: WriteBatch,
    owner: Pubkey,
    cursor: number
  ): Promise<{ rows: Row[]; older: number | null }> {
    const first = pageKey(this.#list, owner, 0)
    const from = (await view.lastKey({ gte: first, lt: pageKey(this.#list, owner, cursor + 1) })) ?? first
    const range = { gte: from, lt: keyAfter(openPageKey(this.#list, owner)) }
    const rows: Row[] = []
    let older: number | null | undefined
    for await (const [key, page] of view.scan(this.kind, range, { expected: PAGES_PER_TURN })) {
      if (older === undefined) older = page.older
      rows.push(...page.rows)
      batch.delete(key)
    }
    return { rows, older: older ?? null }
  }

  /** Rewrites the end of a list, after a page that stays. Without rows that page becomes the open one. */
  #putBack(view: View, batch: WriteBatch, owner: Pubkey, rows: readonly Row[], older: number | null): void {
    if (rows.length > 0) this.#append(batch, owner, null, rows, older)
    else if (older !== null) {
      const key = pageKey(this.#list, owner, older)
      const last = this.#reader.pageAt(view, key)
      if (last === null) return
      batch.delete(key)
      this.#append(batch, owner, null, last.rows, last.older)
    }
  }
}
