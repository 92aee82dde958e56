import { humanAmount } from '../market/amount.ts'
import type { Candle, Ohlc } from '../market/rows.ts'
import { secondsText } from './time.ts'

export interface CandleView {
  readonly currency: 'native' | 'usd'
  readonly decimals: number
  readonly cashDecimals: number
  /** Length of the interval in seconds, and the block time of the indexed head. */
  readonly intervalSeconds: number
  readonly headTime: number
}

/** The prices of a bucket in a currency; null when it carries no candle (spec choices, section 12). */
export function candlePrices(candle: Candle, currency: CandleView['currency']): Ohlc | null {
  return currency === 'usd' ? candle.usd : candle.native
}

/** A candle as served. `closed` is false while the indexed head is still inside the bucket. */
export function candleBody(candle: Candle, prices: Ohlc, view: CandleView) {
  return {
    ts: secondsText(candle.ts),
    ts_ms: candle.ts * 1000,
    open: prices.open,
    high: prices.high,
    low: prices.low,
    close: prices.close,
    // Null where no row of the bucket has a USD price: unknown is not zero.
    volume_usd: candle.usdRaw === null ? null : Number(candle.volumeMicroUsd) / 1e6,
    volume_token: humanAmount(candle.volumeToken, view.decimals),
    volume_cash: humanAmount(candle.volumeCash, view.cashDecimals),
    trades: candle.trades,
    buys: candle.buys,
    sells: candle.trades - candle.buys,
    closed: candle.ts + view.intervalSeconds <= view.headTime
  }
}
