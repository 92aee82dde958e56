import type { Pubkey } from '../../src/chain/pubkey.ts'
import { bucketAt } from '../../src/market/candles.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import { candlePageKind, candlesIn } from '../codec/candle.ts'
import { PAGE_BUCKETS, pageAt, takeNewest } from '../codec/candle-pages.ts'
import { NO_SERIES, openSeriesKind, type OpenSeries } from '../codec/open-candles.ts'
import type { CandleRange } from '../port.ts'
import { amendCandles } from './candle-amendments.ts'
import { knownPages, type KnownPages } from './candle-pages.ts'
import { stageCandles } from './candle-staging.ts'
import type { Database } from './database.ts'
import { candlePageKey, openCandlesKey, pageOfCandleKey, seriesKey, type Key } from '../codec/keys.ts'
import type { RecordTable } from './record-table.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { View } from './view.ts'

/** Missing pages after which a search costs less than further reads. */
const ABSENT_PAGES_MAX = 2
/** Pages that are read in one turn: 1,000 buckets have 17, and each takes up to 40 µs. */
const PAGES_BY_NUMBER_MAX = 20

interface Series {
  readonly mint: Pubkey
  readonly cash: Pubkey
  readonly interval: Interval
}

/**
 * The newest bucket of each interval of a pair is in one value, which a block rewrites; older buckets are in pages,
 * written when a bucket stops being the newest. The value also has the first page of each series, so that the candles of a new
 * token are complete without a search for earlier ones.
 */
export function candleTable(database: Database): RecordTable<'candles'> {
  return {
    port: {
      get: (at) => database.read((view) => bucketAt(at, candleAt(view, at, at.ts))),
      range: (mint, cash, interval, range) =>
        database.read((view) => rangeOf(view, { mint, cash, interval }, range))
    },
    stage: (view, batch, { candles }) => stageCandles(view, batch, candles),
    amend: (view, batch, { candles }) => amendCandles(view, batch, candles)
  }
}

function candleAt(view: View, series: Series, ts: number): Candle | null {
  const newest = seriesOf(view, series).newest[series.interval]
  if (newest === undefined || ts > newest.ts) return null
  if (ts === newest.ts) return newest
  const page = view.get(candlePageKind, candlePageKey(keyOf(series), pageAt(series.interval, ts)))
  return page?.find((candle) => candle.ts === ts) ?? null
}

function rangeOf(view: View, series: Series, range: CandleRange): MaybePromise<Candle[]> {
  const { interval } = series
  const { newest: open, firstPages } = seriesOf(view, series)
  const newest = open[interval]
  if (newest === undefined || range.limit <= 0 || range.to <= range.from || newest.ts < range.from) return []
  const found = newest.ts < range.to ? [newest] : []
  if (found.length >= range.limit) return found
  const pages = {
    first: Math.max(pageAt(interval, range.from), firstPages[interval] ?? 0),
    last: pageAt(interval, Math.min(range.to - 1, newest.ts)),
    newest: pageAt(interval, newest.ts)
  }
  const key = keyOf(series)
  const known = inMemory(view, key, pages, range, found)
  if (known !== null) return known.reverse()
  const look = { candles: [...found], seen: [], since: pages.first, next: pages.last }
  if (byNumber(view, key, pages, range, look)) return look.candles.reverse()
  return onDisk(view, key, pages, range, look)
}

/** Pages by number. */
interface Pages {
  readonly first: number
  readonly last: number
  /** The last possible one. */
  readonly newest: number
}

/** The newest candles of a range, newest first, after those found; null if memory does not have them all. */
function inMemory(
  view: View,
  series: Buffer,
  pages: Pages,
  range: CandleRange,
  found: readonly Candle[]
): Candle[] | null {
  const known = view.recall(knownPages, series)
  if (known === undefined) return null
  const candles = [...found]
  for (const number of known.pages) {
    if (number > pages.last) continue
    if (number < pages.first) return candles
    const page = view.hot(candlePageKind, candlePageKey(series, number))
    if (page === undefined || page === null) return null
    if (takeNewest(candles, page, range)) return candles
  }
  return known.since <= pages.first ? candles : null
}

/** Candles that have been found in pages, from the newest page back. */
interface Look {
  /** The newest first. */
  readonly candles: Candle[]
  /** Pages that exist. */
  readonly seen: number[]
  /** The oldest page that was looked for, once the candles are complete. */
  since: number
  /** The page to be read next. */
  next: number
}

/**
 * Reads pages one by one: a search costs as much as four such reads. Memory, which did not have them all, is not looked in again.
 * Returns whether the candles are complete: not if the pages are too many, or most of them do not exist.
 */
function byNumber(view: View, series: Buffer, pages: Pages, range: CandleRange, look: Look): boolean {
  for (let absent = 0, reads = 0; look.next >= pages.first; look.next--, reads++) {
    if (absent > ABSENT_PAGES_MAX || reads === PAGES_BY_NUMBER_MAX) return false
    const page = candlePage(view, candlePageKey(series, look.next), range)
    if (page === null) {
      absent++
      continue
    }
    look.seen.push(look.next)
    if (!takeNewest(look.candles, page, range)) continue
    look.since = look.next
    break
  }
  rememberPages(view, series, pages, { pages: look.seen, since: look.since })
  return true
}

/** A page with the prices that the range uses. */
function candlePage(view: View, key: Key, { currency }: CandleRange): readonly Candle[] | null {
  return view.storedPage(
    candlePageKind,
    key,
    currency === undefined ? undefined : (contents) => candlesIn(contents, currency)
  )
}

/** Searches the other pages. Returns the candles of the range, oldest first. */
async function onDisk(
  view: View,
  series: Buffer,
  pages: Pages,
  range: CandleRange,
  look: Look
): Promise<Candle[]> {
  const stored = { gte: candlePageKey(series, pages.first), lt: candlePageKey(series, look.next + 1) }
  const expected = Math.ceil((range.limit - look.candles.length) / PAGE_BUCKETS) + 1
  for await (const [key, page] of view.scan(candlePageKind, stored, {
    reverse: true,
    expected,
    keep: true
  })) {
    look.seen.push(pageOfCandleKey(key))
    if (!takeNewest(look.candles, page, range)) continue
    look.since = look.seen.at(-1)!
    break
  }
  rememberPages(view, series, pages, { pages: look.seen, since: look.since })
  return look.candles.reverse()
}

/** Caches which pages exist, if they were looked for up to the newest one and further back than before. */
function rememberPages(view: View, series: Buffer, pages: Pages, seen: KnownPages): void {
  const known = view.recall(knownPages, series)
  if (pages.last === pages.newest && (known === undefined || seen.since < known.since))
    view.remember(knownPages, series, seen)
}

const keyOf = ({ mint, cash, interval }: Series): Buffer => seriesKey(mint, cash, interval)

function seriesOf(view: View, { mint, cash }: Series): OpenSeries {
  return view.get(openSeriesKind, openCandlesKey(mint, cash)) ?? NO_SERIES
}
