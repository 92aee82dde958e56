import { microUsd } from './amount.ts'
import { legOf, otherSide } from './legs.ts'
import { INTERVALS } from './rows.ts'
import type { Candle, CandleAddress, CandleInterval, CandleUpsert, Ohlc, TradeRow } from './rows.ts'

const SECONDS: Readonly<Record<CandleInterval, number>> = {
  '1s': 1,
  '5s': 5,
  '15s': 15,
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '30m': 1_800,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
  '1w': 604_800
}
/** 1970-01-05, a Monday; weeks begin on Mondays at 00:00 UTC. */
const FIRST_MONDAY = 4 * 86_400

export function intervalSeconds(interval: CandleInterval): number {
  return SECONDS[interval]
}

/** Returns the start of a time's bucket in Unix seconds. */
export function bucketStart(interval: CandleInterval, time: number): number {
  const seconds = SECONDS[interval]
  const origin = interval === '1w' ? FIRST_MONDAY : 0
  return Math.floor((time - origin) / seconds) * seconds + origin
}

/** Returns the starts of a time's buckets, in the order of INTERVALS. */
export function bucketStarts(time: number): number[] {
  return INTERVALS.map((interval) => bucketStart(interval, time))
}

/** Returns the candle of one trade with a cash side, for the bucket that starts at `ts`. */
export function candleOf(row: TradeRow, ts: number): Candle {
  const cashSide = row.cashSide!
  const cash = legOf(row, cashSide)
  const { price, cashUsd } = row
  const nativeRaw = price === null ? null : flat(price)
  const usdRaw = price === null || cashUsd === null ? null : flat(price * cashUsd)
  return {
    ts,
    native: row.priceForming ? nativeRaw : null,
    usd: row.priceForming ? usdRaw : null,
    nativeRaw,
    usdRaw,
    volumeToken: legOf(row, otherSide(cashSide)).amount,
    volumeCash: cash.amount,
    volumeMicroUsd: cashUsd === null ? 0n : microUsd(cash, cashUsd),
    trades: 1,
    buys: cashSide === 'in' ? 1 : 0,
    ...(cashUsd === null && { unpriced: 1 })
  }
}

/** Merges two shares of one bucket, the earlier first. Associative, to the bit (INVARIANTS 7). */
export function mergeCandles(earlier: Candle, later: Candle): Candle {
  const unpriced = (earlier.unpriced ?? 0) + (later.unpriced ?? 0)
  return {
    ts: earlier.ts,
    native: mergeOhlc(earlier.native, later.native),
    usd: mergeOhlc(earlier.usd, later.usd),
    nativeRaw: mergeOhlc(earlier.nativeRaw, later.nativeRaw),
    usdRaw: mergeOhlc(earlier.usdRaw, later.usdRaw),
    volumeToken: earlier.volumeToken + later.volumeToken,
    volumeCash: earlier.volumeCash + later.volumeCash,
    volumeMicroUsd: earlier.volumeMicroUsd + later.volumeMicroUsd,
    trades: earlier.trades + later.trades,
    buys: earlier.buys + later.buys,
    ...(unpriced > 0 && { unpriced })
  }
}

/** A bucket that was found at an address, as a row. */
export const bucketAt = (
  { mint, cash, interval }: CandleAddress,
  candle: Candle | null | undefined
): CandleUpsert | null => (candle == null ? null : { mint, cash, interval, candle })

/** The larger buckets of a pair from its smaller ones, oldest first. */
export function foldCandles(candles: Iterable<Candle>, interval: CandleInterval): Candle[] {
  const buckets = new Map<number, Candle>()
  for (const candle of candles) {
    const part = { ...candle, ts: bucketStart(interval, candle.ts) }
    const bucket = buckets.get(part.ts)
    buckets.set(part.ts, bucket === undefined ? part : mergeCandles(bucket, part))
  }
  return [...buckets.values()].sort((a, b) => a.ts - b.ts)
}

/** Folds rows of a pair in cursor order into buckets, oldest first. */
export function foldRows(rows: Iterable<TradeRow>, interval: CandleInterval): Candle[] {
  return foldCandles(
    Array.from(rows, (row) => candleOf(row, row.blockTime)),
    interval
  )
}

function flat(price: number): Ohlc {
  return { open: price, high: price, low: price, close: price }
}

function mergeOhlc(earlier: Ohlc | null, later: Ohlc | null): Ohlc | null {
  if (earlier === null) return later
  if (later === null) return earlier
  return {
    open: earlier.open,
    high: Math.max(earlier.high, later.high),
    low: Math.min(earlier.low, later.low),
    close: later.close
  }
}
