import type { TradeRow } from '../../market/rows.ts'
import type { PageRequest } from '../../../storage/port.ts'
import type { MarketStores } from '../../archive/market-stores.ts'
import { READ_ROWS, type Slices } from '../../kernel/work/slices.ts'
import type { DataNeeds } from './needs.ts'
import { readRowPlace, writePageCursor } from '../../kernel/http/page-cursor.ts'
import { checkPaging, rowPaging } from '../../kernel/http/parameters.ts'
import {
  checkRange,
  cursorRange,
  filterText,
  matcherOf,
  TRADE_FILTERS,
  type TradeFilters
} from './trade-filters.ts'

/** Query of a list of trades. */
export const TRADE_LIST_QUERY = { ...rowPaging(1000, 100), ...TRADE_FILTERS } as const

/** Documentation of the limits of filtered requests. */
export const TRADE_LIST_RULES = `A request with filters reads at most \`offset\` + 10,000 rows, for at most one second. So a page can \
be short, or empty, and still have a \`nextCursor\`. The next page continues where this one stopped, with the rest of \
\`offset\`. \`offset\` counts rows that pass the filters. A cursor is valid only for its list, order and filters.`

/** Maximum rows that a filtered request reads beyond those to skip, and its limit in milliseconds. */
const ROWS_MAX = 10_000
const SEARCH_MS = 1000

type Query = TradeFilters & {
  readonly limit: number
  readonly offset: number
  readonly order: 'asc' | 'desc'
  readonly after?: string | undefined
}

/** The rows of a larger list that belong to a page's list. */
export interface Among {
  readonly matches: (row: TradeRow) => boolean
  /** Cursors of the range of the larger list that can hold them, both inclusive. */
  readonly low: number
  readonly high: number
}

/**
 * Returns a page of the trades that `read` returns, and the cursor of the next page. `name` identifies the list. With
 * `among`, the trades belong to a larger list and are found like those of a filter.
 */
export async function tradePage(
  {
    blocks,
    clock,
    slices
  }: Pick<MarketStores, 'blocks'> & Pick<DataNeeds, 'clock'> & { readonly slices: Slices },
  name: string,
  query: Query,
  read: (page: PageRequest) => Promise<TradeRow[]>,
  among?: Among
): Promise<{ readonly rows: readonly TradeRow[]; readonly nextCursor: string | null }> {
  const { limit, offset, order, after, from, to, venue, side, min_usd } = query
  const filters = { from, to, venue, side, min_usd }
  checkPaging(query)
  checkRange(query)
  const list = `${name}:${order}:${filterText(filters)}`
  const place = after === undefined ? undefined : readRowPlace(list, after)
  const start = place?.cursor
  const skip = place?.skip ?? offset
  const matches = bothOf(matcherOf(filters), among?.matches ?? null)
  const ofTimes = matches === null ? startAt(start) : await cursorRange(blocks, filters, order, start)
  const range = among === undefined || ofTimes === null ? ofTimes : between(ofTimes, among, order)
  if (range === null) return { rows: [], nextCursor: null }
  const wanted = { skip, rows: limit + 1 }
  const found =
    matches === null
      ? await all((at, rows) => read({ ...range, ...at, order, limit: rows }), wanted, slices)
      : await search(
          (at, rows) => read({ ...range, ...at, order, limit: rows }),
          matches,
          { ...wanted, rowsMax: ROWS_MAX + skip },
          clock,
          slices
        )
  const rows = found.rows.slice(0, limit)
  const next = found.rows.length > limit ? (rows.at(-1)?.cursor ?? null) : found.stoppedAt
  const left = skip - found.skipped
  return { rows, nextCursor: next === null ? null : writePageCursor(list, next, left) }
}

/** Matching rows in order, after those that the offset skips: up to 10,000 rows that a page would hold in vain. */
interface Found {
  readonly rows: readonly TradeRow[]
  /** Number of matching rows that were skipped. */
  readonly skipped: number
  /** The cursor of the last row read if the search stopped early, else null. */
  readonly stoppedAt: number | null
}

/** Matching rows that a page skips, and those that it needs after them. */
interface Wanted {
  readonly skip: number
  readonly rows: number
}

function startAt(from: number | undefined): Pick<PageRequest, 'from' | 'until'> {
  return from === undefined ? {} : { from }
}

type Matcher = Among['matches']

function bothOf(one: Matcher | null, other: Matcher | null): Matcher | null {
  if (one === null || other === null) return one ?? other
  return (row) => one(row) && other(row)
}

/** Narrows a range to the cursors of a list within the larger one. */
function between(
  { from, until }: Pick<PageRequest, 'from' | 'until'>,
  { low, high }: Among,
  order: PageRequest['order']
): Pick<PageRequest, 'from' | 'until'> {
  return order === 'desc'
    ? { from: Math.min(from ?? high + 1, high + 1), until: Math.max(until ?? low, low) }
    : { from: Math.max(from ?? low - 1, low - 1), until: Math.min(until ?? high, high) }
}

type Read = (at: Pick<PageRequest, 'from'>, rows: number) => Promise<TradeRow[]>

/** Returns the first rows after those to skip. */
async function all(read: Read, wanted: Wanted, slices: Slices): Promise<Found> {
  const rows: TradeRow[] = []
  let skipped = 0
  for (let at: Pick<PageRequest, 'from'> = {}; ;) {
    const asked = Math.min(READ_ROWS, wanted.skip - skipped + wanted.rows - rows.length)
    const next = await read(at, asked)
    const passed = Math.min(wanted.skip - skipped, next.length)
    skipped += passed
    for (const row of next.slice(passed)) rows.push(row)
    if (next.length < asked || rows.length === wanted.rows) return { rows, skipped, stoppedAt: null }
    at = { from: next.at(-1)!.cursor }
    await slices.pause()
  }
}

/** Returns the first matching rows after those to skip; reads at most `rowsMax` rows. */
async function search(
  read: Read,
  matches: (row: TradeRow) => boolean,
  { rowsMax, ...wanted }: Wanted & { readonly rowsMax: number },
  clock: DataNeeds['clock'],
  slices: Slices
): Promise<Found> {
  const rows: TradeRow[] = []
  let skipped = 0
  const giveUpAt = clock.now() + SEARCH_MS
  let at: Pick<PageRequest, 'from'> = {}
  for (let looked = 0, chunk = wanted.skip + wanted.rows; ; chunk *= 2) {
    const asked = Math.min(chunk, READ_ROWS, rowsMax - looked)
    const candidates = await read(at, asked)
    for (const row of candidates) {
      if (!matches(row)) continue
      if (skipped < wanted.skip) skipped++
      else rows.push(row)
      if (rows.length === wanted.rows) return { rows, skipped, stoppedAt: null }
    }
    const last = candidates.at(-1)
    if (last === undefined || candidates.length < asked) return { rows, skipped, stoppedAt: null }
    looked += candidates.length
    if (looked === rowsMax || clock.now() >= giveUpAt) return { rows, skipped, stoppedAt: last.cursor }
    at = { from: last.cursor }
    await slices.pause()
  }
}
