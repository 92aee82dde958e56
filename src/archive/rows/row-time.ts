import { parseDecimal } from './decimal-text.ts'

const DATE =
  /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?\s?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/

/** Seconds as nearly all files write them. */
const SECONDS = /^\d{1,10}$/

/** Numbers below are Unix seconds until the year 5138. */
const SECONDS_BELOW = 10n ** 11n
/** Numbers below are milliseconds until the year 5138; larger ones are microseconds. */
const MILLISECONDS_BELOW = 10n ** 14n
const MICROSECONDS_BELOW = 10n ** 17n

/**
 * Reads a time as Unix seconds, rounded down: a number of seconds, milliseconds or microseconds, or a date with a time of
 * day, UTC unless it states an offset. Null if the text is neither.
 */
export function readTime(text: string): number | null {
  if (SECONDS.test(text)) return Number(text)
  return dateSeconds(text) ?? numberSeconds(text)
}

function numberSeconds(text: string): number | null {
  const number = parseDecimal(text)
  if (number === null || number.exponent > 17) return null
  const { digits, exponent, isNegative } = number
  const whole = exponent >= 0 ? digits * 10n ** BigInt(exponent) : digits / 10n ** BigInt(-exponent)
  if (isNegative) return -Number(whole)
  if (whole < SECONDS_BELOW) return Number(whole)
  if (whole < MILLISECONDS_BELOW) return Number(whole / 1_000n)
  return whole < MICROSECONDS_BELOW ? Number(whole / 1_000_000n) : null
}

function dateSeconds(text: string): number | null {
  const match = DATE.exec(text)
  if (match === null) return null
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number
  ]
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  // A field beyond its range moves the date on: February 30 becomes March 1.
  const isReal =
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second
  return isReal ? date.getTime() / 1_000 - offsetSeconds(match[7] ?? 'Z') : null
}

/** Returns the seconds that an offset such as `+02:00` is ahead of UTC. */
function offsetSeconds(zone: string): number {
  if (zone === 'Z' || zone === 'UTC') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3_600 + minutes * 60)
}
