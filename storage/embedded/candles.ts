import type { Pubkey } from '../../src/chain/pubkey.ts'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import { intervalSeconds } from '../../src/market/candles.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import type { CandleStore, CandleUpsert } from '../port.ts'
import type { OpenCandles } from './candle-codec.ts'
import type { Database } from './database.ts'
import { candlePageKey, keyText, openCandlesKey } from './keys.ts'
import type { Key } from './keys.ts'
import { candlePageKind, openCandlesKind } from './kinds.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** Buckets whose times share a page: 300 candles of a busy pair are five or six values. Chosen. */
const PAGE_BUCKETS = 64

/**
 * The newest bucket of each interval of a pair is in one value, which a block rewrites; older buckets are in pages,
 * written when a bucket stops being the newest.
 */
export function candleStore(database: Database): CandleStore {
  return {
    get: (mint, cash, interval, ts) => database.read((view) => candleAt(view, { mint, cash, interval }, ts)),
    range: (mint, cash, interval, range) =>
      database.read((view) => candlesIn(view, { mint, cash, interval }, range))
  }
}

interface Series {
  readonly mint: Pubkey
  readonly cash: Pubkey
  readonly interval: Interval
}

interface Range {
  readonly from: number
  readonly to: number
  readonly limit: number
}

async function candleAt(view: View, series: Series, ts: number): Promise<Candle | null> {
  const newest = await newestCandle(view, series)
  if (newest === null || ts > newest.ts) return null
  if (ts === newest.ts) return newest
  const page = await view.get(candlePageKind, keyOf(series, pageAt(series.interval, ts)))
  return page?.find((candle) => candle.ts === ts) ?? null
}

async function candlesIn(view: View, series: Series, range: Range): Promise<Candle[]> {
  const newest = await newestCandle(view, series)
  if (newest === null || range.limit <= 0 || range.to <= range.from || newest.ts < range.from) return []
  const found: Candle[] = newest.ts < range.to ? [newest] : []

  const firstPage = pageAt(series.interval, range.from)
  const lastPage = pageAt(series.interval, Math.min(range.to - 1, newest.ts))
  // A busy pair has every page; they are known by number, so that those in memory cost no look at the disk.
  const densePage = Math.max(firstPage, lastPage - Math.ceil(range.limit / PAGE_BUCKETS))
  const dense: Key[] = []
  for (let page = lastPage; page >= densePage; page--) dense.push(keyOf(series, page))
  for (const page of await view.getMany(candlePageKind, dense))
    if (page !== null && takeNewest(found, page, range)) return found.reverse()

  // A quiet one has few: only those that exist are read.
  const older = { gte: keyOf(series, firstPage), lt: dense.at(-1)! }
  for await (const [, page] of view.scan(candlePageKind, older, { reverse: true, expected: 8, keep: true }))
    if (takeNewest(found, page, range)) break
  return found.reverse()
}

async function newestCandle(view: View, series: Series): Promise<Candle | null> {
  const open = await view.get(openCandlesKind, openCandlesKey(series.mint, series.cash))
  return open?.[series.interval] ?? null
}

/** Takes the candles of a page that are in range, newest first; true once there are enough. */
function takeNewest(into: Candle[], page: readonly Candle[], range: Range): boolean {
  for (let i = page.length - 1; i >= 0 && into.length < range.limit; i--) {
    const candle = page[i]!
    if (candle.ts >= range.from && candle.ts < range.to) into.push(candle)
  }
  return into.length >= range.limit
}

/** Puts candles in place of those with their time. */
export async function stageCandles(
  view: View,
  batch: WriteBatch,
  upserts: readonly CandleUpsert[]
): Promise<void> {
  const pairs = [
    ...Map.groupBy(upserts, ({ mint, cash }) => pubkeyMapKey(mint) + pubkeyMapKey(cash)).values()
  ]
  const keys = pairs.map(([first]) => openCandlesKey(first!.mint, first!.cash))
  const open = await view.getMany(openCandlesKind, keys)
  const older = pairs.flatMap((pair, i) => {
    const { newest, passed } = replaceNewest(open[i] ?? {}, pair)
    batch.putOwned(openCandlesKind, keys[i]!, newest)
    return passed
  })
  await stagePages(view, batch, older)
}

/** The newest candles after the upserts of a pair, and the candles that belong in pages. */
function replaceNewest(
  open: OpenCandles,
  upserts: readonly CandleUpsert[]
): { newest: OpenCandles; passed: CandleUpsert[] } {
  const newest = { ...open }
  const passed: CandleUpsert[] = []
  for (const upsert of upserts) {
    const { interval, candle } = upsert
    const known = newest[interval]
    if (known !== undefined && candle.ts < known.ts) passed.push(upsert)
    else {
      if (known !== undefined && known.ts < candle.ts) passed.push({ ...upsert, candle: known })
      newest[interval] = candle
    }
  }
  return { newest, passed }
}

async function stagePages(view: View, batch: WriteBatch, upserts: readonly CandleUpsert[]): Promise<void> {
  const keyOfUpsert = (upsert: CandleUpsert): Key => keyOf(upsert, pageAt(upsert.interval, upsert.candle.ts))
  const pages = [...Map.groupBy(upserts, (upsert) => keyText(keyOfUpsert(upsert))).values()]
  const keys = pages.map(([first]) => keyOfUpsert(first!))
  const stored = await view.getMany(candlePageKind, keys)
  pages.forEach((page, i) => batch.putOwned(candlePageKind, keys[i]!, mergedPage(stored[i] ?? [], page)))
}

function mergedPage(stored: readonly Candle[], upserts: readonly CandleUpsert[]): Candle[] {
  const byTime = new Map(stored.map((candle) => [candle.ts, candle]))
  for (const { candle } of upserts) byTime.set(candle.ts, candle)
  return [...byTime.values()].sort((a, b) => a.ts - b.ts)
}

const keyOf = (series: Series, page: number): Key =>
  candlePageKey(series.mint, series.cash, series.interval, page)

const pageAt = (interval: Interval, ts: number): number =>
  Math.max(0, Math.floor(ts / (intervalSeconds(interval) * PAGE_BUCKETS)))
