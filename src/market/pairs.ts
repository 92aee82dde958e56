import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { ChainEvent } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { candleOf, mergeCandles } from './candles.ts'
import type { CashList } from './cash.ts'
import { legOf, otherSide } from './legs.ts'
import type { Leg } from './legs.ts'
import { isDust, judgePrice, priceOf } from './price.ts'
import type { Candle, PairAddress, PairRow, TradeRow } from './rows.ts'

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
export type UnpricedRow = Omit<TradeRow, 'price' | 'priceForming'>

/** A pair during the fold of a block: its stored state and the block's addition to its buckets. */
export class PairFold {
  readonly key: PairKey
  /** The state after the rows added so far. */
  row: PairRow
  /** The block's rows as one candle, not assigned to a bucket; null before the first. */
  candle: Candle | null = null
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

  /** Prices and adds the pair's next row, in cursor order. */
  take(unpriced: UnpricedRow, cash: Leg, token: Leg): TradeRow {
    const price = priceOf(cash, token)
    const mayForm = price !== null && !isDust(cash, token, unpriced.cashUsd)
    const row = { ...unpriced, price, priceForming: mayForm && this.#judge(unpriced, price) }
    const part = candleOf(row, 0)
    this.candle = this.candle === null ? part : mergeCandles(this.candle, part)
    return row
  }

  #judge(unpriced: UnpricedRow, price: number): boolean {
    const { forming, level } = judgePrice(this.row, price)
    const { cursor, slot, blockTime, signature, venue, pool, cashUsd } = unpriced
    const last = forming ? { cursor, slot, blockTime, signature, venue, pool, price, cashUsd } : this.row.last
    this.row = { ...this.row, ...level, last }
    return forming
  }
}
