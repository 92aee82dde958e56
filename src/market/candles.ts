import { microUsd } from './amount.ts'
import { bucketStart } from './buckets.ts'
import { legOf, otherSide } from './legs.ts'
import type { Candle, CandleAddress, CandleInterval, CandleUpsert, Ohlc, TradeRow } from './rows.ts'

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

/** A candle to which trades are added. */
export type GrowingCandle = {
  -readonly [Field in keyof Candle]: Candle[Field] extends Ohlc | null ? GrowingOhlc | null : Candle[Field]
}
type GrowingOhlc = { -readonly [Field in keyof Ohlc]: Ohlc[Field] }

/** Begins a candle with one trade with a cash side; `ts` is the start of its bucket. It shares no object with others. */
export function beginCandle(row: TradeRow, ts: number): GrowingCandle {
  const candle: GrowingCandle = candleOf(row, ts)
  candle.native &&= { ...candle.native }
  candle.usd &&= { ...candle.usd }
  return candle
}

/** Adds the next trade with a cash side. The result is that of merging the candle with the trade's own. */
export function addToCandle(candle: GrowingCandle, row: TradeRow): void {
  const cashSide = row.cashSide!
  const cash = legOf(row, cashSide)
  const { price, cashUsd } = row
  if (price !== null) {
    candle.nativeRaw = withPrice(candle.nativeRaw, price)
    if (row.priceForming) candle.native = withPrice(candle.native, price)
    if (cashUsd !== null) {
      candle.usdRaw = withPrice(candle.usdRaw, price * cashUsd)
      if (row.priceForming) candle.usd = withPrice(candle.usd, price * cashUsd)
    }
  }
  candle.volumeToken += cashSide === 'in' ? row.outAmount : row.inAmount
  candle.volumeCash += cash.amount
  candle.trades++
  if (cashSide === 'in') candle.buys++
  if (cashUsd === null) candle.unpriced = (candle.unpriced ?? 0) + 1
  else candle.volumeMicroUsd += microUsd(cash, cashUsd)
}

function withPrice(prices: GrowingOhlc | null, price: number): GrowingOhlc {
  if (prices === null) return flat(price)
  prices.high = Math.max(prices.high, price)
  prices.low = Math.min(prices.low, price)
  prices.close = price
  return prices
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

function flat(price: number): GrowingOhlc {
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
