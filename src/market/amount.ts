import type { Leg } from './legs.ts'

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
/** Powers of ten for all decimals, which are one byte on chain. */
const POWERS_OF_TEN = Array.from({ length: 256 }, (_, exponent) => 10n ** BigInt(exponent))

export function powerOfTen(exponent: number): bigint {
  return POWERS_OF_TEN[exponent]!
}

/**
 * Returns the double nearest to numerator ÷ denominator: the error is at most half a unit in the last place. Neither
 * is negative and the denominator is not zero.
 */
export function ratio(numerator: bigint, denominator: bigint): number {
  // Both are exact as doubles, and one IEEE division rounds once.
  if (numerator <= MAX_SAFE && denominator <= MAX_SAFE) return Number(numerator) / Number(denominator)
  if (numerator === 0n) return 0
  // Scaled by a power of two to about 66 bits, with the remainder in the last bit, the conversion also rounds once.
  const magnitude = Math.floor(Math.log2(Number(numerator)) - Math.log2(Number(denominator)))
  const shift = 66 - magnitude
  const scaled = shift > 0 ? numerator << BigInt(shift) : numerator
  const divisor = shift < 0 ? denominator << BigInt(-shift) : denominator
  const quotient = scaled / divisor
  const sticky = quotient * divisor === scaled ? quotient : quotient | 1n
  return Number(sticky) * 2 ** -shift
}

/** Powers of ten that are safe integers. */
const SAFE_POWERS = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent)

/** Converts base units to human units, as the nearest double. */
export function humanAmount(amount: bigint, decimals: number): number {
  // As in `ratio`, without comparing big integers, which takes most of its time. No larger amount rounds to a safe integer.
  const rounded = Number(amount)
  if (decimals < SAFE_POWERS.length && rounded <= Number.MAX_SAFE_INTEGER)
    return rounded / SAFE_POWERS[decimals]!
  return ratio(amount, powerOfTen(decimals))
}

/** Returns the worth of a cash leg in millionths of a USD, rounded to the nearest. */
export function microUsd(cash: Leg, cashUsd: number): bigint {
  if (cashUsd === 1 && cash.decimals <= 6) return cash.amount * powerOfTen(6 - cash.decimals)
  return BigInt(Math.round(humanAmount(cash.amount, cash.decimals) * cashUsd * 1e6))
}
