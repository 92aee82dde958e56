import { z } from 'zod'

const UNIX = /^\d{1,11}$/
const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/i

/**
 * A time in a query, as Unix seconds or ISO 8601. A date means its first second; a time without a zone is UTC, as in
 * answers. Fractions of a second are rounded up, because block times are whole seconds. Times before 1970 are read as
 * 0.
 */
export const instant = z
  .string()
  .transform((text, context): number => {
    const seconds = UNIX.test(text) ? Number(text) : secondsOfIso(text)
    if (seconds !== null) return Math.max(0, seconds)
    context.addIssue({
      code: 'custom',
      message: 'must be a time in unix seconds or ISO 8601, as 1787572800 or 2026-08-24T12:00:00Z'
    })
    return z.NEVER
  })
  .meta({ anyOf: [{ pattern: '^[0-9]{1,11}$' }, { format: 'date-time' }, { format: 'date' }] })

function secondsOfIso(text: string): number | null {
  if (!ISO.test(text)) return null
  const date = text.slice(0, 10)
  const time = text.slice(11).toUpperCase()
  const zone = /(?:Z|[+-]\d\d:\d\d)$/.test(time) ? '' : 'Z'
  const ms = Date.parse(time === '' ? `${date}T00:00Z` : `${date}T${time}${zone}`)
  // JavaScript parses the 30th of February as the 2nd of March.
  const isDay = new Date(Date.parse(`${date}T00:00Z`)).getUTCDate() === Number(date.slice(8))
  return Number.isNaN(ms) || !isDay ? null : Math.ceil(ms / 1000)
}
