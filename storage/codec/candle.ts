import type { Candle, Ohlc } from '../../src/market/rows.ts'
import { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import type { RecordKind } from './record.ts'

/** Estimated bytes of a decoded candle with both prices in memory. */
export const CANDLE_WEIGHT = 450

const NATIVE = 1
const USD = 2
const NATIVE_RAW = 4
const USD_RAW = 8
/** The raw prices are those of the price-forming rows, as in most buckets. */
const NATIVE_RAW_SAME = 16
const USD_RAW_SAME = 32
/** Everything except the time is as in the candle before: a quiet pair's intervals hold the same few trades. */
const REPEATED = 64
/** The number of trades without a USD value follows at the end. */
const UNPRICED = 128

/** Candles of a page, ascending by time. */
export const candlePageKind: RecordKind<readonly Candle[]> = {
  name: 'candle page',
  write: writeCandles,
  read: (source) => readCandles(source),
  weigh: (candles) => candles.length * CANDLE_WEIGHT
}

/** Reads the candles of a page with the prices in one currency. The others are NaN. */
export function candlesIn(contents: Uint8Array, currency: 'native' | 'usd'): readonly Candle[] {
  return readCandles(new ByteReader(contents), currency)
}

function writeCandles(out: ByteWriter, candles: readonly Candle[]): void {
  candles.forEach((candle, i) => writeCandle(out, candle, candles[i - 1] ?? null))
}

function readCandles(source: ByteReader, currency?: 'native' | 'usd'): Candle[] {
  const candles: Candle[] = []
  let before: Candle | null = null
  while (!source.atEnd) candles.push((before = readCandle(source, before, currency)))
  return candles
}

/** Writes a candle that follows another one, or null. */
export function writeCandle(out: ByteWriter, candle: Candle, before: Candle | null): void {
  out.offset(candle.ts - (before?.ts ?? 0))
  const flags = before !== null && isRepeated(candle, before) ? REPEATED : flagsOf(candle)
  out.byte(flags)
  if (flags === REPEATED) return
  if (flags & NATIVE) writeOhlc(out, candle.native!)
  if (flags & USD) writeOhlc(out, candle.usd!)
  if (flags & NATIVE_RAW) writeOhlc(out, candle.nativeRaw!)
  if (flags & USD_RAW) writeOhlc(out, candle.usdRaw!)
  out.amount(candle.volumeToken)
  out.amount(candle.volumeCash)
  out.amount(candle.volumeMicroUsd)
  out.count(candle.trades)
  out.count(candle.buys)
  if (flags & UNPRICED) out.count(candle.unpriced!)
}

/** Reads a candle that follows another one, or null, with the prices in one currency or in both. */
export function readCandle(source: ByteReader, before: Candle | null, currency?: 'native' | 'usd'): Candle {
  const ts = source.offset() + (before?.ts ?? 0)
  const flags = source.byte()
  if (flags === REPEATED && before !== null) return { ...before, ts }
  const readNative = currency === 'usd' ? skipOhlc : readOhlc
  const readUsd = currency === 'native' ? skipOhlc : readOhlc
  const native = flags & NATIVE ? readNative(source) : null
  const usd = flags & USD ? readUsd(source) : null
  const candle: Candle = {
    ts,
    native,
    usd,
    nativeRaw: flags & NATIVE_RAW ? readNative(source) : flags & NATIVE_RAW_SAME ? native : null,
    usdRaw: flags & USD_RAW ? readUsd(source) : flags & USD_RAW_SAME ? usd : null,
    volumeToken: source.amount(),
    volumeCash: source.amount(),
    volumeMicroUsd: source.amount(),
    trades: source.count(),
    buys: source.count()
  }
  // Few candles have it, and adding it to each literal takes as long as five other fields.
  return flags & UNPRICED ? { ...candle, unpriced: source.count() } : candle
}

function isRepeated(candle: Candle, before: Candle): boolean {
  return (
    candle.trades === before.trades &&
    candle.buys === before.buys &&
    candle.unpriced === before.unpriced &&
    candle.volumeToken === before.volumeToken &&
    candle.volumeCash === before.volumeCash &&
    candle.volumeMicroUsd === before.volumeMicroUsd &&
    sameOhlc(candle.native, before.native) &&
    sameOhlc(candle.usd, before.usd) &&
    sameOhlc(candle.nativeRaw, before.nativeRaw) &&
    sameOhlc(candle.usdRaw, before.usdRaw)
  )
}

function flagsOf(candle: Candle): number {
  let flags = 0
  if (candle.native !== null) flags |= NATIVE
  if (candle.usd !== null) flags |= USD
  if (candle.nativeRaw !== null)
    flags |= sameOhlc(candle.nativeRaw, candle.native) ? NATIVE_RAW_SAME : NATIVE_RAW
  if (candle.usdRaw !== null) flags |= sameOhlc(candle.usdRaw, candle.usd) ? USD_RAW_SAME : USD_RAW
  if (candle.unpriced !== undefined) flags |= UNPRICED
  return flags
}

function writeOhlc(out: ByteWriter, prices: Ohlc): void {
  out.float(prices.open)
  out.float(prices.high)
  out.float(prices.low)
  out.float(prices.close)
}

function readOhlc(source: ByteReader): Ohlc {
  return { open: source.float(), high: source.float(), low: source.float(), close: source.float() }
}

const UNREAD: Ohlc = { open: NaN, high: NaN, low: NaN, close: NaN }
const OHLC_BYTES = 4 * 8

function skipOhlc(source: ByteReader): Ohlc {
  source.skip(OHLC_BYTES)
  return UNREAD
}

function sameOhlc(a: Ohlc | null, b: Ohlc | null): boolean {
  if (a === b) return true
  if (a === null || b === null) return false
  return (
    Object.is(a.open, b.open) &&
    Object.is(a.high, b.high) &&
    Object.is(a.low, b.low) &&
    Object.is(a.close, b.close)
  )
}
