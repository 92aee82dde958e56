import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import {
  addressIn,
  keyAfter,
  keysFrom,
  keyText,
  openPageKey,
  type Key,
  type KeyRange
} from '../codec/keys.ts'
import type { WalletReference } from '../codec/wallet-reference.ts'
import type { CachedFact } from './cached-fact.ts'
import { SEARCHED_PAGES } from './row-finder.ts'
import { compactTradePages } from './row-lists.ts'
import type { View } from './view.ts'

/** A mint whose address begins with some bytes, by the first of its keys. */
const mintOfStart: CachedFact<Pubkey> = { sign: '[', weigh: () => 100 }
/** Mints whose pages are searched at once: two for each of the engine's threads, which then rest less. */
const SEARCHES_AT_ONCE = 8
/** Pages that are read between two turns of other work: a millisecond. */
const PAGES_PER_TURN = 16

const { finder } = compactTradePages

/** References to trades of one mint, or of several whose addresses begin alike. */
interface References {
  /** Keys of pages of these mints. */
  readonly range: KeyRange
  readonly cursors: readonly number[]
}

/** A page with some rows that references name. */
interface NamedPage {
  readonly key: Key
  readonly cursors: number[]
}

/**
 * Reads the trades of references, in their order. First the pages that have them are found: by places that are cached, or else
 * by searches, several at once. Then each page is read once.
 */
export async function referencedTrades(
  view: View,
  references: readonly WalletReference[]
): Promise<TradeRow[]> {
  const pages = new NamedPages()
  const unknown: References[] = []
  for (const group of Map.groupBy(references, ({ mintStart }) => keyText(Buffer.from(mintStart))).values()) {
    const range = pagesOf(group[0]!)
    const cursors = group.map(({ cursor }) => cursor)
    const mint = view.recall(mintOfStart, range.gte)
    const left = mint === undefined ? cursors : addKnown(view, pages, mint, cursors)
    if (left.length > 0) unknown.push({ range, cursors: left })
  }
  const searchAll = async (): Promise<void> => {
    for (let next = unknown.pop(); next !== undefined; next = unknown.pop()) await search(view, pages, next)
  }
  await Promise.all(Array.from({ length: Math.min(SEARCHES_AT_ONCE, unknown.length) }, searchAll))
  const rows = await pages.read(view)
  const trades: TradeRow[] = []
  for (const reference of references)
    trades.push(rows.get(reference.cursor) ?? (await tradeAt(view, reference)))
  return trades
}

/** Adds the pages whose places are cached. Returns the cursors of the others. */
function addKnown(
  view: View,
  pages: NamedPages,
  mint: Pubkey,
  cursors: readonly number[]
): readonly number[] {
  return cursors.filter((cursor) => {
    const key = finder.known(view, mint, cursor)
    if (key !== null) pages.add(key, cursor)
    return key === null
  })
}

/** Searches pages. Those that are not found, or cannot be read, are left to `tradeAt`. */
async function search(view: View, pages: NamedPages, { range, cursors }: References): Promise<void> {
  try {
    const mint = view.recall(mintOfStart, range.gte) ?? (await searchMint(view, range))
    if (mint === null) return
    for (const cursor of cursors) {
      const key = finder.known(view, mint, cursor) ?? (await finder.search(view, mint, cursor))
      if (key !== null) pages.add(key, cursor)
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
}

/** Searches the first mint of a range, and caches it with the places of its first pages. */
async function searchMint(view: View, range: KeyRange): Promise<Pubkey | null> {
  const keys = await view.keys(range, SEARCHED_PAGES)
  if (keys[0] === undefined) return null
  const mint = addressIn(keys[0])
  view.remember(mintOfStart, range.gte, mint)
  finder.rememberFirst(
    view,
    mint,
    keys.filter((key) => samePubkey(addressIn(key), mint))
  )
  return mint
}

/** Pages that are to be read, each once. */
class NamedPages {
  readonly #pages = new Map<string, NamedPage>()

  add(key: Key, cursor: number): void {
    const text = keyText(key)
    const page = this.#pages.get(text)
    if (page === undefined) this.#pages.set(text, { key, cursors: [cursor] })
    else page.cursors.push(cursor)
  }

  /** Reads the named rows, by cursor. Pages that cannot be read are left out. */
  async read(view: View): Promise<Map<number, TradeRow>> {
    const rows = new Map<number, TradeRow>()
    let read = 0
    for (const { key, cursors } of this.#pages.values()) {
      try {
        for (const row of finder.rowsIn(
          view,
          key,
          cursors.sort((a, b) => a - b)
        ))
          rows.set(row.cursor, row)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
      }
      if (++read % PAGES_PER_TURN === 0) await yieldToEventLoop()
    }
    return rows
  }
}

const pagesOf = ({ mintStart }: WalletReference): KeyRange =>
  keysFrom(Buffer.concat([Buffer.from('t', 'latin1'), mintStart]))

/**
 * Searches the trade of a reference, in all mints whose addresses begin alike. Throws if it is missing. Needed where cached places are
 * outdated or where pages cannot be read.
 */
async function tradeAt(view: View, reference: WalletReference): Promise<TradeRow> {
  const { gte, lt } = pagesOf(reference)
  const { cursor } = reference
  for (let from = gte; ;) {
    const [key] = await view.keys({ gte: from, lt }, 1)
    if (key === undefined)
      throw new ServiceError(
        ERRORS.STORAGE_UNAVAILABLE,
        `the trade of a wallet at cursor ${cursor} is missing`
      )
    const mint = addressIn(key)
    const row = await finder.find(view, mint, cursor)
    if (row !== null) return row
    from = keyAfter(openPageKey('t', mint))
  }
}
