import type { Pubkey } from '../chain/pubkey.ts'

/**
 * A mint's USD price at a moment: that of the newest price-forming row up to then. `unpriced` where the cash of that row
 * had no price in USD; null where no row has formed a price.
 */
export type UsdPrice = number | 'unpriced' | null

/** What an activity is kept of. */
export type ActivityOf = 'mint' | 'pool' | 'market'

/**
 * One minute of a mint, a pool or the whole market; of minutes without an event there is none. The sums are integers,
 * so a window equals the fold of its rows to the bit. A trade without a cash side counts under each mint that it is
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
  /** Trades with a value in USD, and their sum and its parts in millionths, each row rounded on its own. */
  readonly priced: number
  readonly volumeMicroUsd: bigint
  readonly buyMicroUsd: bigint
  readonly sellMicroUsd: bigint
  /** Base units of the cash side. Of a mint and of the market where it is wrapped SOL alone, in lamports. */
  readonly volumeCash: bigint
  /** Base units of a mint or of a pool's token, without a cash side its base; 0 of the market. */
  readonly volumeToken: bigint
  /** USD price of a mint's first and last price-forming row, over all its pairs; null without one, and of others. */
  readonly openUsd: UsdPrice
  readonly closeUsd: UsdPrice
}

/** The minutes of an hour in which an owner had an event, and who traded in them. */
export interface ActivityHour {
  readonly of: ActivityOf
  /** The mint or the pool; 32 zero bytes for the market. */
  readonly owner: Pubkey
  /** Hour start, unix seconds. */
  readonly hour: number
  /** Oldest first; never empty. */
  readonly minutes: readonly ActivityMinute[]
  /** A mint's USD price before the hour; null of others. */
  readonly priorUsd: UsdPrice
  /** Distinct traders by the minute they were last seen in, as `traders.ts` writes them; empty of pools. */
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
  /** All traders, as `traders.ts` writes them. */
  readonly traders: Uint8Array
}
