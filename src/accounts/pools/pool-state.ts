import type { CurveReserves } from '../../chain/events.ts'
import { samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { CurveStatus } from '../../market/registry-rows.ts'

/** A pool, curve or market to read: its address, and the venue whose program owns it. */
export interface PoolSubject {
  readonly pool: Pubkey
  readonly venue: VenueId
}

/** One of a pool's two tokens. */
export interface PoolSide {
  /** Null if the pool's account does not name the mint. */
  readonly mint: Pubkey | null
  /** Null for a curve that holds SOL itself, and where several pools share a vault. */
  readonly vault: Pubkey | null
  /** The pool's own tokens, in base units; null if its accounts do not determine them. */
  readonly reserve: bigint | null
}

/** A curve as the account of its launchpad states it. Amounts in base units. */
export interface CurveState {
  readonly status: CurveStatus
  readonly reserves: CurveReserves
  /** 0 to 100; null if the account does not determine it. */
  readonly progressPct: number | null
  /** Quote that the curve holds when it completes. */
  readonly targetQuote: bigint | null
  /**
   * Square root of the price in base units, times 2^64, if the account states it. Otherwise virtual reserves determine
   * the price.
   */
  readonly sqrtPrice: bigint | null
}

/** A pool as its accounts state it, all at one slot. The sides are in the order of its program. */
export interface PoolState {
  readonly kind: 'pool'
  readonly sides: readonly [PoolSide, PoolSide]
  /** Null for a pool that is not a bonding curve. */
  readonly curve: CurveState | null
}

/** Returns a pool's sides as base and quote; null if the pool has other mints. */
export function orientedSides(
  { sides: [first, second] }: PoolState,
  base: Pubkey,
  quote: Pubkey
): { readonly base: PoolSide; readonly quote: PoolSide } | null {
  const fits = (one: PoolSide, other: PoolSide): boolean =>
    (one.mint === null || samePubkey(one.mint, base)) &&
    (other.mint === null || samePubkey(other.mint, quote))
  if (first.mint === null && second.mint === null) return null
  if (fits(first, second)) return { base: first, quote: second }
  return fits(second, first) ? { base: second, quote: first } : null
}
