import type { CurveReserves } from '../chain/events.ts'
import type { VenueId } from '../chain/venue-id.ts'
import { ratio } from './amount.ts'

/** The progress of a curve between its start and its completion. */
export interface CurveCourse {
  /** Share of the tokens for sale that is sold, 0 to 100. */
  readonly progressPct: number
  /** Sold tokens in base units. */
  readonly sold: bigint
  /** Quote in base units that the curve holds when all tokens are sold; null if the virtual reserves are unknown. */
  readonly targetQuote: bigint | null
}

/**
 * Tokens for sale at the start of every Pump.fun curve, and virtual tokens beyond them that are never sold, in base
 * units. They are parameters of the program's Global account since 2024.
 */
const PUMPFUN_FOR_SALE = 793_100_000_000_000n
const PUMPFUN_UNSOLD = 279_900_000_000_000n

/**
 * Returns the tokens that a curve had for sale at its start: as its launchpad stated them, else by the program's
 * parameters. Null if its reserves do not match these parameters either. They never follow from the product of the
 * reserves: in mayhem mode the program's agent sets its own prices, which changes the product.
 */
export function forSaleOf(platform: VenueId, stated: bigint | null, reserves: CurveReserves): bigint | null {
  if (stated !== null) return stated
  const { virtualBase, realBase } = reserves
  if (platform !== 'pumpfun' || virtualBase === undefined || realBase === undefined) return null
  // Trades change virtual and real tokens alike.
  return virtualBase - realBase === PUMPFUN_UNSOLD ? PUMPFUN_FOR_SALE : null
}

/**
 * Computes the course of a curve that completes when its tokens for sale are sold; null if the remaining tokens or
 * those for sale are unknown. `startQuote` is the virtual quote at the start. If it is unknown, the difference
 * between virtual and real quote counts, which trades do not change.
 */
export function curveCourse(
  reserves: CurveReserves,
  forSale: bigint | null,
  startQuote: bigint | null = null
): CurveCourse | null {
  const { realBase } = reserves
  if (forSale === null || forSale <= 0n || realBase === undefined) return null
  // An agent may have sold tokens to the curve that it did not buy there.
  const sold = forSale > realBase ? forSale - realBase : 0n
  return {
    progressPct: 100 * ratio(sold, forSale),
    sold,
    targetQuote: quoteAtEnd(reserves, forSale, startQuote)
  }
}

/** Returns the quote raised by selling all tokens from the start at a constant product, rounded up as programs do. */
function quoteAtEnd(reserves: CurveReserves, forSale: bigint, startQuote: bigint | null): bigint | null {
  const { virtualBase, virtualQuote, realBase, realQuote } = reserves
  if (virtualBase === undefined || realBase === undefined || virtualBase <= realBase) return null
  const unsold = virtualBase - realBase
  const start =
    startQuote ?? (virtualQuote === undefined || realQuote === undefined ? null : virtualQuote - realQuote)
  return start === null || start <= 0n ? null : (forSale * start + unsold - 1n) / unsold
}
