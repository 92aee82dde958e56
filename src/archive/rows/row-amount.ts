import { parseDecimal } from './decimal-text.ts'
import type { RefusalReason } from './row-refusal.ts'

/** An amount in base units, or why it is refused. */
export type AmountReading =
  | { readonly amountRaw: bigint; readonly reason: null }
  | { readonly reason: RefusalReason; readonly detail: string }

const U64_MAX = 2n ** 64n - 1n
/** The largest whole number below which a double holds every whole number. */
const DOUBLE_EXACT_MAX = 2n ** 53n
/** Significant digits that every double holds. A text with more may have the rounding error of a double in its last ones. */
const DOUBLE_DIGITS = 15
/** 10^20 exceeds a u64, so a larger exponent of any digits but 0 is out of range. */
const EXPONENT_MAX = 20

/** Reads an amount in base units: a whole number. */
export function readRawAmount(text: string): AmountReading {
  return readAmount(text, 0, 'in base units must be a whole number')
}

/** Reads an amount in human units of a mint with these decimals. */
export function readHumanAmount(text: string, decimals: number): AmountReading {
  return readAmount(text, decimals, `has more digits than the ${decimals} decimals of the mint`)
}

/** The most decimals that mints with a market have had, several times over. */
const IMPLIED_DECIMALS_MAX = 20

/**
 * Returns the decimals by which an amount in base units and one in human units are the same; null if no number of
 * decimals gives that.
 */
export function impliedDecimals(amountRaw: bigint, human: string | null): number | null {
  const value = human === null ? Number.NaN : Number(human)
  if (!(value > 0) || !Number.isFinite(value)) return null
  const decimals = Math.round(Math.log10(Number(amountRaw) / value))
  if (decimals < 0 || decimals > IMPLIED_DECIMALS_MAX) return null
  const isSame = Math.abs(Number(amountRaw) / 10 ** decimals / value - 1) < 1e-6
  return isSame ? decimals : null
}

function readAmount(text: string, decimals: number, fractional: string): AmountReading {
  const number = parseDecimal(text)
  if (number === null) return { reason: 'bad-amount', detail: `amount ${shown(text)} is not a number` }
  const { digits, isNegative, isScientific } = number
  if (digits === 0n) return { reason: 'zero-amount', detail: 'an amount is 0' }
  if (isNegative) return { reason: 'negative-amount', detail: `amount ${shown(text)} is negative` }
  const exponent = number.exponent + decimals
  if (exponent > EXPONENT_MAX) return outOfRange(text)
  const { whole, isExact } = scaled(digits, exponent)
  if (whole > U64_MAX) return outOfRange(text)
  if (!isExact && (decimals === 0 || significantDigits(digits) <= DOUBLE_DIGITS))
    return {
      reason: decimals === 0 ? 'inexact-amount' : 'decimals-contradict',
      detail: `amount ${shown(text)} ${fractional}`
    }
  if (isScientific && decimals === 0 && whole > DOUBLE_EXACT_MAX)
    return {
      reason: 'inexact-amount',
      detail: `amount ${shown(text)} is a floating-point number, which has lost its last digits`
    }
  return whole === 0n
    ? { reason: 'zero-amount', detail: `amount ${shown(text)} is less than one base unit` }
    : { amountRaw: whole, reason: null }
}

/** Multiplies by a power of ten, rounding half up. */
function scaled(digits: bigint, exponent: number): { readonly whole: bigint; readonly isExact: boolean } {
  if (exponent === 0) return { whole: digits, isExact: true }
  if (exponent > 0) return { whole: digits * 10n ** BigInt(exponent), isExact: true }
  const unit = 10n ** BigInt(-exponent)
  return { whole: (digits + unit / 2n) / unit, isExact: digits % unit === 0n }
}

const significantDigits = (digits: bigint): number => digits.toString().replace(/0+$/, '').length

const outOfRange = (text: string): AmountReading => ({
  reason: 'amount-out-of-range',
  detail: `amount ${shown(text)} exceeds 64 bits in base units`
})

/** Returns a cell for a message, shortened. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
