import type { Pubkey } from '../../src/chain/pubkey.ts'
import { cursorOfPageKey, isOpenPageKey, openPageKey, pageKey } from '../codec/keys.ts'
import type { Key, PageList } from '../codec/keys.ts'
import { decoded, type RecordKind } from '../codec/record.ts'
import type { RowCodec } from '../codec/row-origin.ts'
import { pagePlaces, placeOf, withPages, type PagePlaces } from './page-places.ts'
import { pageHead, rowsAt, type RowPage } from './row-page.ts'
import type { View } from './view.ts'

/**
 * Keys of pages that one search reads. Later rows of the list are then found without a search. A search of sixteen keys takes twice the
 * time of one of a single key, most of which is the hand-over to the engine's threads.
 */
export const SEARCHED_PAGES = 16

/** Finds rows of the lists of `RowPages` by their cursors: the page that has a row, and the row in it. */
export class RowFinder<Row extends Before & { readonly cursor: number }, Before> {
  readonly #list: PageList
  readonly #codec: RowCodec<Row, Before>
  readonly #kind: RecordKind<RowPage<Row>>

  constructor(list: PageList, codec: RowCodec<Row, Before>, kind: RecordKind<RowPage<Row>>) {
    this.#list = list
    this.#codec = codec
    this.#kind = kind
  }

  /** Returns the key of the page that a row belongs to; null if only a search can tell, or if there is no list. */
  known(view: View, owner: Pubkey, cursor: number): Key | null {
    const places = this.#places(view, owner)
    const place = places === null ? null : placeOf(places, cursor)
    if (place === null) return null
    return place === places!.open ? openPageKey(this.#list, owner) : pageKey(this.#list, owner, place)
  }

  /** Searches the page that a row belongs to, and caches its place with those of the pages before it. */
  async search(view: View, owner: Pubkey, cursor: number): Promise<Key | null> {
    const range = { gte: pageKey(this.#list, owner, 0), lt: pageKey(this.#list, owner, cursor + 1) }
    const keys = await view.lastKeys(range, SEARCHED_PAGES)
    this.#remember(view, owner, keys.map(cursorOfPageKey).reverse(), cursor)
    return keys[0] ?? null
  }

  /** Caches the places of the first pages of a list, whose keys were read for another reason. */
  rememberFirst(view: View, owner: Pubkey, keys: readonly Key[]): void {
    const starts = keys.filter((key) => !isOpenPageKey(key)).map(cursorOfPageKey)
    this.#remember(view, owner, starts, starts.at(-1) ?? 0)
  }

  /** Reads the rows of a page that have the given cursors, ascending. Pages are cached as bytes. */
  rowsIn(view: View, key: Key, cursors: readonly number[]): Row[] {
    const page = view.contents(this.#kind, key)
    if (page === null) return []
    if (page instanceof Uint8Array) return decoded(this.#kind, key, () => rowsAt(this.#codec, page, cursors))
    const wanted = new Set(cursors)
    return page.value.rows.filter(({ cursor }) => wanted.has(cursor))
  }

  /**
   * Searches a row, in the closed page that it belongs to by its cursor and in the open one; null if the list lacks it. Known places are
   * not used, and forgotten.
   */
  async find(view: View, owner: Pubkey, cursor: number): Promise<Row | null> {
    view.remember(pagePlaces, openPageKey(this.#list, owner), null)
    const closed = await view.lastKey({
      gte: pageKey(this.#list, owner, 0),
      lt: pageKey(this.#list, owner, cursor + 1)
    })
    const [row] = closed === null ? [] : this.rowsIn(view, closed, [cursor])
    return row ?? this.rowsIn(view, openPageKey(this.#list, owner), [cursor])[0] ?? null
  }

  #remember(view: View, owner: Pubkey, starts: readonly number[], end: number): void {
    const places = this.#places(view, owner)
    if (places === null || starts.length === 0) return
    const known = withPages(places, starts, Math.min(end, places.open - 1))
    view.remember(pagePlaces, openPageKey(this.#list, owner), known)
  }

  /** Returns the known places of a list: at least those of the open page and the one before. Null if there is no list. */
  #places(view: View, owner: Pubkey): PagePlaces | null {
    const key = openPageKey(this.#list, owner)
    const known = view.recall(pagePlaces, key)
    if (known !== undefined && known !== null) return known
    const page = view.contents(this.#kind, key)
    if (page === null) return null
    const { first, older } =
      page instanceof Uint8Array
        ? decoded(this.#kind, key, () => pageHead(this.#codec, page))
        : { first: page.value.rows[0]!.cursor, older: page.value.older }
    const none: PagePlaces = { open: first, starts: [], ends: [] }
    const places = older === null ? none : withPages(none, [older], first - 1)
    view.remember(pagePlaces, key, places)
    return places
  }
}
