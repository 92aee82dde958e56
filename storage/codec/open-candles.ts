import { INTERVALS } from '../../src/market/rows.ts'
import type { Candle, Interval } from '../../src/market/rows.ts'
import type { CandleUpsert } from '../port.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { CANDLE_WEIGHT, readCandle, writeCandle } from './candle.ts'
import { pageAt } from './candle-pages.ts'
import { intervalCodes } from './codes.ts'
import type { RecordKind } from './record.ts'

/** The newest bucket of a pair in each interval. */
export type OpenCandles = Readonly<Partial<Record<Interval, Candle>>>

/**
 * The first page that a series may have, by interval: no earlier page is stored. A series that an earlier version has begun has
 * none.
 */
export type FirstPages = Readonly<Partial<Record<Interval, number>>>

/** The series of a pair. */
export interface OpenSeries {
  readonly newest: OpenCandles
  readonly firstPages: FirstPages
}

/** The series of a pair that has none. */
export const NO_SERIES: OpenSeries = { newest: {}, firstPages: {} }

/** Added to the code of an interval that has a first page. */
const BOUNDED = 128

const weigh = (newest: OpenCandles): number => Object.keys(newest).length * CANDLE_WEIGHT

/** The newest candle of a pair in each interval that has one. */
export const openCandlesKind: RecordKind<OpenCandles> = {
  name: 'newest candles',
  write: (out, newest) => writeSeries(out, { newest, firstPages: {} }),
  read: (source) => readSeries(source).newest,
  weigh
}

/** The newest candles, each with the first page of its series. */
export const openSeriesKind: RecordKind<OpenSeries> = {
  name: 'newest candles',
  write: writeSeries,
  read: readSeries,
  weigh: ({ newest }) => weigh(newest)
}

/** Returns a pair's newest candles after the upserts, and the candles that move into pages. */
export function replaceNewest(
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

/** Returns the first pages of a pair's series after the upserts. Those that are unknown stay so. */
export function lowerFirstPages(
  { newest, firstPages }: OpenSeries,
  upserts: readonly CandleUpsert[]
): FirstPages {
  let lowered: Partial<Record<Interval, number>> | null = null
  for (const { interval, candle } of upserts) {
    const first = (lowered ?? firstPages)[interval]
    // Most upserts are of the newest bucket, or of a later one.
    if (first === undefined || candle.ts >= newest[interval]!.ts) continue
    const page = pageAt(interval, candle.ts)
    if (page < first) (lowered ??= { ...firstPages })[interval] = page
  }
  return lowered ?? firstPages
}

/** Returns the first pages of series that begin with the upserts. */
export function firstPagesOf(upserts: readonly CandleUpsert[]): FirstPages {
  const first: Partial<Record<Interval, number>> = {}
  for (const { interval, candle } of upserts)
    first[interval] = Math.min(first[interval] ?? Infinity, pageAt(interval, candle.ts))
  return first
}

function writeSeries(out: ByteWriter, { newest, firstPages }: OpenSeries): void {
  let before: Candle | null = null
  for (const interval of INTERVALS) {
    const candle = newest[interval]
    if (candle === undefined) continue
    const first = firstPages[interval]
    out.byte(intervalCodes.codeOf(interval) + (first === undefined ? 0 : BOUNDED))
    writeCandle(out, candle, before)
    if (first !== undefined) out.count(pageAt(interval, candle.ts) - first)
    before = candle
  }
}

function readSeries(source: ByteReader): OpenSeries {
  const newest: Partial<Record<Interval, Candle>> = {}
  const firstPages: Partial<Record<Interval, number>> = {}
  let before: Candle | null = null
  while (!source.atEnd) {
    const code = source.byte()
    const interval = intervalCodes.wordOf(code % BOUNDED)
    newest[interval] = before = readCandle(source, before)
    if (code >= BOUNDED) firstPages[interval] = pageAt(interval, before.ts) - source.count()
  }
  return { newest, firstPages }
}
