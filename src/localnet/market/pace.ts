/** How much a market does in a slot, and how large it is. */
export interface MarketPace {
  /** Transactions of an average slot, votes and failures included; arbitrage and launches come on top. */
  readonly transactionsPerSlot: number
  /** Slots from one launch to the next, on average; launches come in bursts. */
  readonly launchEverySlots: number
  /** Share of votes among the transactions; payments are half as many. */
  readonly voteShare: number
  readonly failureShare: number
  /** Share of trades of launched coins among the transactions. */
  readonly coinShare: number
  /** A usual trade on a pair of a listed token, in dollars. */
  readonly listedUsd: number
  /** A usual trade of a coin, in SOL. */
  readonly coinSol: number
}

/**
 * The pace of a localnet. Chosen so that it moves several times a second on every page and an idle service stays below 5 %
 * of a core: 28 transactions a second at 400 ms a slot. The past ends with its launches, a coin every 88 seconds.
 */
export const USUAL_PACE: MarketPace = {
  transactionsPerSlot: 11,
  launchEverySlots: 220,
  voteShare: 0.2,
  failureShare: 0.1,
  coinShare: 0.42,
  listedUsd: 18,
  coinSol: 0.05
}

/** A pace at which a few hundred slots have something of everything, for tests and load. */
export const BUSY_PACE: MarketPace = {
  ...USUAL_PACE,
  transactionsPerSlot: 30,
  launchEverySlots: 12,
  listedUsd: 150,
  coinSol: 0.6
}
