import type { CurveReserves } from '../chain/events.ts'
import { ratio } from './amount.ts'

/** Where a curve stands between its start and its completion. */
export interface CurveCourse {
  /** 0 to 100: the part of the tokens for sale that is sold. */
  readonly progressPct: number
  /** Base units of those that are sold. */
  readonly sold: bigint
  /** Quote in base units that the curve holds when all of them are sold. */
  readonly targetQuote: bigint
}

/**
 * The course of a constant-product curve from all four reserves; null where one is not stated, or they are not of such
 * a curve. Virtual and real reserves change alike, so their differences say how the curve began: with as much virtual
 * quote as it has more virtual than real, and thereby with how many virtual tokens. Off by the program's rounding of
 * each trade, a few base units.
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
