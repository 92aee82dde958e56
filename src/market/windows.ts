import { bucketStart, mergeCandles } from './candles.ts'
import type { Candle, Interval, Ohlc } from './rows.ts'

const MINUTE = 60

/** A range of one interval's candles: from ≤ ts < to. */
export interface WindowPart {
  readonly interval: Interval
  readonly from: number
  readonly to: number
}

/**
 * Which candles make up the window of `seconds` that ends with the minute of `endTime`, the block time of the
 * indexed head: whole hours from 1h candles, the edges from 1m candles, oldest first, empty ranges left out.
 * `seconds` is a multiple of 60; the window is that many minutes, the head's running minute included.
 */
export function windowParts(endTime: number, seconds: number): WindowPart[] {
  const to = bucketStart('1m', endTime) + MINUTE
  const from = to - seconds
  const firstHour = Math.min(bucketStart('1h', from + 3_599), to)
  const lastHour = Math.max(bucketStart('1h', to), firstHour)
  const parts: WindowPart[] = [
    { interval: '1m', from, to: firstHour },
    { interval: '1h', from: firstHour, to: lastHour },
    { interval: '1m', from: lastHour, to }
  ]
  return parts.filter((part) => part.from < part.to)
}

export interface WindowStats {
  readonly trades: number
  readonly buys: number
  /** Base units of the token and of the cash. */
  readonly volumeToken: bigint
  readonly volumeCash: bigint
  /** Null where trades are known, and no price in USD of any of them. */
  readonly volumeMicroUsd: bigint | null
  /** In the pair's cash currency and in USD; null when no price is known to compare with. */
  readonly changePct: number | null
  readonly changeUsdPct: number | null
}

/**
 * Folds a window's candles, oldest first. The change is counted from the last price before the window, so `before`
 * holds a candle or more of the time just before it, oldest first; a token without an earlier price is counted
 * from its first.
 */
export function windowStats(candles: readonly Candle[], before: readonly Candle[] = []): WindowStats {
  const total = foldAll(candles)
  const earlier = foldAll(before)
  return {
    trades: total?.trades ?? 0,
    buys: total?.buys ?? 0,
    volumeToken: total?.volumeToken ?? 0n,
    volumeCash: total?.volumeCash ?? 0n,
    volumeMicroUsd: total === null ? 0n : total.usdRaw === null ? null : total.volumeMicroUsd,
    changePct: changePct(earlier?.native ?? null, total?.native ?? null),
    changeUsdPct: changePct(earlier?.usd ?? null, total?.usd ?? null)
  }
}

function foldAll(candles: readonly Candle[]): Candle | null {
  return candles.length === 0 ? null : candles.reduce(mergeCandles)
}

function changePct(earlier: Ohlc | null, window: Ohlc | null): number | null {
  const start = earlier?.close ?? window?.open
  const end = window?.close ?? earlier?.close
  return start === undefined || end === undefined ? null : ((end - start) / start) * 100
}
