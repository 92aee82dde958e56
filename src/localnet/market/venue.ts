import type { VenueId } from '../../chain/venue-id.ts'
import type { CallScript, LedgerView, TransactionScript } from './script.ts'

/** A number in [0, 1), the same sequence for the same seed; and bytes for new addresses. */
export interface SeededRandom {
  next(): number
  bytes(length: number): Uint8Array
}

/** What a venue's simulator works with. */
export interface VenueWorld {
  readonly ledger: LedgerView
  readonly random: SeededRandom
}

/** What everybody may know of a venue's pool or curve, whatever else it holds. */
export interface MarketPool {
  readonly address: Uint8Array
}

/** Two mints with a pool: `base` is the token, `quote` what it is paid with (wrapped SOL, a dollar, another token). */
export interface NewPool {
  readonly creator: Uint8Array
  readonly base: Uint8Array
  readonly quote: Uint8Array
  readonly baseAmount: bigint
  readonly quoteAmount: bigint
}

export interface Swap {
  readonly trader: Uint8Array
  /** Whether the trader gives the quote and gets the base. */
  readonly isBuy: boolean
  /** What the trader gives, raw. */
  readonly amountIn: bigint
}

/** What a swap did: what left the trader and what came to the trader, raw. */
export interface Executed {
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/**
 * How a venue trades, in its program's true layouts: instructions, events, logs and accounts are those that the decoder
 * reads from mainnet, by tables that are not the decoder's. Pools are plain data, so that a market can be stored and gone
 * on with; what a pool's reserves are is read from the ledger or kept in the plain data, which the market puts back where
 * the transaction fails. Amounts follow the venue's own curve, rounded in the pool's favour.
 *
 * Accounts of users: the creator and the trader have their associated token accounts of both mints, wrapped SOL included,
 * and what they give is in them. Mints, traders and creators are there before; vaults, LP mints, positions and state
 * accounts are made by the venue. A trader and a creator sign the transaction.
 */
export interface PoolVenue<Pool> {
  readonly venue: VenueId
  /** The creator pays; in a migration it is the migrating program's own address, below that program's call. */
  open(script: TransactionScript | CallScript, pool: NewPool, world: VenueWorld): Pool
  /** Null where the pool cannot give anything for it. `into` is the call below which it happens, in a route. */
  swap(script: TransactionScript | CallScript, pool: Pool, swap: Swap, world: VenueWorld): Executed | null
  /** Adds or removes a part of the pool's liquidity, in thousandths; null where the venue has no such thing. */
  changeLiquidity:
    | ((
        script: TransactionScript,
        pool: Pool,
        by: Uint8Array,
        thousandths: number,
        world: VenueWorld
      ) => void)
    | null
  /** Price of one raw unit of base in raw units of quote. */
  price(pool: Pool, world: VenueWorld): number
}

export interface NewCurve {
  readonly creator: Uint8Array
  readonly name: string
  readonly symbol: string
  readonly uri: string
}

/**
 * A launchpad: a curve that sells a new mint, until it graduates to a pool. Where it is paid in lamports, a trader has the
 * token account of the mint and lamports; elsewhere both token accounts, as with pools. The new mint's key signs the launch. `graduate` opens
 * the pool by the rules of its program: a migrator is the payer of that transaction.
 */
export interface LaunchpadVenue<Curve> extends Pick<PoolVenue<Curve>, 'venue' | 'swap' | 'price'> {
  readonly paidIn: 'lamports' | 'wrapped-sol'
  launch(script: TransactionScript, curve: NewCurve, world: VenueWorld): Curve
  mintOf(curve: Curve): Uint8Array
  /** Whether all that it sells is sold, so that only `graduate` is left. */
  isComplete(curve: Curve): boolean
  /** Migrates the curve to the venue that it graduates to; returns the pool there, of that venue's simulator. */
  graduate(
    script: TransactionScript,
    curve: Curve,
    world: VenueWorld
  ): { readonly venue: VenueId; readonly pool: MarketPool }
}
