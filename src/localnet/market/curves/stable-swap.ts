import { smaller } from './integers.ts'

type Pair = readonly [bigint, bigint]

/** Flatness of the curve: the higher, the wider the range in which the price hardly moves. */
const AMPLIFICATION = 100n
const ROUNDS = 255

/** Returns the sum of both balances at a price of one, by Curve's invariant for two tokens. */
export function invariantOf([x, y]: Pair): bigint {
  const sum = x + y
  if (x === 0n || y === 0n) return 0n
  const amplified = AMPLIFICATION * 4n
  let invariant = sum
  for (let round = 0; round < ROUNDS; round++) {
    const product = (((invariant * invariant) / (2n * x)) * invariant) / (2n * y)
    const next =
      ((amplified * sum + 2n * product) * invariant) / ((amplified - 1n) * invariant + 3n * product)
    if (differBy(next, invariant) <= 1n) return smaller(next, invariant)
    invariant = next
  }
  return invariant
}

/** Returns the other balance for an invariant and one balance, rounded up. */
export function balanceBeside(balance: bigint, invariant: bigint): bigint {
  const amplified = AMPLIFICATION * 4n
  const c = (((invariant * invariant) / (2n * balance)) * invariant) / (2n * amplified) + 1n
  const b = balance + invariant / amplified
  let other = invariant
  for (let round = 0; round < ROUNDS; round++) {
    const next = (other * other + c) / (2n * other + b - invariant) + 1n
    if (differBy(next, other) <= 1n) return (next > other ? next : other) + 1n
    other = next
  }
  return other + 1n
}

/** Returns the output for an input without its fee; at least one unit of the reserve remains. */
export function stableOut(input: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  const beside = balanceBeside(reserveIn + input, invariantOf([reserveIn, reserveOut]) + 1n)
  return reserveOut > beside ? reserveOut - beside : 0n
}

/** Returns output per input for a negligible trade. */
export function stablePrice(reserveIn: bigint, reserveOut: bigint): number {
  const part = reserveIn / 1_000_000n + 1n
  return Number(stableOut(part, reserveIn, reserveOut)) / Number(part)
}

function differBy(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a
}
