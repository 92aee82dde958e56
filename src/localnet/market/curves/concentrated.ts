import { ceilDiv, floorSqrt, smaller } from './integers.ts'

/**
 * A price range of liquidity, as in Uniswap v3. A price is the square root of second tokens per first token in Q64.64.
 * Programs store liquidity as a whole number or in Q64.64: `bits` is the size of its fraction. Amounts are raw.
 */
export interface Range {
  readonly lower: bigint
  readonly upper: bigint
}

type Pair = readonly [bigint, bigint]

/** Returns the price at which two amounts have equal worth. */
export function sqrtPriceOf([first, second]: Pair): bigint {
  return floorSqrt((second << 128n) / first)
}

/** Converts a price to second tokens per first token. */
export function priceOf(sqrtPrice: bigint): number {
  const root = Number(sqrtPrice) / 2 ** 64
  return root * root
}

/** Returns the amounts of some liquidity at a price: rounded up for a deposit, down for a withdrawal. */
export function liquidityWorth(
  liquidity: bigint,
  sqrtPrice: bigint,
  range: Range,
  bits: bigint,
  rounding: 'up' | 'down'
): Pair {
  return [
    firstBetween(liquidity, sqrtPrice, range.upper, bits, rounding),
    secondBetween(liquidity, range.lower, sqrtPrice, bits, rounding)
  ]
}

/** Returns the maximum liquidity for which both amounts suffice. */
export function liquidityOf([first, second]: Pair, sqrtPrice: bigint, range: Range, bits: bigint): bigint {
  const ofFirst = ((first * sqrtPrice * range.upper) << bits) / ((range.upper - sqrtPrice) << 64n)
  const ofSecond = (second << (64n + bits)) / (sqrtPrice - range.lower)
  return smaller(ofFirst, ofSecond)
}

export interface Step {
  readonly sqrtPrice: bigint
  /** The portion of the input that moves the price; the rest is rounding, which programs count as fee. */
  readonly used: bigint
  readonly output: bigint
}

/** Returns the price after an input, and the output; null if the liquidity ends before. */
export function stepOf(
  input: bigint,
  firstIn: boolean,
  liquidity: bigint,
  sqrtPrice: bigint,
  range: Range,
  bits: bigint
): Step | null {
  if (liquidity === 0n || input <= 0n) return null
  const scaled = liquidity << 64n
  if (firstIn) {
    const next = ceilDiv(scaled * sqrtPrice, scaled + ((input * sqrtPrice) << bits))
    if (next <= range.lower) return null
    return {
      sqrtPrice: next,
      used: smaller(input, firstBetween(liquidity, next, sqrtPrice, bits, 'up')),
      output: secondBetween(liquidity, next, sqrtPrice, bits, 'down')
    }
  }
  const next = sqrtPrice + (input << (64n + bits)) / liquidity
  if (next >= range.upper) return null
  return {
    sqrtPrice: next,
    used: smaller(input, secondBetween(liquidity, sqrtPrice, next, bits, 'up')),
    output: firstBetween(liquidity, sqrtPrice, next, bits, 'down')
  }
}

const MILLION = 1_000_000n

/**
 * Swaps with a fee on the input, in millionths; the fee is the portion of the input that does not move the price. Null
 * if the output is zero or the liquidity ends before. Liquidity is a whole number.
 */
export function swapWithFee(
  amountIn: bigint,
  firstIn: boolean,
  { liquidity, sqrtPrice }: { readonly liquidity: bigint; readonly sqrtPrice: bigint },
  range: Range,
  fee: bigint
): { readonly amountOut: bigint; readonly fee: bigint; readonly sqrtPrice: bigint } | null {
  const withoutFee = (amountIn * (MILLION - fee)) / MILLION
  const step = stepOf(withoutFee, firstIn, liquidity, sqrtPrice, range, 0n)
  if (step === null || step.output <= 0n) return null
  return { amountOut: step.output, fee: amountIn - step.used, sqrtPrice: step.sqrtPrice }
}

function firstBetween(
  liquidity: bigint,
  low: bigint,
  high: bigint,
  bits: bigint,
  rounding: 'up' | 'down'
): bigint {
  const above = (liquidity * (high - low)) << (64n - bits)
  return rounding === 'up' ? ceilDiv(above, low * high) : above / (low * high)
}

function secondBetween(
  liquidity: bigint,
  low: bigint,
  high: bigint,
  bits: bigint,
  rounding: 'up' | 'down'
): bigint {
  const above = liquidity * (high - low)
  const unit = 1n << (64n + bits)
  return rounding === 'up' ? ceilDiv(above, unit) : above / unit
}
