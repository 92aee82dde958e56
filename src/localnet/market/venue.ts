import type { VenueId } from '../../chain/venue-id.ts'
import type { CallScript, LedgerView, TransactionScript } from './script.ts'

/** A seeded random source: numbers in [0, 1), and bytes for new addresses. */
export interface SeededRandom {
  next(): number
  bytes(length: number): Uint8Array
}

/** The surroundings of a venue's simulator. */
export interface VenueWorld {
  readonly ledger: LedgerView
  readonly random: SeededRandom
}

/** The fields that pools and curves of all venues share. */
export interface MarketPool {
  readonly address: Uint8Array
}

/** Two mints with a pool: `base` is the token, `quote` its currency (wrapped SOL, a dollar, another token). */
export interface NewPool {
  readonly creator: Uint8Array
  readonly base: Uint8Array
  readonly quote: Uint8Array
  readonly baseAmount: bigint
  readonly quoteAmount: bigint
}

export interface Swap {
  readonly trader: Uint8Array
  /** Whether the trader pays the quote and gets the base. */
  readonly isBuy: boolean
  /** Raw amount that the trader pays. */
  readonly amountIn: bigint
}

/** The result of a swap: raw amounts that left and reached the trader. */
export interface Executed {
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/**
 * A venue's trading, in its program's true layouts: its tables are its own, but its instructions, events, logs and accounts
 * are those that the decoder reads from mainnet. Pools are plain data, so that a market can be stored and resumed. A
 * pool's reserves are read from the ledger, or stored in the plain data, which the market restores if the transaction
 * fails. Amounts follow the venue's own curve, rounded in the pool's favor.
 *
 * Users' accounts: creator and trader have associated token accounts of both mints, wrapped SOL included, that hold the
 * paid amounts. Mints, traders and creators exist before; the venue creates vaults, LP mints, positions and state
 * accounts. Trader and creator sign the transaction.
 */
export interface PoolVenue<Pool> {
  readonly venue: VenueId
  /** Opens a pool. The creator pays; in a migration that is the migrating program's own address, below its call. */
  open(script: TransactionScript | CallScript, pool: NewPool, world: VenueWorld): Pool
  /** Swaps; null if the pool has no output. In a route, the swap happens below the call `script`. */
  swap(script: TransactionScript | CallScript, pool: Pool, swap: Swap, world: VenueWorld): Executed | null
  /** Adds or removes a fraction of the pool's liquidity, in thousandths; null if the venue has no liquidity. */
  changeLiquidity:
    | ((
        script: TransactionScript,
        pool: Pool,
        by: Uint8Array,
        thousandths: number,
        world: VenueWorld
      ) => void)
    | null
  /** Returns the price of one raw unit of base in raw units of quote. */
  price(pool: Pool, world: VenueWorld): number
}

export interface NewCurve {
  readonly creator: Uint8Array
  readonly name: string
  readonly symbol: string
  readonly uri: string
}

/**
 * A launchpad: a curve that sells a new mint until it graduates to a pool. If the curve is paid in lamports, a trader has
 * the mint's token account and lamports; else both token accounts, as with pools. The new mint's key signs the launch.
 * `graduate` opens the pool by the rules of its program; a migrator pays that transaction.
 */
export interface LaunchpadVenue<Curve> extends Pick<PoolVenue<Curve>, 'venue' | 'swap' | 'price'> {
  readonly paidIn: 'lamports' | 'wrapped-sol'
  launch(script: TransactionScript, curve: NewCurve, world: VenueWorld): Curve
  mintOf(curve: Curve): Uint8Array
  /** Tells whether everything is sold, so that only `graduate` remains. */
  isComplete(curve: Curve): boolean
  /** Migrates the curve to its destination venue; returns that venue's pool. */
  graduate(
    script: TransactionScript,
    curve: Curve,
    world: VenueWorld
  ): { readonly venue: VenueId; readonly pool: MarketPool }
}
