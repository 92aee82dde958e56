import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import type { OpenCandles } from '../codec/open-candles.ts'
import { pageAt } from '../codec/candle-pages.ts'
import { candlePageKey, keyText, seriesKey } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import { newestCandle, type CandlePages } from '../newest-candle.ts'
import type { BucketedRecords, Place } from './bucketed-records.ts'
import type { TableCommit } from './commit.ts'
import type { RecordTable } from './records.ts'

export interface Pair {
  readonly mint: Pubkey
  readonly cash: Pubkey
}

/** Tables of candles: the newest of each interval of a pair, and pages of those before. */
export interface CandleTables {
  readonly open: RecordTable<Pair, OpenCandles>
  readonly pages: BucketedRecords<readonly Candle[]>
}

type CandleEdit = Amendment['candles']

/** Replaces candles with the same times, and removes others from their series. */
export async function amendCandles(
  commit: TableCommit,
  tables: CandleTables,
  { put, remove }: CandleEdit
): Promise<void> {
  const puts = Map.groupBy(put, pairText)
  const removed = Map.groupBy(remove, pairText)
  const pairs = [...new Map([...put, ...remove].map((at) => [pairText(at), at])).values()]
  const open = await tables.open.committed(commit, pairs)
  const edits = pairs.flatMap((pair, i) =>
    seriesOf(pair, open[i] ?? {}, {
      put: puts.get(pairText(pair)) ?? [],
      remove: removed.get(pairText(pair)) ?? []
    })
  )
  await readPages(commit, tables, edits)
  for (const series of edits) series.newest = await findNewest(commit, tables, series)
  await stageOpen(commit, tables, pairs, open, edits)
  await stagePages(commit, tables, edits)
}

/** An edit of one series, with the pages that it touches: candles by their time, by the number of the page. */
interface SeriesEdit {
  readonly pair: string
  readonly owner: Key
  readonly interval: Interval
  /** The newest, which is in no page. */
  readonly open: Candle | undefined
  readonly put: readonly Candle[]
  readonly removed: readonly number[]
  readonly pages: CandlePages
  /** The pages as stored. */
  readonly stored: Map<number, readonly Candle[]>
  newest: Candle | undefined
}

function seriesOf({ mint, cash }: Pair, open: OpenCandles, { put, remove }: CandleEdit): SeriesEdit[] {
  return INTERVALS.map((interval) => ({
    pair: pairText({ mint, cash }),
    owner: seriesKey(mint, cash, interval),
    interval,
    open: open[interval],
    put: put.filter((at) => at.interval === interval).map(({ candle }) => candle),
    removed: remove.filter((at) => at.interval === interval).map(({ ts }) => ts),
    pages: new Map(),
    stored: new Map<number, readonly Candle[]>(),
    newest: undefined
  })).filter(({ put, removed }) => put.length > 0 || removed.length > 0)
}

/** Reads the pages that candles are put into or taken out of, and changes them. */
async function readPages(commit: TableCommit, { pages }: CandleTables, edits: readonly SeriesEdit[]) {
  const affected = edits.map((series) => {
    const { open, put, removed, interval } = series
    const times = [...(open === undefined ? [] : [open]), ...put].map(({ ts }) => ts)
    const numbers = new Set([...times, ...removed].map((ts) => pageAt(interval, ts)))
    return Array.from(numbers, (position) => ({ series, place: { owner: series.owner, position } }))
  })
  const stored = await pages.committed(
    commit,
    affected.flat().map(({ place }) => place)
  )
  affected.flat().forEach(({ series, place }, i) => take(series, place.position, stored[i] ?? []))
  for (const { open, put, removed, pages, interval } of edits) {
    const pageOf = (ts: number): Map<number, Candle> => pages.get(pageAt(interval, ts))!
    if (open !== undefined) pageOf(open.ts).set(open.ts, open)
    for (const candle of put) pageOf(candle.ts).set(candle.ts, candle)
    for (const ts of removed) pageOf(ts).delete(ts)
  }
}

async function findNewest(
  commit: TableCommit,
  { pages }: CandleTables,
  series: SeriesEdit
): Promise<Candle | undefined> {
  const { owner } = series
  return newestCandle(series.pages, {
    async before(page) {
      const [stored] = await pages.range(owner, { gte: 0, lt: page, order: 'desc', limit: 1 })
      return stored?.position ?? null
    },
    async load(page) {
      const [stored] = await pages.committed(commit, [{ owner, position: page }])
      take(series, page, stored ?? [])
    }
  })
}

async function stageOpen(
  commit: TableCommit,
  tables: CandleTables,
  pairs: readonly Pair[],
  open: readonly (OpenCandles | null)[],
  edits: readonly SeriesEdit[]
): Promise<void> {
  const byPair = Map.groupBy(edits, ({ pair }) => pair)
  const values = pairs.map((key, i) => {
    const value: { -readonly [K in keyof OpenCandles]: OpenCandles[K] } = { ...open[i] }
    for (const { interval, newest } of byPair.get(pairText(key)) ?? [])
      if (newest === undefined) delete value[interval]
      else value[interval] = newest
    return { key, value }
  })
  const isEmpty = ({ value }: (typeof values)[number]): boolean => Object.keys(value).length === 0
  await tables.open.stage(
    commit,
    values.filter((each) => !isEmpty(each))
  )
  await tables.open.remove(
    commit,
    values.filter(isEmpty).map(({ key }) => key)
  )
}

/** The newest candle is stored with those of the other intervals; the others are in pages. */
async function stagePages(commit: TableCommit, tables: CandleTables, edits: readonly SeriesEdit[]) {
  const changed = new Map<string, Place & { readonly value: Candle[] }>()
  for (const { owner, pages, stored, newest } of edits)
    for (const [position, candles] of pages) {
      const left = [...candles.values()].filter(({ ts }) => ts !== newest?.ts)
      const value = left.sort((a, b) => a.ts - b.ts)
      const before = stored.get(position)!
      if (value.length === before.length && value.every((candle, i) => candle === before[i])) continue
      changed.set(keyText(candlePageKey(owner, position)), { owner, position, value })
    }
  const all = [...changed.values()]
  await tables.pages.stage(
    commit,
    all.filter(({ value }) => value.length > 0)
  )
  await tables.pages.remove(
    commit,
    all.filter(({ value }) => value.length === 0)
  )
}

const pairText = ({ mint, cash }: Pair): string => pubkeyMapKey(mint) + pubkeyMapKey(cash)

function take({ pages, stored }: SeriesEdit, number: number, page: readonly Candle[]): void {
  stored.set(number, page)
  pages.set(number, new Map(page.map((candle) => [candle.ts, candle])))
}
