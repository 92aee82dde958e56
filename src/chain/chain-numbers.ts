/** The highest slot that can have cursors: slot × 2^20 + position stays below 2^53, which a double holds exactly. */
export const SLOT_MAX = 2 ** 33 - 1

/**
 * The latest block time, in Unix seconds (year 2106): stored times have 32 bits. A time in milliseconds is far above
 * that limit.
 */
export const BLOCK_TIME_MAX = 2 ** 32 - 1

/**
 * The highest transaction index: nodes write the index in 32 bits, and a block reaches its compute limit before 2^20
 * transactions.
 */
export const TRANSACTION_INDEX_MAX = 2 ** 32 - 1

const U64_MAX_DIGITS = '18446744073709551615'
const NOT_DIGIT = /[^0-9]/

/** Tells whether a value is text of 1 to 20 decimal digits for an unsigned 64-bit number. */
export function isU64Text(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > U64_MAX_DIGITS.length) return false
  if (NOT_DIGIT.test(value)) return false
  return value.length < U64_MAX_DIGITS.length || value <= U64_MAX_DIGITS
}
