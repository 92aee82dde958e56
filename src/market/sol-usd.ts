import { pubkeyFromBase58, samePubkey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { powerOfTen } from './amount.ts'
import { USDC, USDT, WSOL } from './cash.ts'
import { legOf, otherSide } from './legs.ts'
import type { Fill } from './legs.ts'
import { priceOf } from './price.ts'
import type { SlotRow, SolPriceRow, TradeRow } from './rows.ts'

const SOL_MINT = pubkeyFromBase58(WSOL)
const DOLLAR_MINTS = [pubkeyFromBase58(USDC), pubkeyFromBase58(USDT)]
const MINUTE = 60
/** Maximum age of the newest trading minute, in seconds. */
const PRICE_AGE_MAX = 60 * MINUTE

/** A SOL–USDC or SOL–USDT trade worth at least 1 USD, weighted by its SOL volume. */
export interface SolTrade {
  readonly price: number
  readonly lamports: bigint
}

/**
 * The state of pricing SOL between blocks. It follows from stored rows alone: `restoreSolUsd` restores it after a
 * restart at any block.
 */
export interface SolUsd {
  /** Start of the newest block's minute, unix seconds; 0 before the first block. */
  readonly minute: number
  /** The price of that minute; null if unknown. */
  readonly price: SolPriceRow | null
  /** Whether the chain has given any price. From then on the operator's starting value is not used. */
  readonly fromChain: boolean
  /** The trades of that minute so far, which price the next one. */
  readonly trades: readonly SolTrade[]
}

export const COLD_SOL_USD: SolUsd = { minute: 0, price: null, fromChain: false, trades: [] }

/** Returns the SOL price and weight of a trade; null if it does not price SOL. */
export function solTradeOf(fill: Fill): SolTrade | null {
  const solSide = samePubkey(fill.inMint, SOL_MINT) ? 'in' : samePubkey(fill.outMint, SOL_MINT) ? 'out' : null
  if (solSide === null) return null
  const sol = legOf(fill, solSide)
  const dollars = legOf(fill, otherSide(solSide))
  if (!isDollar(dollars.mint) || dollars.amount < powerOfTen(dollars.decimals)) return null
  const price = priceOf(dollars, sol)
  return price === null ? null : { price, lamports: sol.amount }
}

function isDollar(mint: Pubkey): boolean {
  return DOLLAR_MINTS.some((dollar) => samePubkey(dollar, mint))
}

/**
 * Returns the state after a block; its `price` is the one for the rows of its minute. A minute's price is set at its
 * first block, from the newest earlier minute with trades, at most 60 minutes back. If no such minute exists, the
 * first block with trades prices its own minute. Before the chain has given any price, the operator's value is used.
 *
 * The chain's block times never fall. A block whose time falls prices nothing, and gets the price of `solPriceAt`.
 */
export function advanceSolUsd(
  state: SolUsd,
  blockTime: number,
  trades: readonly SolTrade[],
  startingUsd: number | null
): SolUsd {
  const blockMinute = minuteOf(blockTime)
  if (blockMinute < state.minute) return state
  const begun = blockMinute > state.minute ? beginMinute(state, blockMinute, startingUsd) : state
  if (trades.length === 0) return begun
  const isOpen = begun.price === null || begun.price.sourceMinute === null
  return {
    minute: blockMinute,
    price: isOpen ? { minute: blockMinute, usd: medianUsd(trades), sourceMinute: blockMinute } : begun.price,
    fromChain: true,
    trades: [...begun.trades, ...trades]
  }
}

/**
 * Returns a minute's price if it applies to rows and views of a time, else null. It applies if its trades are not
 * newer than the minute of that time, and at most 60 minutes older. Unless block times fall, it is the price of the
 * time's own minute.
 */
export function solPriceAt(price: SolPriceRow | null, time: number): SolPriceRow | null {
  if (price === null) return null
  const minute = minuteOf(time)
  // The operator's value has no trades. It applies up to the minute in which it was last used.
  if (price.sourceMinute === null) return minute <= price.minute ? price : null
  const age = minute - price.sourceMinute
  return age >= 0 && age <= PRICE_AGE_MAX ? price : null
}

/**
 * Returns the state before the first block of a store that continues another chain of blocks; `end` is that chain's state at
 * its end. The block's minute begins with the price that the other chain gives it. Null if the other chain has no price for
 * it. Trades of the other chain do not count in the block's own minute, because a restart could not restore them.
 */
export function solUsdAfter(end: SolUsd, blockTime: number): SolUsd | null {
  const minute = minuteOf(blockTime)
  if (minute < end.minute) return null
  const price = minute === end.minute ? end.price : inheritedPrice(end, minute, null)
  if (price === null || price.sourceMinute === null) return null
  return {
    minute: minute - MINUTE,
    price: { ...price, minute: minute - MINUTE },
    fromChain: true,
    trades: []
  }
}

function beginMinute(state: SolUsd, minute: number, startingUsd: number | null): SolUsd {
  return { minute, price: inheritedPrice(state, minute, startingUsd), fromChain: state.fromChain, trades: [] }
}

function inheritedPrice(state: SolUsd, minute: number, startingUsd: number | null): SolPriceRow | null {
  if (!state.fromChain) return startingUsd === null ? null : { minute, usd: startingUsd, sourceMinute: null }
  const sourceMinute = state.trades.length > 0 ? state.minute : state.price?.sourceMinute
  if (sourceMinute === undefined || sourceMinute === null || minute - sourceMinute > PRICE_AGE_MAX)
    return null
  return { minute, usd: state.trades.length > 0 ? medianUsd(state.trades) : state.price!.usd, sourceMinute }
}

/**
 * Restores the state at a committed head. `price` is the newest `sol_price` row at or before its minute. `rows` are
 * the rows listed under wrapped SOL from the start of that minute; other rows are ignored.
 */
export function restoreSolUsd(
  head: SlotRow | null,
  price: SolPriceRow | null,
  rows: Iterable<TradeRow>
): SolUsd {
  if (head === null) return COLD_SOL_USD
  const minute = minuteOf(head.blockTime)
  const trades: SolTrade[] = []
  for (const row of rows) {
    const trade = minuteOf(row.blockTime) === minute ? solTradeOf(row) : null
    if (trade !== null) trades.push(trade)
  }
  const fromChain = price !== null && price.sourceMinute !== null
  return { minute, price: price?.minute === minute ? price : null, fromChain, trades }
}

export function minuteOf(time: number): number {
  return time - (time % MINUTE)
}

/** Returns the lowest price at or below which half of the volume traded; the order of trades does not matter. */
function medianUsd(trades: readonly SolTrade[]): number {
  const sorted = trades.toSorted((a, b) => a.price - b.price)
  const total = sorted.reduce((sum, trade) => sum + trade.lamports, 0n)
  let below = 0n
  for (const trade of sorted) {
    below += trade.lamports
    if (below * 2n >= total) return trade.price
  }
  throw new RangeError('a median needs a trade')
}
