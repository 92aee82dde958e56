import { samePubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { Pair } from './market-state.ts'
import { inMintOf } from './pairs.ts'
import { swapOnPair } from './pair-trading.ts'
import type { MarketTurn } from './turn.ts'

interface PoolKind {
  /** Share by which the price may be off before a trade back earns more than its fee. */
  readonly band: number
  /** Change in the logarithm of the price by a trade of everything that one side holds. */
  readonly impact: number
}

/** Impact in a constant product pool with two halves of equal worth. */
const PRODUCT = 2

/** By venue. The band is the fee plus the venue's own price steps. */
const POOL_KINDS: Partial<Record<VenueId, PoolKind>> = {
  // Its price wanders independently: twice the fee of 0.1 %.
  lifinity: { band: 0.002, impact: 0.5 },
  'meteora-damm-v1': { band: 0.0025, impact: PRODUCT },
  'meteora-damm-v2': { band: 0.0025, impact: PRODUCT },
  // Bins of 0.5 %, of which one is always within the fee of 0.25 %; 34 of them hold a side.
  'meteora-dlmm': { band: 0.0027, impact: 0.17 },
  'orca-whirlpool': { band: 0.003, impact: PRODUCT },
  // The best orders are 0.3 % from the middle; the fee is 0.02 %.
  phoenix: { band: 0.0035, impact: PRODUCT },
  pumpswap: { band: 0.003, impact: PRODUCT },
  'raydium-amm-v4': { band: 0.0025, impact: PRODUCT },
  'raydium-clmm': { band: 0.0025, impact: PRODUCT },
  'raydium-cpmm': { band: 0.0025, impact: PRODUCT },
  'raydium-stable': { band: 0.0004, impact: 0.1 }
}

/** Fraction of the band to which an arbitrageur trades back, so that the next small move needs no further trade. */
const TARGET = 0.1
/** Maximum number of trades on one pool in a slot. More than one is needed only if the price moves in steps. */
const ATTEMPTS = 4

/** Check interval of a pool without trades, in slots; its price drifts by less than 0.05 % in that time. */
const CHECK_INTERVAL_SLOTS = 8

/**
 * Trades pools of listed tokens back to the tokens' price within their fees. `elapsed` is the number of slots since the
 * last call.
 */
export function arbitrage(turn: MarketTurn, elapsed: number): void {
  const { state } = turn.parts
  for (const pair of state.pairs.values()) {
    const kind = POOL_KINDS[pair.venue]
    if (pair.coin !== null || kind === undefined) continue
    const isDue = elapsed >= CHECK_INTERVAL_SLOTS || (turn.slot + pair.id) % CHECK_INTERVAL_SLOTS === 0
    if (isDue || state.isTouched(pair)) tradeBack(turn, pair, kind)
  }
}

function tradeBack(turn: MarketTurn, pair: Pair, { band, impact }: PoolKind): void {
  let off = offOf(turn, pair)
  let factor = 1
  for (let attempt = 0; attempt < ATTEMPTS && Math.abs(off) > band; attempt++) {
    const wanted = Math.abs(off) - TARGET * band
    if (!trade(turn, pair, off < 0, (pair.depthUsd * wanted * factor) / impact)) return
    const after = offOf(turn, pair)
    // Within one bin or order the price does not move, so the next trade is larger.
    factor = Math.abs(after - off) < wanted / 2 ? factor * 2 : 1
    off = after
  }
}

function trade(turn: MarketTurn, pair: Pair, isBuy: boolean, usd: number): boolean {
  const { people, prices, ledger } = turn.parts
  const inMint = inMintOf(pair, isBuy)
  const trader = turn.pick(people.arbitrageurs)
  const amountIn = BigInt(Math.floor(usd / prices.rawUsd(inMint, turn.slot)!))
  const isHeld =
    samePubkey(inMint, NATIVE_MINT) || amountIn <= ledger.tokens(ledger.tokenAccountOf(trader, inMint))
  return isHeld && swapOnPair(turn, pair, { trader, isBuy, amountIn }, false)
}

/** Returns the logarithm of a pool's price over the token's reference price. */
function offOf(turn: MarketTurn, { venue: id, pool, base, quote }: Pair): number {
  const { pools, prices } = turn.parts
  const venue = pools.find(({ venue }) => venue === id)!
  return Math.log(venue.price(pool, turn.world) / prices.pairPrice(base, quote, turn.slot)!)
}
