import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { ChainEvent } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { bucketStart } from './buckets.ts'
import { addToCandle, beginCandle, type GrowingCandle } from './candles.ts'
import type { CashList } from './cash.ts'
import { legOf, otherSide } from './legs.ts'
import type { Leg } from './legs.ts'
import { isDust, judgePrice, priceOf } from './price.ts'
import type { LastPrice, PairAddress, PairRow, TradeRow } from './rows.ts'

/** Identifies a (mint, cash) pair in a Map. */
export type PairKey = string

export function pairKey(mint: Pubkey, cash: Pubkey): PairKey {
  return pubkeyMapKey(mint) + pubkeyMapKey(cash)
}

/** The pair of a trade with a cash side. */
export function pairsOf(event: ChainEvent, cash: CashList): PairAddress[] {
  const side = event.kind === 'trade' ? cash.sideOf(event) : null
  if (event.kind !== 'trade' || side === null) return []
  return [{ mint: legOf(event, otherSide(side)).mint, cash: legOf(event, side).mint }]
}

/** A row with a cash side before its price is judged. */
export type UnpricedRow = TradeRow & { price: number | null; priceForming: boolean }

/** A pair during the fold of blocks: its stored state and the rows' additions to its buckets. */
export class PairFold {
  readonly key: PairKey
  /** The state after the rows added so far. */
  row: PairRow
  /** The rows as one candle for each minute, ascending. */
  readonly minutes: GrowingCandle[] = []
  readonly #stored: PairRow | null

  constructor(key: PairKey, stored: PairRow | null, cash: Leg, token: Leg) {
    this.key = key
    this.#stored = stored
    this.row = stored ?? {
      mint: token.mint,
      cash: cash.mint,
      decimals: token.decimals,
      cashDecimals: cash.decimals,
      recent: [],
      excluded: [],
      last: null
    }
  }

  /**
   * Whether the pair must be stored. A pair is stored from its first trade on, so an unknown pair has no candles
   * either.
   */
  get isChanged(): boolean {
    return this.row !== this.#stored
  }

  /** Sets the price of the pair's next row, in cursor order and not in an earlier minute, and adds the row. */
  take(row: UnpricedRow, cash: Leg, token: Leg): void {
    const price = priceOf(cash, token)
    row.price = price
    row.priceForming = price !== null && !isDust(cash, token, row.cashUsd) && this.#judge(row, price)
    const last = this.minutes.at(-1)
    const minute = bucketStart('1m', row.blockTime)
    if (last?.ts === minute) addToCandle(last, row)
    else this.minutes.push(beginCandle(row, minute))
  }

  #judge(row: UnpricedRow, price: number): boolean {
    const { forming, level } = judgePrice(this.row, price)
    const { mint, cash, decimals, cashDecimals, last } = this.row
    const { recent, excluded } = level
    this.row = {
      mint,
      cash,
      decimals,
      cashDecimals,
      recent,
      excluded,
      last: forming ? lastPriceOf(row, price) : last
    }
    return forming
  }
}

function lastPriceOf(row: TradeRow, price: number): LastPrice {
  const { cursor, slot, blockTime, signature, venue, pool, cashUsd } = row
  return { cursor, slot, blockTime, signature, venue, pool, price, cashUsd }
}
