/** The last slot that has cursors: slot × 2^20 + position is then below 2^53, which a double holds exactly. */
export const SLOT_MAX = 2 ** 33 - 1

/** In unix seconds, of 2106: stored times have 32 bits. A time that was written in milliseconds is far above it. */
export const BLOCK_TIME_MAX = 2 ** 32 - 1

/** Chosen: the compute limit of a block ends it before 2^20 transactions; nodes write the index in 32 bits. */
export const TRANSACTION_INDEX_MAX = 2 ** 32 - 1

const U64_MAX_DIGITS = '18446744073709551615'
const NOT_DIGIT = /[^0-9]/

/** Whether a text is the decimal digits of an unsigned 64-bit number, in at most 20 of them. */
export function isU64Text(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > U64_MAX_DIGITS.length) return false
  if (NOT_DIGIT.test(value)) return false
  return value.length < U64_MAX_DIGITS.length || value <= U64_MAX_DIGITS
}
