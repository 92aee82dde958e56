import { productOut } from './constant-product.ts'
import { ceilDiv } from './integers.ts'

/**
 * A curve that sells a part of a supply: reserves that it pretends to start with, what it sold of the base and took of the
 * quote. Plain data.
 */
export interface LaunchCurve {
  readonly virtualBase: bigint
  readonly virtualQuote: bigint
  readonly forSale: bigint
  sold: bigint
  raised: bigint
}

/** The parameters that most launchpads use: 793.1 of 1,073 million sold take 85 SOL. */
export function newLaunchCurve(decimals: number): LaunchCurve {
  const unit = 10n ** BigInt(decimals)
  return {
    virtualBase: 1_073_000_000n * unit,
    virtualQuote: 30_000_000_000n,
    forSale: 793_100_000n * unit,
    sold: 0n,
    raised: 0n
  }
}

export const LAUNCH_SUPPLY = 1_000_000_000n

/** Raised when all is sold. */
export function raisedAtEnd({ virtualBase, virtualQuote, forSale }: LaunchCurve): bigint {
  return ceilDiv(forSale * virtualQuote, virtualBase - forSale)
}

export function isSoldOut({ sold, forSale }: LaunchCurve): boolean {
  return sold === forSale
}

/** What an input without fees buys, and how much of it is needed: the last buy takes what is left. */
export function buyFromCurve(curve: LaunchCurve, input: bigint): { quote: bigint; base: bigint } | null {
  const left = curve.forSale - curve.sold
  const [base, quote] = reservesOf(curve)
  const bought = productOut(input, quote, base)
  if (input <= 0n || bought <= 0n || left === 0n) return null
  if (bought < left) return { quote: input, base: bought }
  return { quote: raisedAtEnd(curve) - curve.raised, base: left }
}

/** What the curve gives for tokens, before fees; null where it is nothing, or none were sold. */
export function sellToCurve(curve: LaunchCurve, tokens: bigint): bigint | null {
  if (isSoldOut(curve) || tokens <= 0n || tokens > curve.sold) return null
  const [base, quote] = reservesOf(curve)
  const out = productOut(tokens, base, quote)
  return out <= 0n || out > curve.raised ? null : out
}

export function moveCurve(curve: LaunchCurve, base: bigint, quote: bigint): void {
  curve.sold += base
  curve.raised += quote
}

export function curvePrice(curve: LaunchCurve): number {
  const [base, quote] = reservesOf(curve)
  return Number(quote) / Number(base)
}

/** Base and quote as the product has them. */
export function reservesOf(curve: LaunchCurve): readonly [bigint, bigint] {
  return [curve.virtualBase - curve.sold, curve.virtualQuote + curve.raised]
}
