import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import type { MarketStores, TokenSpan } from '../../archive/market-stores.ts'
import { foreignCursor, readWordsCursor, writeWordsCursor } from '../../kernel/http/page-cursor.ts'
import { READ_ROWS, type Slices } from '../../kernel/work/slices.ts'
import { eventCursor } from '../../market/cursor.ts'
import type { TradeRow } from '../../market/rows.ts'
import type { PageRequest } from '../../../storage/port.ts'
import type { DataNeeds } from './needs.ts'
import { tradedTokens, type TimeRange } from './traded-tokens.ts'
import { cursorRange, filterText, matcherOf, type TradeFilters } from './trade-filters.ts'

/** Maximum rows and tokens that a page reads, and its limit in milliseconds: those of a filtered list of one token. */
const READS_MAX = 10_000
const SEARCH_MS = 1_000
/** Tokens whose first rows are read together: most tokens have few trades in a range, and a cluster answers several at once. */
const TOKENS_AT_ONCE = 10
const FIRST_ROWS = 50

/** A place in the list: after the rows of a token up to a cursor. */
interface TokenPlace {
  readonly mint: Pubkey
  readonly cursor: number
}

/** Rows that were read in succession, and the place after them. */
interface TokenRows {
  readonly rows: readonly TradeRow[]
  /** Rows and tokens that were read for them. */
  readonly reads: number
  readonly place: TokenPlace
}

type Stores = Pick<MarketStores, 'trades' | 'tokens' | 'blocks'>
type Query = TradeFilters &
  TimeRange & {
    readonly limit: number
    readonly after?: string | undefined
  }
/** Cursors of the trades of a range of times. */
type CursorRange = Pick<PageRequest, 'from' | 'until'>

/**
 * Returns a page of the trades of all tokens in a range of times: token by token, in the order in which the store lists tokens,
 * and those of a token oldest first. A trade without a cash side is listed once, under the mint paid in.
 */
export async function tradesByToken(
  stores: Stores,
  query: Query,
  { clock, slices }: Pick<DataNeeds, 'clock'> & { readonly slices: Slices }
): Promise<{ readonly rows: readonly TradeRow[]; readonly nextCursor: string | null }> {
  const { limit, after, from, to, venue, side, min_usd } = query
  const filters = { from, to, venue, side, min_usd }
  const list = `all-trades:${filterText(filters)}`
  const place = after === undefined ? null : readPlace(list, after)
  const range = await cursorRange(stores.blocks, filters, 'asc', undefined)
  if (range === null) return { rows: [], nextCursor: null }
  const matches = matcherOf(filters)!
  const rows: TradeRow[] = []
  const endAt = clock.now() + SEARCH_MS
  let [reads, pausedAt] = [0, 0]
  for await (const next of tokenRows(stores, { from, to, range }, place)) {
    for (const row of next.rows) if (matches(row) && eventCursor(row) === row.cursor) rows.push(row)
    const last = rows[limit - 1]
    if (rows.length > limit && last !== undefined)
      return { rows: rows.slice(0, limit), nextCursor: writePlace(list, last) }
    reads += next.reads
    if (reads >= READS_MAX || clock.now() >= endAt) return { rows, nextCursor: writePlace(list, next.place) }
    if (reads - pausedAt < READ_ROWS) continue
    pausedAt = reads
    await slices.pause()
  }
  return { rows, nextCursor: null }
}

/** Yields the trades of all tokens in a range of cursors, after a place. */
async function* tokenRows(
  stores: Stores,
  { range, ...times }: TimeRange & { readonly range: CursorRange },
  place: TokenPlace | null
): AsyncGenerator<TokenRows> {
  if (place !== null)
    yield* restOf(stores, { ...range, from: Math.max(range.from!, place.cursor) }, place.mint)
  for await (const { traded, reads, last } of tradedTokens(stores.tokens, times, place?.mint)) {
    for (let at = 0; at < traded.length; at += TOKENS_AT_ONCE)
      yield* groupRows(stores, range, traded.slice(at, at + TOKENS_AT_ONCE))
    yield { rows: [], reads, place: { mint: last, cursor: END } }
  }
}

/** Yields the trades of some tokens, whose first rows are read together. */
async function* groupRows(
  stores: Stores,
  range: CursorRange,
  group: readonly TokenSpan[]
): AsyncGenerator<TokenRows> {
  const page = { ...range, order: 'asc', limit: FIRST_ROWS } as const
  const first = await Promise.all(group.map(({ mint }) => stores.trades.ofMint(mint, page)))
  for (const [at, { mint }] of group.entries()) {
    const rows = first[at]!
    const last = rows.length < FIRST_ROWS ? undefined : rows.at(-1)
    yield { rows, reads: rows.length, place: { mint, cursor: last?.cursor ?? END } }
    if (last !== undefined) yield* restOf(stores, { ...range, from: last.cursor }, mint)
  }
}

/** A cursor after all rows of a token. */
const END = Number.MAX_SAFE_INTEGER

/** Yields the trades of a token in a range of cursors. */
async function* restOf({ trades }: Stores, range: CursorRange, mint: Pubkey): AsyncGenerator<TokenRows> {
  for (let { from } = range; from! < range.until!;) {
    const rows = await trades.ofMint(mint, { ...range, from: from!, order: 'asc', limit: READ_ROWS })
    const last = rows.length < READ_ROWS ? undefined : rows.at(-1)
    yield { rows, reads: rows.length, place: { mint, cursor: last?.cursor ?? END } }
    if (last === undefined) return
    from = last.cursor
  }
}

const writePlace = (list: string, { mint, cursor }: TokenPlace): string =>
  writeWordsCursor(list, [pubkeyToBase58(mint), String(cursor)])

/** A row's token and cursor as text. */
const ROW_PLACE = /^([1-9A-HJ-NP-Za-km-z]{32,44}):(\d{1,16})$/

/** Returns the place of an `after`: a cursor of the list, or `MINT:CURSOR` of a row. Throws CURSOR_INVALID. */
function readPlace(list: string, text: string): TokenPlace {
  const [, ...named] = ROW_PLACE.exec(text) ?? []
  const [mint = '', digits = ''] = named.length > 0 ? named : readWordsCursor(list, text)
  const cursor = Number(digits)
  if (!Number.isSafeInteger(cursor)) throw foreignCursor()
  try {
    return { mint: pubkeyFromBase58(mint), cursor }
  } catch {
    throw foreignCursor()
  }
}
