import type { Pubkey } from '../chain/pubkey.ts'

/**
 * A mint's USD price at a moment, from its newest price-forming row up to then. `unpriced` if the cash of that row
 * had no price in USD; null if no row has formed a price.
 */
export type UsdPrice = number | 'unpriced' | null

/** Kinds of owners of an activity. */
export type ActivityOf = 'mint' | 'pool' | 'market'

/**
 * One minute of a mint, a pool or the whole market; a minute without events has no record. The sums are integers, so
 * a window equals the fold of its rows to the bit. A trade without a cash side counts under each mint that it is
 * listed under, and once for its pool and for the market.
 */
export interface ActivityMinute {
  /** Minute start, unix seconds. */
  readonly minute: number
  /** Trades and all other events. */
  readonly events: number
  readonly trades: number
  /** Trades with a cash side, by direction. */
  readonly buys: number
  readonly sells: number
  readonly liquidity: number
  /** First launches of a mint. */
  readonly launches: number
  /**
   * Number of trades with a value in USD; their volume in millionths, each row rounded on its own; and the volume by
   * direction.
   */
  readonly priced: number
  readonly volumeMicroUsd: bigint
  readonly buyMicroUsd: bigint
  readonly sellMicroUsd: bigint
  /** Cash side in base units. For a mint and for the market only wrapped SOL counts, in lamports. */
  readonly volumeCash: bigint
  /** Base units of a mint, or of a pool's token, which is its base if it has no cash side; 0 for the market. */
  readonly volumeToken: bigint
  /**
   * USD price of a mint's first and last price-forming row, over all its pairs. Null if no row forms a price, and for
   * other owners.
   */
  readonly openUsd: UsdPrice
  readonly closeUsd: UsdPrice
}

/** The minutes of an hour in which an owner had an event, and the hour's traders. */
export interface ActivityHour {
  readonly of: ActivityOf
  /** The mint or the pool; 32 zero bytes for the market. */
  readonly owner: Pubkey
  /** Hour start, unix seconds. */
  readonly hour: number
  /** Oldest first; never empty. */
  readonly minutes: readonly ActivityMinute[]
  /** A mint's USD price before the hour; null for other owners. */
  readonly priorUsd: UsdPrice
  /** Distinct traders by the minute of their last trade, as encoded by `traders.ts`; empty for pools. */
  readonly traders: Uint8Array
}

export type HourAddress = Pick<ActivityHour, 'of' | 'owner' | 'hour'>

/** Sums over everything indexed. */
export interface TotalsRow {
  readonly trades: number
  readonly volumeMicroUsd: bigint
  /** Lamports of trades whose cash is wrapped SOL. */
  readonly volumeLamports: bigint
  readonly tokens: number
  readonly launches: number
  /** Number of trades without a value in USD; absent if the sums began with a version that did not count them. */
  readonly unpriced?: number
  /** All traders, as encoded by `traders.ts`. */
  readonly traders: Uint8Array
}
