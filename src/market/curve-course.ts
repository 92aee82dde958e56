import type { CurveReserves } from '../chain/events.ts'
import { ratio } from './amount.ts'

/** The progress of a curve between its start and its completion. */
export interface CurveCourse {
  /** Sold part of the tokens for sale, 0 to 100. */
  readonly progressPct: number
  /** Sold tokens in base units. */
  readonly sold: bigint
  /** Quote in base units that the curve holds when all tokens are sold. */
  readonly targetQuote: bigint
}

/**
 * Computes the course of a constant-product curve from all four reserves; null if one is missing, or if they are not
 * of such a curve. Virtual and real reserves change alike, so their difference is constant. It gives the virtual
 * quote at the start, and so the virtual tokens. The result is off by the program's rounding of each trade, a few
 * base units.
 */
export function curveCourse(reserves: CurveReserves): CurveCourse | null {
  const { virtualBase, virtualQuote, realBase, realQuote } = reserves
  if (virtualBase === undefined || virtualQuote === undefined) return null
  if (realBase === undefined || realQuote === undefined) return null
  const startQuote = virtualQuote - realQuote
  const endBase = virtualBase - realBase
  if (startQuote <= 0n || endBase <= 0n) return null
  const product = virtualBase * virtualQuote
  const forSale = product / startQuote - endBase
  if (forSale < realBase || forSale <= 0n) return null
  const sold = forSale - realBase
  return {
    progressPct: 100 * ratio(sold, forSale),
    sold,
    targetQuote: product / endBase - startQuote
  }
}
