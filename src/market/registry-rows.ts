import type { CurveReserves } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { VenueId } from '../chain/venue-id.ts'
import type { ActiveHours } from './active-hours.ts'
import type { UsdPrice } from './activity-rows.ts'
import type { CashPrice } from './cash-price.ts'

/**
 * Facts of a mint that an event is listed under: the token of the event, or both mints if neither is cash. A cash
 * mint has a row if it is the token of another cash mint.
 */
export interface TokenRow {
  readonly mint: Pubkey
  readonly decimals: number | null
  readonly firstCursor: number
  readonly firstTime: number
  /** Rows listed under the mint since the index began. */
  readonly trades: number
  /** Number of pools listed under the mint. */
  readonly pools: number
  readonly lastTrade: {
    readonly cursor: number
    readonly slot: number
    readonly blockTime: number
    readonly signature: Uint8Array
  } | null
  /**
   * USD price of its newest price-forming row. If that row has no USD price, a record of an older store may hold an
   * earlier row's price.
   */
  readonly lastUsd: UsdPrice
  /** Absent in a record of an older store, until the next event. */
  readonly activeHours?: ActiveHours
}

/** A pool, curve or market that an event named with both of its mints (`pools.ts`). */
export interface PoolRow {
  readonly pool: Pubkey
  readonly venue: VenueId
  readonly program: Pubkey
  /** Base is the token and quote the cash. A pool without a cash side has the order of its first event. */
  readonly base: Pubkey
  readonly quote: Pubkey
  /** Whether the pool is also listed under its quote, because the quote is not cash. */
  readonly quoteListed: boolean
  readonly baseDecimals: number | null
  readonly quoteDecimals: number | null
  /**
   * Token accounts, as creation or update events state them, else as the first trade names them. Null if neither states
   * them, and for a curve's SOL, which is in no token account.
   */
  readonly baseVault: Pubkey | null
  readonly quoteVault: Pubkey | null
  readonly feeBps: number | null
  /** Null if the creation was before the index began. */
  readonly created: { readonly slot: number; readonly blockTime: number } | null
  /** The event that first named the pool; lists of pools are in this order. */
  readonly firstCursor: number
  readonly trades: number
  readonly lastTrade: {
    readonly cursor: number
    readonly slot: number
    readonly blockTime: number
  } | null
  /**
   * Price and cash value of the newest price-forming trade. Null before the first, and if unknown: older stores
   * recorded only the newest trade's price, price-forming or not.
   */
  readonly lastPrice: CashPrice | null
  /** Real reserves after the newest trade, in base units; null if it does not state both. */
  readonly reserves: { readonly base: bigint; readonly quote: bigint } | null
}

export type CurveStatus = 'bonding' | 'graduating' | 'graduated'

/**
 * The bonding curve of a mint, from its events and the trades on it (`curves.ts`). Amounts in base units; null, or absent
 * among the reserves, when not stated.
 */
export interface CurveRow {
  readonly mint: Pubkey
  readonly platform: VenueId
  readonly curve: Pubkey
  readonly quote: Pubkey | null
  readonly decimals: number | null
  readonly quoteDecimals: number | null
  readonly status: CurveStatus
  /** 0 to 100: the share of the tokens for sale that is sold. */
  readonly progressPct: number | null
  readonly reserves: CurveReserves
  /** Tokens for sale at the start, as the creation or a trade states them; null in records of older stores. */
  readonly forSale: bigint | null
  /** Quote that completes the curve: stated by its venue, else by its start, else what it held at completion. */
  readonly targetQuote: bigint | null
  /**
   * Quote per token in human units: from the virtual reserves if stated, else from the newest price-forming trade.
   * `cashUsd` is the USD value of one unit of the quote at that time.
   */
  readonly price: number | null
  readonly cashUsd: number | null
  readonly creator: Pubkey | null
  readonly created: { readonly slot: number; readonly blockTime: number } | null
  readonly graduated: {
    readonly slot: number
    readonly blockTime: number
    readonly signature: Uint8Array
    readonly pool: Pubkey | null
  } | null
  /** The newest event of the curve. */
  readonly cursor: number
  readonly slot: number
  readonly blockTime: number
}
