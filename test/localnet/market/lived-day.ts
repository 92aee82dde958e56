import { pubkeyMapKey, samePubkey, type Pubkey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import type { VenueId } from '../../../src/chain/venue-id.ts'
import { MarketState } from '../../../src/localnet/market/market-state.ts'
import type { IntendedTrade } from '../../../src/localnet/market/oracle.ts'
import { PAST_SLOTS, planPast } from '../../../src/localnet/market/past.ts'
import { seededRandom } from '../../../src/localnet/market/random.ts'
import { MarketSimulator, USUAL_MARKET } from '../../../src/localnet/market/simulator.ts'
import { poolVenue } from '../../../src/localnet/market/venues.ts'
import { USDC } from '../../../src/localnet/programs.ts'

/** When the past begins, Unix seconds. */
export const DAY_START = 1_800_000_000
export const DAY_END = DAY_START + 86_400
export const SLOT_SECONDS = 0.4
/** Poll interval of the pools of SOL, in blocks. */
const POLL_EVERY_BLOCKS = 20
/** Approximate price of SOL in dollars, to weigh volumes. */
const SOL_USD = 150

export interface DayTrade {
  readonly slot: number
  /** Unix seconds. */
  readonly time: number
  readonly venue: VenueId
  readonly user: string
  readonly isBuy: boolean
  /** Dollars of a raw unit, and of the whole trade. */
  readonly price: number
  readonly usd: number
}

export interface DayLaunch {
  readonly mint: string
  readonly slot: number
  readonly time: number
  readonly creator: string
}

/** The market's events of the day before its first live slot, and of the live slots after it. */
export interface LivedDay {
  readonly launches: readonly DayLaunch[]
  readonly graduations: number
  /** By the mint of the token, oldest first. */
  readonly trades: ReadonlyMap<string, readonly DayTrade[]>
  /** Prices of SOL by venue, as its pools had them after a block, sampled every POLL_EVERY_BLOCKS blocks. */
  readonly solPrices: readonly ReadonlyMap<VenueId, number>[]
  readonly transactions: number
}

/** Makes a day of a market and live slots after it; `pastBlocks` limits the blocks of the past. */
export function liveDay(seed: string, liveSlots: number, pastBlocks = Infinity): LivedDay {
  const launches: DayLaunch[] = []
  const trades = new Map<string, DayTrade[]>()
  let graduations = 0
  let transactions = 0
  const parts = new Map<string, Uint8Array>()
  const market = new MarketSimulator({ ...USUAL_MARKET, seed }, null, ({ slot, blockTime, ...told }) => {
    for (const event of told.transactions.flatMap(({ events }) => events)) {
      if (event.kind === 'graduation') graduations++
      if (event.kind === 'launch') {
        const [mint, creator] = [pubkeyMapKey(event.mint), pubkeyMapKey(event.creator)]
        launches.push({ mint, creator, slot, time: blockTime })
      }
      if (event.kind !== 'trade') continue
      const { token, ...trade } = readTrade(event)
      const known = trades.get(token)
      const placed = { ...trade, slot, time: blockTime }
      if (known === undefined) trades.set(token, [placed])
      else known.push(placed)
    }
  })
  const keep = (): void => {
    for (const [name, part] of market.takeParts()) {
      if (part === null) parts.delete(name)
      else parts.set(name, part)
    }
  }
  const solPrices: ReadonlyMap<VenueId, number>[] = []
  const past = planPast()
    .slice(0, pastBlocks)
    .map(({ slot, offsetMs, pace }) => ({ slot, seconds: offsetMs / 1_000, pace }))
  const live = Array.from({ length: liveSlots }, (_, at) => ({
    slot: PAST_SLOTS + at,
    seconds: 86_400 + at * SLOT_SECONDS,
    pace: USUAL_MARKET.pace
  }))
  for (const [at, { slot, seconds, pace }] of [...past, ...live].entries()) {
    transactions += market.fill(slot, DAY_START + Math.floor(seconds), pace).length
    keep()
    if (at % POLL_EVERY_BLOCKS === POLL_EVERY_BLOCKS - 1) solPrices.push(pricesOfSol(parts, market))
  }
  return { launches, graduations, trades, solPrices, transactions }
}

function readTrade({ venue, user, inMint, outMint, amountIn, amountOut }: IntendedTrade) {
  const isBuy = isCash(inMint) && (samePubkey(inMint, USDC) || !isCash(outMint))
  const [token, cash] = isBuy ? [outMint, inMint] : [inMint, outMint]
  const [tokens, paid] = isBuy ? [amountOut, amountIn] : [amountIn, amountOut]
  const usd = samePubkey(cash, USDC) ? Number(paid) / 1e6 : (Number(paid) / 1e9) * SOL_USD
  return {
    token: pubkeyMapKey(token),
    venue,
    user: pubkeyMapKey(user),
    isBuy,
    usd,
    price: usd / Number(tokens)
  }
}

function isCash(mint: Pubkey): boolean {
  return samePubkey(mint, USDC) || samePubkey(mint, NATIVE_MINT)
}

function pricesOfSol(
  parts: ReadonlyMap<string, Uint8Array>,
  { ledger }: MarketSimulator
): Map<VenueId, number> {
  const state = MarketState.restore((name) => parts.get(name) ?? null)!
  const world = { ledger, random: seededRandom('nobody asks') }
  const prices = new Map<VenueId, number>()
  for (const { venue, pool, base, quote } of state.pairs.values()) {
    if (samePubkey(base, NATIVE_MINT) && samePubkey(quote, USDC))
      prices.set(venue, poolVenue(venue)!.price(pool, world))
  }
  return prices
}
