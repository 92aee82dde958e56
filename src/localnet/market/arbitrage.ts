import { samePubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { Pair } from './market-state.ts'
import { inMintOf } from './pairs.ts'
import { swapOnPair } from './pair-trading.ts'
import type { MarketTurn } from './turn.ts'

interface PoolKind {
  /** How far the price may be off, as a share, before a trade back earns more than its fee. */
  readonly band: number
  /** How far a trade of all that one side holds would move the logarithm of the price. */
  readonly impact: number
}

/** A pool of two equal halves whose product stays the same. */
const PRODUCT = 2

/** By venue: the band is the fee, and what the venue's own steps of price add to it. */
const POOL_KINDS: Partial<Record<VenueId, PoolKind>> = {
  // Its price wanders by itself: twice the fee of 0.1 %.
  lifinity: { band: 0.002, impact: 0.5 },
  'meteora-damm-v1': { band: 0.0025, impact: PRODUCT },
  'meteora-damm-v2': { band: 0.0025, impact: PRODUCT },
  // Bins of 0.5 %, of which one is always within the fee of 0.25 %; 34 of them hold a side.
  'meteora-dlmm': { band: 0.0027, impact: 0.17 },
  'orca-whirlpool': { band: 0.003, impact: PRODUCT },
  // The best orders are 0.3 % away from the middle; the fee is 0.02 %.
  phoenix: { band: 0.0035, impact: PRODUCT },
  pumpswap: { band: 0.003, impact: PRODUCT },
  'raydium-amm-v4': { band: 0.0025, impact: PRODUCT },
  'raydium-clmm': { band: 0.0025, impact: PRODUCT },
  'raydium-cpmm': { band: 0.0025, impact: PRODUCT },
  'raydium-stable': { band: 0.0004, impact: 0.1 }
}

/** An arbitrageur trades back to this part of the band, so that the next small move does not call for another trade. */
const TARGET = 0.1
/** Trades on one pool in a slot. One is enough but where the price moves in steps. */
const ATTEMPTS = 4

/** Without trades a price drifts by less than 0.05 % in so many slots: a pool that nobody traded on is looked at that often. */
const LOOK_EVERY_SLOTS = 8

/** Trades pools of listed tokens back within their fees of the tokens' price. `elapsed` is in slots since the last call. */
export function arbitrage(turn: MarketTurn, elapsed: number): void {
  const { state } = turn.parts
  for (const pair of state.pairs.values()) {
    const kind = POOL_KINDS[pair.venue]
    if (pair.coin !== null || kind === undefined) continue
    const isDue = elapsed >= LOOK_EVERY_SLOTS || (turn.slot + pair.id) % LOOK_EVERY_SLOTS === 0
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
    // Within one bin or order the price does not move: more is taken of it.
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

/** The logarithm of a pool's price over that of its token. */
function offOf(turn: MarketTurn, { venue: id, pool, base, quote }: Pair): number {
  const { pools, prices } = turn.parts
  const venue = pools.find(({ venue }) => venue === id)!
  return Math.log(venue.price(pool, turn.world) / prices.pairPrice(base, quote, turn.slot)!)
}
