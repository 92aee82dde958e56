import type { Json } from './oracle-bodies.ts'
import { stamp } from './oracle-bodies.ts'
import { human, type Listed } from './oracle-story.ts'

/** Seconds of the intervals that the service folds from rows. */
const SECONDS = { '1s': 1, '5s': 5, '15s': 15 }
const STORED = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '30m': 1800,
  '1h': 3600,
  '4h': 14400,
  '1d': 86400,
  '1w': 604800
}
const LENGTHS = { ...SECONDS, ...STORED }
/** Intervals of which candles are stored. */
export const INTERVALS = Object.keys(STORED) as (keyof typeof STORED)[]
export const SECOND_INTERVALS = Object.keys(SECONDS) as (keyof typeof SECONDS)[]

export interface CandleQuestion {
  readonly interval: keyof typeof LENGTHS
  readonly currency: 'native' | 'usd'
  readonly raw: boolean
  readonly fill: 'none' | 'previous'
  readonly from?: number
  readonly to?: number
}

/** Returns a row's value in millionths of a USD, or null if it is unknown. */
export function microUsd(row: Listed): bigint | null {
  if (row.cash === null || row.cashUsd === null) return null
  return BigInt(Math.round(human(row.cashRaw, row.cashDecimals) * row.cashUsd * 1e6))
}

export const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

/** Returns all candles of a pair's rows, oldest first. Rows are in cursor order. */
export function candlesJson(rows: readonly Listed[], question: CandleQuestion, headTime: number): Json[] {
  const { interval, currency, raw, fill, from = 0, to = Infinity } = question
  const seconds = LENGTHS[interval]
  const startOf = (time: number): number => {
    // 1970-01-05 was a Monday.
    const origin = interval === '1w' ? 4 * 86400 : 0
    return time - ((((time - origin) % seconds) + seconds) % seconds)
  }
  const priceOf = (row: Listed): number | null => {
    if (!raw && !row.forming) return null
    return currency === 'native' || row.price === null
      ? row.price
      : row.cashUsd === null
        ? null
        : row.price * row.cashUsd
  }
  const starts = new Set(rows.map(({ block }) => startOf(block.blockTime)))
  if (fill === 'previous' && rows.length > 0) {
    for (let ts = Math.min(...starts); ts <= startOf(headTime); ts += seconds) starts.add(ts)
  }
  let close: number | null = null
  const candles: Json[] = []
  for (const ts of [...starts].sort((a, b) => a - b)) {
    const own = rows.filter(({ block }) => startOf(block.blockTime) === ts)
    const prices = own.map(priceOf).filter((price) => price !== null)
    const shown: readonly number[] =
      prices.length > 0 ? prices : fill === 'previous' && close !== null ? [close] : []
    close = prices.at(-1) ?? close
    if (shown.length === 0 || ts < from || ts >= to) continue
    const usd = own.map(microUsd).filter((value) => value !== null)
    const isValued = own.some((row) => row.price !== null && row.cashUsd !== null)
    const [token, cash] = [own.map((row) => row.tokenRaw), own.map((row) => row.cashRaw)]
    const buys = own.filter(({ side }) => side === 'buy').length
    candles.push({
      ts: stamp(ts),
      ts_ms: ts * 1000,
      open: shown[0],
      high: Math.max(...shown),
      low: Math.min(...shown),
      close: shown.at(-1),
      volume_usd: own.length > 0 && !isValued ? null : Number(sum(usd)) / 1e6,
      volume_token: human(sum(token), rows[0]!.tokenDecimals),
      volume_cash: human(sum(cash), rows[0]!.cashDecimals),
      trades: own.length,
      buys,
      sells: own.length - buys,
      ...unpricedIn(own),
      closed: ts + seconds <= headTime
    })
  }
  return candles
}

export function usdOf({ price, cashUsd }: Listed): number | null {
  return price === null || cashUsd === null ? null : price * cashUsd
}

/** The count of trades that a volume in USD lacks; empty if it lacks no trades. */
export function unpricedIn(rows: readonly Listed[]): Json {
  const unpriced = rows.filter((row) => microUsd(row) === null).length
  return unpriced === 0 ? {} : { unpriced_trades: unpriced }
}

/** Returns the unpriced trades of the last day. */
export function unpricedInDay(rows: readonly Listed[]): Json {
  const { unpriced_trades: unpriced } = unpricedIn(rows)
  return unpriced === undefined ? {} : { unpriced_trades_24h: unpriced }
}

/** Returns the value of rows in USD, or null if there are rows and none has a known value. */
export function volume(rows: readonly Listed[]): number | null {
  const known = rows.map(microUsd).filter((value) => value !== null)
  return rows.length > 0 && known.length === 0 ? null : Number(sum(known)) / 1e6
}
