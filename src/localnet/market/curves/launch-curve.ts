import { productOut } from './constant-product.ts'
import { ceilDiv } from './integers.ts'

/**
 * A curve that sells a fraction of a supply: its virtual reserves, and the base sold and quote raised so far. Plain data.
 */
export interface LaunchCurve {
  readonly virtualBase: bigint
  readonly virtualQuote: bigint
  readonly forSale: bigint
  sold: bigint
  raised: bigint
}

/** Returns a curve with the parameters of most launchpads: 793.1 of 1,073 million sold take 85 SOL. */
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

/** Returns the quote raised when everything is sold. */
export function raisedAtEnd({ virtualBase, virtualQuote, forSale }: LaunchCurve): bigint {
  return ceilDiv(forSale * virtualQuote, virtualBase - forSale)
}

export function isSoldOut({ sold, forSale }: LaunchCurve): boolean {
  return sold === forSale
}

/** Returns the base bought by an input without fees, and the portion of the input used: the last buy takes the rest. */
export function buyFromCurve(curve: LaunchCurve, input: bigint): { quote: bigint; base: bigint } | null {
  const left = curve.forSale - curve.sold
  const [base, quote] = reservesOf(curve)
  const bought = productOut(input, quote, base)
  if (input <= 0n || bought <= 0n || left === 0n) return null
  if (bought < left) return { quote: input, base: bought }
  return { quote: raisedAtEnd(curve) - curve.raised, base: left }
}

/** Returns the quote paid for tokens, before fees; null if it is zero or the curve has not sold that many. */
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

/** Returns the virtual base and quote reserves, whose product is constant. */
export function reservesOf(curve: LaunchCurve): readonly [bigint, bigint] {
  return [curve.virtualBase - curve.sold, curve.virtualQuote + curve.raised]
}
