import { z } from 'zod'
import { candleBody } from '../bodies/candle.ts'
import type { MarketStores } from '../../archive/market-stores.ts'
import { bucketStart, intervalSeconds } from '../../market/buckets.ts'
import { TIME_FALLS_MAX } from '../../market/market-state.ts'
import {
  INTERVALS,
  SECOND_INTERVALS,
  type CandleInterval,
  type PairRow,
  type SlotRow,
  type TradeRow
} from '../../market/rows.ts'
import type { RefreshTrigger } from '../../kernel/http/invalidation-index.ts'
import type { Slices } from '../../kernel/work/slices.ts'
import { candlePage, filledPage, storedCandles, type CandleSource } from './candle-page.ts'
import { instant } from '../../kernel/http/instant.ts'
import { LateRows } from '../../kernel/http/list/late-rows.ts'
import { isCursorOf, readPageCursor, writePageCursor } from '../../kernel/http/page-cursor.ts'
import { flag, invalid, oneOf, wholeNumber } from '../../kernel/http/parameters.ts'
import { CANDLE_ROWS_MAX, isInPair, RowCandles } from './row-candles.ts'
import { checkRange } from './trade-filters.ts'
import type { Among } from './trade-list.ts'

/** Seconds of block time up to the head that have candles of seconds. */
const SECONDS_RETAINED = 3600

/** Query of a list of candles. */
export const CANDLE_LIST_QUERY = {
  interval: oneOf([...SECOND_INTERVALS, ...INTERVALS])
    .default('1m')
    .describe('Length of a bucket; `1s`, `5s` and `15s` for the last hour only'),
  currency: oneOf(['native', 'usd']).default('native').describe('Prices in the cash, or in USD'),
  limit: wholeNumber(1, 1000, 300).describe('Maximum number of candles'),
  from: instant
    .optional()
    .describe(
      'Only buckets that start at or after this time: unix seconds, or ISO 8601 (UTC without a zone)'
    ),
  to: instant
    .optional()
    .describe('Only buckets that start before this time: unix seconds, or ISO 8601 (UTC without a zone)'),
  fill: oneOf(['none', 'previous'])
    .default('none')
    .describe(
      '`previous`: a bucket without a price repeats the last close before it, up to the bucket of the indexed head'
    ),
  raw: flag(false).describe('`true`: prices of all trades, dust and outliers included'),
  after: z.string().optional().describe('The `nextCursor` of the previous page')
} as const

/** Documentation of candles of seconds. */
export const SECOND_CANDLE_RULES = `Candles of 1, 5 and 15 seconds reach back one hour from the block time of the indexed \
head, in whole buckets. An earlier \`to\` is refused. Block time has a resolution of one second, so all trades of one \
second are in one bucket, in the order of the chain.`

/** Documentation of the limit of candles that are folded from rows. */
export const ROW_CANDLE_RULES = `These candles are computed from trades on request. A request reads at most ${CANDLE_ROWS_MAX.toLocaleString('en-GB')} trades of the token, so a page can be \
short and still have a \`nextCursor\`. If one bucket alone takes more trades, the request is refused.`

export interface CandleListQuery {
  readonly interval: CandleInterval
  readonly currency: 'native' | 'usd'
  readonly limit: number
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly fill: 'none' | 'previous'
  readonly raw: boolean
  readonly after?: string | undefined
}

/** The trades whose candles are listed. */
export interface CandleSeries {
  readonly pair: PairRow
  /** Absent if they are all trades of the pair. */
  readonly among?: Among
}

/** A page of candles, and the values other than its series that change it. */
export interface CandleListPage {
  readonly data: LateRows<ReturnType<typeof candleBody>>
  readonly nextCursor: string | null
  readonly changesWith: RefreshTrigger
}

/** A list of candles, whose query has been checked. */
export interface CandleList {
  /**
   * Returns the page of a series; an empty one if there is no series. Throws PARAMETER_INVALID if a limit of the source
   * allows no progress.
   */
  page(series: CandleSeries | null, slices: Slices): Promise<CandleListPage>
}

/** Tells whether candles of an interval are folded from rows, and reach back one hour. */
const isOfSeconds = (interval: CandleInterval): interval is (typeof SECOND_INTERVALS)[number] =>
  (SECOND_INTERVALS as readonly string[]).includes(interval)

/** Returns the name of a list, to which its cursors belong. `of` names the series. */
function nameOf(of: readonly string[], query: CandleListQuery, isExport: boolean): string {
  const { interval, currency, raw, fill, from = 0, to = Number.MAX_SAFE_INTEGER } = query
  const name = [...of, interval, currency, Number(raw), fill, from, to].join(':')
  return isExport ? `${name}:export` : name
}

/** Tells whether a query continues the list of a series. */
export const continuesCandles = (of: readonly string[], query: CandleListQuery, isExport: boolean): boolean =>
  query.after !== undefined && isCursorOf(nameOf(of, query, isExport), query.after)

/**
 * Opens a list at the head of the index or, without one, of the archive. The pages of an export lead from the oldest candle
 * to the newest one, and have cursors of their own. Throws if its range or its cursor is invalid.
 */
export function openCandles(
  of: readonly string[],
  query: CandleListQuery,
  market: MarketStores,
  newest: SlotRow | null,
  isExport = false
): CandleList {
  checkRange(query)
  const head = newest ?? market.archiveEnd
  const { interval, to: end = Number.MAX_SAFE_INTEGER } = query
  if (head !== null && isOfSeconds(interval) && end <= head.blockTime - SECONDS_RETAINED) {
    throw invalid('to', `must be in the last hour of the index, because interval is ${interval}`)
  }
  const list = nameOf(of, query, isExport)
  if (isExport) {
    const from = query.after === undefined ? (query.from ?? 0) : readPageCursor(list, query.after)
    return {
      page: async (series, slices) =>
        series === null || head === null
          ? NO_CANDLES
          : candleExportPage({ list, query: { ...query, from }, market, head, to: end }, series, slices)
    }
  }
  const to = query.after === undefined ? end : Math.min(end, readPageCursor(list, query.after))
  return {
    page: async (series, slices) =>
      series === null || head === null
        ? NO_CANDLES
        : candleListPage({ list, query, market, head, to }, series, slices)
  }
}

const NO_CANDLES: CandleListPage = {
  data: LateRows.of([], (none: never) => none),
  nextCursor: null,
  changesWith: 'tags'
}

interface OpenList {
  readonly list: string
  readonly query: CandleListQuery
  readonly market: MarketStores
  readonly head: SlotRow
  readonly to: number
}

async function candleListPage(open: OpenList, series: CandleSeries, slices: Slices): Promise<CandleListPage> {
  const { rows, older, changesWith } = await candleRows(open, series, slices)
  const nextCursor = older === null ? null : writePageCursor(open.list, older)
  return { data: bodiesOf(rows, open, series), nextCursor, changesWith }
}

/** A candle with the prices that its list shows. */
type CandleOfList = Awaited<ReturnType<typeof candlePage>>['candles'][number]

interface CandleRows {
  readonly rows: readonly CandleOfList[]
  /** The `to` of the candles before them; null at the start of the range. */
  readonly older: number | null
  readonly changesWith: RefreshTrigger
}

function bodiesOf(
  rows: readonly CandleOfList[],
  { query, market, head }: OpenList,
  { pair }: CandleSeries
): CandleListPage['data'] {
  const { decimals, cashDecimals } = pair
  const { archiveEnd } = market
  const seconds = intervalSeconds(query.interval)
  const view = { decimals, cashDecimals, intervalSeconds: seconds, headTime: head.blockTime, archiveEnd }
  return LateRows.of(rows, ({ candle, prices }) => candleBody(candle, prices, view))
}

/** Reads the newest candles of a range. */
async function candleRows(
  { query, market, head, to }: OpenList,
  series: CandleSeries,
  slices: Slices
): Promise<CandleRows> {
  const { interval, currency, limit, fill } = query
  const seconds = intervalSeconds(interval)
  const oldest = isOfSeconds(interval) ? head.blockTime - SECONDS_RETAINED : 0
  const from = Math.max(query.from ?? 0, oldest)
  const asked = { interval, prices: { currency, raw: query.raw }, from, to, limit, pause: slices.pause }
  const source = sourceOf(market, series, query, slices)
  const page =
    fill === 'previous' ? await filledPage(source, asked, head.blockTime) : await candlePage(source, asked)
  const running = bucketStart(interval, head.blockTime) + seconds
  if (page.isCut && page.candles.length === 0 && page.older !== null && page.older >= Math.min(to, running)) {
    if (fill === 'previous')
      throw invalid(
        'fill',
        `must be none: no price is among the newest ${CANDLE_ROWS_MAX} trades of the token`
      )
    throw invalid(
      'interval',
      `is too long: the newest bucket takes more than ${CANDLE_ROWS_MAX} trades of the token`
    )
  }
  // Ended buckets do not change, once block times can no longer fall into them. The running bucket and the end of filling do
  // change.
  const newest = page.candles.at(-1)
  const end = newest === undefined ? -Infinity : newest.candle.ts + seconds
  const isOver = Math.max(end, fill === 'previous' ? to : -Infinity) <= head.blockTime - TIME_FALLS_MAX
  const changesWith: RefreshTrigger = isOfSeconds(interval) ? 'block' : isOver ? 'tags' : 'minute'
  return { rows: page.candles, older: page.older, changesWith }
}

/**
 * Returns the oldest page of a range: the candles of as many buckets as it may have candles. Buckets without a candle before
 * them are passed over, in steps that double.
 */
async function candleExportPage(
  { list, query, market, head, to }: OpenList,
  series: CandleSeries,
  slices: Slices
): Promise<CandleListPage> {
  const { interval, limit, fill } = query
  const seconds = intervalSeconds(interval)
  const oldest = isOfSeconds(interval) ? head.blockTime - SECONDS_RETAINED : 0
  const end = Math.min(to, bucketStart(interval, head.blockTime) + seconds)
  const source = sourceOf(market, series, query, slices)
  let from = bucketStart(interval, Math.max(query.from ?? 0, oldest) + seconds - 1)
  // A filled list repeats a price from before its range, so none of its buckets may be passed over.
  for (let span = limit * seconds; fill === 'none' && from < end; span *= 2) {
    const { candles, cutAt } = await source.range({ from, to: Math.min(end, from + span), limit: 1 })
    if (candles.length > 0 || cutAt !== null) {
      if (span === limit * seconds) break
      span = (limit * seconds) / 2
    } else from += span
    await slices.pause()
  }
  const until = Math.min(end, from + limit * seconds)
  const open = { list, query: { ...query, from }, market, head, to: until }
  const pages: CandleRows['rows'][] = []
  for (let before: number | null = until; before !== null && from < end;) {
    const { rows, older } = await candleRows({ ...open, to: before }, series, slices)
    pages.unshift(rows)
    before = older
  }
  const nextCursor = until >= end ? null : writePageCursor(list, until)
  return { data: bodiesOf(pages.flat(), open, series), nextCursor, changesWith: 'block' }
}

/** Candles of seconds, and those of some of the pair's trades, are folded from rows; the others are stored. */
function sourceOf(
  market: MarketStores,
  { pair, among }: CandleSeries,
  { interval, currency }: Pick<CandleListQuery, 'interval' | 'currency'>,
  slices: Slices
): CandleSource {
  if (among === undefined && !isOfSeconds(interval))
    return storedCandles(market.candles, pair, interval, currency)
  const { mint } = pair
  const { low = 0, high = Number.MAX_SAFE_INTEGER - 1, matches } = among ?? {}
  const includes = (row: TradeRow): boolean => matches?.(row) !== false && isInPair(row, pair)
  return new RowCandles(market, { mint, includes, low, high }, interval, slices)
}
