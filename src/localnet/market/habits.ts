import type { MarketTurn } from './turn.ts'

/** A trader's number in `People.traders`, and the size of the trader's trades relative to usual trades. */
export interface ChosenTrader {
  readonly number: number
  readonly sizeFactor: number
}

/** Ends of ranges of trader numbers: first snipers, then bots, then whales, then everybody else. */
const SNIPERS_END = 12
const BOTS_END = 32
const WHALES_END = 40

/** Shares of trades. Bots trade often and little, whales seldom and much; a few of the others trade most. */
const BOT_SHARE = 0.4
const WHALE_SHARE = 0.04
const CROWD_SKEW = 2.2

export function chooseTrader(turn: MarketTurn): ChosenTrader {
  const dice = turn.random.next()
  if (dice < BOT_SHARE) return { number: numberBetween(turn, SNIPERS_END, BOTS_END), sizeFactor: 0.3 }
  if (dice < BOT_SHARE + WHALE_SHARE)
    return { number: numberBetween(turn, BOTS_END, WHALES_END), sizeFactor: 10 }
  const crowd = turn.parts.people.traders.length - WHALES_END
  return { number: WHALES_END + Math.floor(crowd * turn.random.next() ** CROWD_SKEW), sizeFactor: 1 }
}

/** Draws a sniper, a wallet that buys coins at their launch. */
export function chooseSniper(turn: MarketTurn): number {
  return numberBetween(turn, 0, SNIPERS_END)
}

export function isSniper(number: number): boolean {
  return number < SNIPERS_END
}

/** Draws the selling holder of a coin: usually a sniper, if one holds it. */
export function chooseSeller(turn: MarketTurn, holders: readonly number[]): number {
  const sniper = holders.find(isSniper)
  return sniper !== undefined && turn.chance(0.7) ? sniper : turn.pick(holders)
}

function numberBetween(turn: MarketTurn, start: number, end: number): number {
  return start + Math.floor((end - start) * turn.random.next())
}
