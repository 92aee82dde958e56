/** Activity of a market per slot, and sizes of its trades. */
export interface MarketPace {
  /** Transactions of an average slot, votes and failures included; arbitrage and launches are added. */
  readonly transactionsPerSlot: number
  /** Launch interval in slots, on average; launches come in bursts. */
  readonly launchEverySlots: number
  /** Share of votes among the transactions; payments are half as many. */
  readonly voteShare: number
  readonly failureShare: number
  /** Share of trades of launched coins among the transactions. */
  readonly coinShare: number
  /** Size of a usual trade of a listed token, in dollars. */
  readonly listedUsd: number
  /** Size of a usual trade of a coin, in SOL. */
  readonly coinSol: number
}

/**
 * The pace of a localnet: 10 transactions a second at 400 ms a slot. Every page then changes several times a second,
 * and an idle service stays below 5 % of a core. The past ends with an equal rate of launches, a coin every 88 seconds.
 */
export const USUAL_PACE: MarketPace = {
  transactionsPerSlot: 4,
  launchEverySlots: 220,
  voteShare: 0.2,
  failureShare: 0.1,
  coinShare: 0.42,
  listedUsd: 42,
  coinSol: 0.05
}

/** A pace at which a few hundred slots show every kind of event, for tests and load. */
export const BUSY_PACE: MarketPace = {
  ...USUAL_PACE,
  transactionsPerSlot: 30,
  launchEverySlots: 12,
  listedUsd: 150,
  coinSol: 0.6
}
