import type { Pubkey } from '../../src/chain/pubkey.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type { Candle, Ohlc, PairRow, TradeRow } from '../../src/market/rows.ts'
import type { CandleUpsert } from '../port.ts'
import type { Choices } from './choices.ts'

export function sampleCandle(choices: Choices, ts: number): Candle {
  const prices = (): Ohlc => ({
    open: choices.fraction(),
    high: choices.fraction() * 1e9,
    low: choices.fraction() * 1e-12,
    close: choices.fraction()
  })
  const native = choices.chance(0.2) ? null : prices()
  const usd = choices.chance(0.3) ? null : prices()
  const rest = {
    ts,
    native,
    usd,
    nativeRaw: choices.chance(0.2) ? null : choices.chance(0.5) && native !== null ? { ...native } : prices(),
    usdRaw: choices.chance(0.3) ? null : choices.chance(0.5) && usd !== null ? { ...usd } : prices(),
    volumeToken: choices.amount() * choices.amount(),
    volumeCash: choices.amount(),
    volumeMicroUsd: choices.amount(),
    trades: choices.below(1_000),
    buys: choices.below(500)
  }
  return rest.trades % 4 === 0 ? { ...rest, unpriced: rest.trades + 1 } : rest
}

/** The bucket of the block in each interval and, now and then, one that has passed. */
export function sampleUpserts(
  choices: Choices,
  pair: { readonly mint: Pubkey; readonly cash: Pubkey },
  blockTime: number
): CandleUpsert[] {
  const seconds = [60, 300, 900, 1_800, 3_600, 14_400, 86_400, 604_800]
  return INTERVALS.flatMap((interval, i) => {
    const current = blockTime - (blockTime % seconds[i]!)
    const times = choices.chance(0.2) ? [current - seconds[i]! * choices.below(90), current] : [current]
    return times.map((ts) => ({ ...pair, interval, candle: sampleCandle(choices, ts) }))
  })
}

export function samplePair(
  choices: Choices,
  pair: { readonly mint: Pubkey; readonly cash: Pubkey },
  last: TradeRow
): PairRow {
  const { cursor, slot, blockTime, signature, venue, pool } = last
  return {
    ...pair,
    decimals: choices.below(10),
    cashDecimals: 9,
    recent: Array.from({ length: choices.below(21) }, () => choices.fraction()),
    excluded: Array.from({ length: choices.below(4) }, () => choices.fraction()),
    last: choices.chance(0.2)
      ? null
      : {
          cursor,
          slot,
          blockTime,
          signature,
          venue,
          pool,
          price: choices.fraction(),
          cashUsd: choices.chance(0.5) ? null : 1
        }
  }
}
