import type { Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { buyShareOf, buySizeOf, isShortLived, overSlotOf } from './coin-life.ts'
import { chooseSeller, chooseTrader, isSniper } from './habits.ts'
import type { Coin } from './coin.ts'
import { addPair } from './pairs.ts'
import type { TransactionScript } from './script.ts'
import { Refused, type MarketTurn } from './turn.ts'
import type { LaunchpadVenue, MarketPool, Swap } from './venue.ts'

const SOL = 1e9
/** Slippage errors of the launchpads' programs. */
const TOO_MUCH = 6002
/** The largest buy of a coin, in SOL: about half of a curve's total. */
const LARGEST_BUY_SOL = 40
/** Square root of a sold-out curve's price over that of a new one, minus one. */
const ROOT_PRICE_RISE = 2.83

/** Returns the amount of wrapped SOL that a trader needs: zero if the curve takes lamports. */
export function giveOf({ paidIn }: LaunchpadVenue<MarketPool>, amount: bigint) {
  return { mint: NATIVE_MINT, amount: paidIn === 'lamports' ? 0n : amount }
}

/** Draws a trade of a coin; null for a sale of a coin without holders. */
export function chooseCoinTrade(turn: MarketTurn, coin: Coin): (Swap & { readonly number: number }) | null {
  const { people, ledger } = turn.parts
  const isBuy = turn.chance(buyShareOf(coin, turn.slot, raisedShareOf(turn, coin)))
  if (!isBuy) {
    if (coin.holders.length === 0) return null
    const number = chooseSeller(turn, coin.holders)
    const trader = people.traders[number]!
    const owned = ledger.tokens(ledger.tokenAccountOf(trader, coin.mint))
    const amountIn = turn.chance(0.6) ? owned : (owned * BigInt(Math.floor(turn.between(100, 900)))) / 1000n
    return { number, trader, isBuy, amountIn }
  }
  const { number, sizeFactor } = chooseTrader(turn)
  const usual = turn.pace.coinSol * buySizeOf(coin, turn.slot)
  const sol = Math.min(turn.size(usual) * sizeFactor, LARGEST_BUY_SOL)
  return { number, trader: people.traders[number]!, isBuy, amountIn: BigInt(Math.floor(sol * SOL)) }
}

/** Returns the raised share of a curve's total, computed from its price. */
function raisedShareOf(turn: MarketTurn, coin: Coin): number {
  if (coin.graduatedSlot !== null || coin.launchPrice === 0) return 0
  const launchpad = launchpadOf(turn, coin)
  if (launchpad === undefined) return 0
  const rise = launchpad.price(coin.curve, turn.world) / coin.launchPrice
  return (Math.sqrt(rise) - 1) / ROOT_PRICE_RISE
}

function launchpadOf(turn: MarketTurn, coin: Coin): LaunchpadVenue<MarketPool> | undefined {
  return turn.parts.launchpads.find(({ venue }) => venue === coin.launchpad)
}

/** Trades on a curve; with `fails` the transaction lands as failed. False if no trader could trade. */
export function tradeOnCurve(turn: MarketTurn, coin: Coin, fails: boolean): boolean {
  const chosen = chooseCoinTrade(turn, coin)
  if (chosen === null) return false
  const done = swapOnCurve(turn, coin, chosen, fails)
  if (done && !fails) noteHolder(turn, coin, chosen.number)
  return done
}

/** Number of the largest holders who sell out when a coin is over; the others keep a worthless rest. */
const LARGEST_SELLERS = 3

/**
 * Sells everything of a coin's first holders: its creator, then its snipers. When the coin is over, its largest holders
 * sell too.
 */
export function sellOut(turn: MarketTurn, coin: Coin): void {
  const { ledger, state, people } = turn.parts
  const tokensOf = (number: number): bigint =>
    ledger.tokens(ledger.tokenAccountOf(people.traders[number]!, coin.mint))
  const isOver = turn.slot >= overSlotOf(coin)
  coin.exitSlot = isOver || !isShortLived(coin) ? null : overSlotOf(coin)
  state.touch(coin)
  const sellAll = (trader: Pubkey): void => {
    const amountIn = ledger.tokens(ledger.tokenAccountOf(trader, coin.mint))
    swapOnCurve(turn, coin, { trader, isBuy: false, amountIn }, false)
  }
  sellAll(coin.creator)
  const largest = isOver ? coin.holders.toSorted((a, b) => Number(tokensOf(b) - tokensOf(a))) : []
  for (const number of new Set([...coin.holders.filter(isSniper), ...largest.slice(0, LARGEST_SELLERS)])) {
    sellAll(people.traders[number]!)
    noteHolder(turn, coin, number)
  }
}

/** Swaps on a curve. A seller of everything usually closes the account. False if the swap could not happen. */
export function swapOnCurve(turn: MarketTurn, coin: Coin, swap: Swap, fails: boolean): boolean {
  const { ledger, state } = turn.parts
  const { mint, curve } = coin
  const { trader, isBuy, amountIn } = swap
  const launchpad = launchpadOf(turn, coin)
  if (launchpad === undefined || coin.graduatedSlot !== null || launchpad.isComplete(curve)) return false
  if (amountIn <= 0n) return false
  const tokens = ledger.tokenAccountOf(trader, mint)
  const closes = !isBuy && amountIn === ledger.tokens(tokens) && turn.chance(0.6)
  const done = turn.run(
    { kind: fails ? 'failed' : 'trade', payer: trader, changes: [curve] },
    (script: TransactionScript, intend) => {
      const settle = prepareSwap(turn, script, launchpad, { mint, swap })
      const executed = launchpad.swap(script, curve, swap, turn.world)
      if (executed === null) throw new Refused()
      if (fails) return script.fail(TOO_MUCH)
      settle()
      if (closes) script.closeTokenAccount(tokens, trader, trader)
      intend({
        kind: 'trade',
        venue: coin.launchpad,
        pool: curve.address,
        user: trader,
        inMint: isBuy ? NATIVE_MINT : mint,
        outMint: isBuy ? mint : NATIVE_MINT,
        ...executed,
        hop: null,
        completes: launchpad.isComplete(curve)
      })
    }
  )
  if (done && !fails) state.touch(coin)
  return done
}

function prepareSwap(
  turn: MarketTurn,
  script: TransactionScript,
  launchpad: LaunchpadVenue<MarketPool>,
  { mint, swap: { trader, isBuy, amountIn } }: { readonly mint: Pubkey; readonly swap: Swap }
): () => void {
  if (isBuy) return turn.prepare(script, trader, giveOf(launchpad, amountIn), mint)
  if (launchpad.paidIn === 'lamports') return () => undefined
  return turn.prepare(script, trader, { mint, amount: amountIn }, NATIVE_MINT)
}

/** Updates the list of possible holders after a trade. */
export function noteHolder(turn: MarketTurn, coin: Coin, number: number): void {
  const { people, ledger, state } = turn.parts
  const holds = ledger.tokens(ledger.tokenAccountOf(people.traders[number]!, coin.mint)) > 0n
  const at = coin.holders.indexOf(number)
  if (!coin.everHeld.includes(number)) coin.everHeld.push(number)
  if (holds && at < 0) coin.holders.push(number)
  if (!holds && at >= 0) coin.holders.splice(at, 1)
  state.touch(coin)
}

/** Migrates a sold-out curve to the pool that it graduates to. */
export function graduateCoin(turn: MarketTurn, coin: Coin): void {
  const { people, state } = turn.parts
  const launchpad = launchpadOf(turn, coin)
  if (launchpad === undefined) return
  const changes = [coin.curve]
  const plan = { kind: 'graduation', payer: people.operator, changes, usesTables: true } as const
  const { launchpad: venue, mint, curve } = coin
  const reached: { readonly venue: VenueId; readonly pool: MarketPool }[] = []
  const done = turn.run(plan, (script, intend) => {
    const destination = launchpad.graduate(script, curve, turn.world)
    reached.push(destination)
    const to = { destinationVenue: destination.venue, destination: destination.pool.address }
    intend({ kind: 'graduation', venue, mint, curve: curve.address, ...to })
  })
  const [destination] = reached
  if (!done || destination === undefined) return
  coin.graduatedSlot = turn.slot
  state.touch(coin)
  addPair(turn, { ...destination, base: mint, quote: NATIVE_MINT, coin: coin.id, depthUsd: 12_000 })
}

/** Tells whether a curve is sold out and waits for its migration. */
export function isReadyToGraduate(turn: MarketTurn, coin: Coin): boolean {
  return coin.graduatedSlot === null && launchpadOf(turn, coin)?.isComplete(coin.curve) === true
}
