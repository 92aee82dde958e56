import type { MarketTurn } from './turn.ts'

/** A trader's number among `People.traders`, and how large a trade of theirs is beside a usual one. */
export interface ChosenTrader {
  readonly number: number
  readonly sizeFactor: number
}

/** Traders by number: the first ones snipe, the next ones are bots, then come whales and then everybody else. */
const SNIPERS_END = 12
const BOTS_END = 32
const WHALES_END = 40

/** Bots trade often and little, whales seldom and much. Of all others a few trade most. */
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

/** A wallet that buys what was just launched. */
export function chooseSniper(turn: MarketTurn): number {
  return numberBetween(turn, 0, SNIPERS_END)
}

export function isSniper(number: number): boolean {
  return number < SNIPERS_END
}

/** Draws the holder of a coin that sells: mostly a sniper before all others. */
export function chooseSeller(turn: MarketTurn, holders: readonly number[]): number {
  const sniper = holders.find(isSniper)
  return sniper !== undefined && turn.chance(0.7) ? sniper : turn.pick(holders)
}

function numberBetween(turn: MarketTurn, start: number, end: number): number {
  return start + Math.floor((end - start) * turn.random.next())
}
