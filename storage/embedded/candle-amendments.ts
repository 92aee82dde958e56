import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import { candlePageKind } from '../codec/candle.ts'
import { pageAt } from '../codec/candle-pages.ts'
import { lowerFirstPages, NO_SERIES, openSeriesKind } from '../codec/open-candles.ts'
import { candlePageKey, openCandlesKey, pageOfCandleKey, seriesKey } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import { newestCandle, type CandlePages } from '../newest-candle.ts'
import { knownPages } from './candle-pages.ts'
import { stageCandles } from './candle-staging.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** Replaces candles with the same times, and removes others from their series. */
export async function amendCandles(
  view: View,
  batch: WriteBatch,
  { put, remove }: Amendment['candles']
): Promise<void> {
  const pairOf = ({ mint, cash }: (typeof remove)[number] | (typeof put)[number]): string =>
    pubkeyMapKey(mint) + pubkeyMapKey(cash)
  const losing = Map.groupBy(remove, pairOf)
  await stageCandles(
    view,
    batch,
    put.filter((upsert) => !losing.has(pairOf(upsert)))
  )
  for (const [pair, removed] of losing) {
    const { mint, cash } = removed[0]!
    const kept = put.filter((upsert) => pairOf(upsert) === pair)
    const openKey = openCandlesKey(mint, cash)
    const before = view.get(openSeriesKind, openKey) ?? NO_SERIES
    const open: Partial<Record<Interval, Candle>> = { ...before.newest }
    const firstPages: Partial<Record<Interval, number>> = { ...lowerFirstPages(before, kept) }
    for (const interval of INTERVALS) {
      const series = new SeriesEdit(view, seriesKey(mint, cash, interval), interval)
      const gone = removed.filter((at) => at.interval === interval).map(({ ts }) => ts)
      const come = kept.filter((at) => at.interval === interval).map(({ candle }) => candle)
      if (gone.length === 0 && come.length === 0) continue
      const newest = await series.amend(open[interval], come, new Set(gone))
      if (newest === undefined) {
        delete open[interval]
        delete firstPages[interval]
      } else open[interval] = newest
      series.stage(batch, newest)
    }
    if (Object.keys(open).length === 0) batch.delete(openKey)
    else batch.putOwned(openSeriesKind, openKey, { newest: open, firstPages })
  }
}

/** The buckets of a series in the pages that an amendment touches, the newest bucket among them. */
class SeriesEdit {
  readonly #view: View
  readonly #series: Key
  readonly #interval: Interval
  readonly #pages: CandlePages = new Map()

  constructor(view: View, series: Key, interval: Interval) {
    this.#view = view
    this.#series = series
    this.#interval = interval
  }

  /** Returns the newest bucket that is left. */
  async amend(
    open: Candle | undefined,
    put: readonly Candle[],
    removed: ReadonlySet<number>
  ): Promise<Candle | undefined> {
    if (open !== undefined) this.#pageOf(open.ts).set(open.ts, open)
    for (const candle of put) this.#pageOf(candle.ts).set(candle.ts, candle)
    for (const ts of removed) this.#pageOf(ts).delete(ts)
    return newestCandle(this.#pages, {
      before: async (page) => {
        const key = await this.#view.lastKey({
          gte: candlePageKey(this.#series, 0),
          lt: candlePageKey(this.#series, page)
        })
        return key === null ? null : pageOfCandleKey(key)
      },
      load: (page) => void this.#page(page)
    })
  }

  /** The newest bucket is stored with those of the other intervals; the others are in pages. */
  stage(batch: WriteBatch, newest: Candle | undefined): void {
    for (const [number, candles] of this.#pages) {
      const key = candlePageKey(this.#series, number)
      const page = [...candles.values()].filter(({ ts }) => ts !== newest?.ts).sort((a, b) => a.ts - b.ts)
      if (page.length === 0) batch.delete(key)
      else batch.putOwned(candlePageKind, key, page)
    }
    batch.remember(knownPages, this.#series, undefined)
  }

  #pageOf(ts: number): Map<number, Candle> {
    return this.#page(pageAt(this.#interval, ts))
  }

  #page(number: number): Map<number, Candle> {
    const known = this.#pages.get(number)
    if (known !== undefined) return known
    const stored = this.#view.get(candlePageKind, candlePageKey(this.#series, number)) ?? []
    const page = new Map(stored.map((candle) => [candle.ts, candle]))
    this.#pages.set(number, page)
    return page
  }
}
