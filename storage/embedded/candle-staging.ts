import { pairKey } from '../../src/market/pairs.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import type { CandleUpsert } from '../port.ts'
import { candlePageKind } from '../codec/candle.ts'
import { mergedPage, pageAt } from '../codec/candle-pages.ts'
import {
  firstPagesOf,
  lowerFirstPages,
  openSeriesKind,
  replaceNewest,
  type FirstPages
} from '../codec/open-candles.ts'
import { knownPages, withPage } from './candle-pages.ts'
import {
  candlePageKey,
  candlePagesIn,
  candlePagesOf,
  keyText,
  openCandlesKey,
  pageOfCandleKey,
  seriesKey
} from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** Replaces candles with the same times. */
export async function stageCandles(
  view: View,
  batch: WriteBatch,
  upserts: readonly CandleUpsert[]
): Promise<void> {
  const pairs = [...Map.groupBy(upserts, ({ mint, cash }) => pairKey(mint, cash)).values()]
  const keys = pairs.map(([first]) => openCandlesKey(first!.mint, first!.cash))
  const open = await view.getMany(openSeriesKind, keys)
  const older: CandleUpsert[] = []
  for (const [i, pair] of pairs.entries()) {
    const before = open[i] ?? null
    const { newest, passed } = replaceNewest(before?.newest ?? {}, pair)
    const firstPages = before === null ? await firstPagesFrom(view, pair) : lowerFirstPages(before, pair)
    batch.putOwned(openSeriesKind, keys[i]!, { newest, firstPages })
    older.push(...passed)
  }
  await stagePages(view, batch, older)
}

/**
 * Returns the first pages of a pair without newest candles, which it begins with the upserts. Pages outlive the newest candles if
 * those are lost; then each series begins with its first page, wherever that is stored.
 */
async function firstPagesFrom(view: View, upserts: readonly CandleUpsert[]): Promise<FirstPages> {
  const begun = firstPagesOf(upserts)
  const { mint, cash } = upserts[0]!
  if ((await view.keys(candlePagesOf(mint, cash), 1)).length === 0) return begun
  const first: Partial<Record<Interval, number>> = {}
  for (const interval of INTERVALS) {
    const page = begun[interval]
    if (page === undefined) continue
    const [stored] = await view.keys(candlePagesIn(seriesKey(mint, cash, interval)), 1)
    first[interval] = stored === undefined ? page : Math.min(page, pageOfCandleKey(stored))
  }
  return first
}

interface PageChange {
  readonly series: Key
  readonly number: number
  readonly key: Key
  readonly candles: Candle[]
}

async function stagePages(view: View, batch: WriteBatch, upserts: readonly CandleUpsert[]): Promise<void> {
  const changes = new Map<string, PageChange>()
  for (const { mint, cash, interval, candle } of upserts) {
    const series = seriesKey(mint, cash, interval)
    const number = pageAt(interval, candle.ts)
    const key = candlePageKey(series, number)
    const change = changes.get(keyText(key)) ?? { series, number, key, candles: [] }
    changes.set(keyText(key), change)
    change.candles.push(candle)
  }
  const pages = [...changes.values()]
  const stored = await view.getMany(
    candlePageKind,
    pages.map(({ key }) => key)
  )
  const created: PageChange[] = []
  pages.forEach((page, i) => {
    const before = stored[i] ?? null
    batch.putOwned(candlePageKind, page.key, mergedPage(before ?? [], page.candles))
    if (before === null) created.push(page)
  })
  stageKnownPages(view, batch, created)
}

/** Updates the cached list of a series' pages. */
function stageKnownPages(view: View, batch: WriteBatch, created: readonly PageChange[]): void {
  for (const ofSeries of Map.groupBy(created, ({ series }) => keyText(series)).values()) {
    const { series } = ofSeries[0]!
    let known = view.recall(knownPages, series)
    for (const { number } of ofSeries) known = known && withPage(known, number)
    batch.remember(knownPages, series, known)
  }
}
