/** A number as text states it: `digits` × 10^`exponent`. */
export interface DecimalNumber {
  readonly isNegative: boolean
  readonly digits: bigint
  readonly exponent: number
  /** Whether the text has an exponent, as programs write numbers that lost digits. */
  readonly isScientific: boolean
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/
/** Characters of an amount. A u64 has 20 digits, and doubles are written with up to 25; more is no amount. */
const CHARACTERS_MAX = 100

/** Parses a decimal number without loss; null if the text is not one, as with `NaN`. */
export function parseDecimal(text: string): DecimalNumber | null {
  if (text.length > CHARACTERS_MAX) return null
  const [, sign, whole = '', fraction = '', exponent] = DECIMAL.exec(text) ?? []
  if (whole === '' && fraction === '') return null
  return {
    isNegative: sign === '-',
    digits: BigInt(whole + fraction),
    exponent: Number(exponent ?? 0) - fraction.length,
    isScientific: exponent !== undefined
  }
}
