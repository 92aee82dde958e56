import type { Range } from './concentrated.ts'
import { floorSqrt } from './integers.ts'

/** The highest tick of programs; the lowest is its negative. A tick's price is 1.0001 times the previous tick's. */
const MAX_TICK = 443_636
const BITS = 256n
const ONE = 1n << BITS

/** The square root of 1.0001 to the power of -1, -2, -4 and so on, with 256 fractional bits. */
const POWERS = Array.from({ length: 19 }, (): bigint => 0n)
POWERS[0] = floorSqrt((10_000n << (2n * BITS)) / 10_001n)
for (let at = 1; at < POWERS.length; at++) POWERS[at] = (POWERS[at - 1]! * POWERS[at - 1]!) >> BITS

/**
 * Returns the square root of a tick's price in Q64.64, rounded down; programs' own tables may differ in the last bits.
 */
export function sqrtPriceAtTick(tick: number): bigint {
  let ratio = ONE
  for (const [at, power] of POWERS.entries()) if ((Math.abs(tick) >> at) & 1) ratio = (ratio * power) >> BITS
  return tick > 0 ? (1n << (BITS + 64n)) / ratio : ratio >> (BITS - 64n)
}

/** Returns the last tick whose price is not above the given one. */
export function tickAtSqrtPrice(sqrtPrice: bigint): number {
  let tick = Math.round((2 * Math.log(Number(sqrtPrice) / 2 ** 64)) / Math.log(1.0001))
  while (sqrtPriceAtTick(tick) > sqrtPrice) tick--
  while (sqrtPriceAtTick(tick + 1) <= sqrtPrice) tick++
  return tick
}

/** Returns the widest range that a tick spacing allows. */
export function fullRange(
  tickSpacing: number
): Range & { readonly lowerTick: number; readonly upperTick: number } {
  const upperTick = MAX_TICK - (MAX_TICK % tickSpacing)
  return {
    lowerTick: -upperTick,
    upperTick,
    lower: sqrtPriceAtTick(-upperTick),
    upper: sqrtPriceAtTick(upperTick)
  }
}
