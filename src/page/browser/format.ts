/** Texts of numbers and times. Unknown values are a dash. */

export const UNKNOWN = '–'

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉'

type Known = number | null | undefined

const isKnown = (value: Known): value is number =>
  value !== null && value !== undefined && Number.isFinite(value)

/** A whole number with separators. */
export const count = (value: Known): string => (isKnown(value) ? whole.format(value) : UNKNOWN)

/** An amount in a few characters, as `1.25M`. */
export function amount(value: Known): string {
  if (!isKnown(value)) return UNKNOWN
  return Math.abs(value) < 1_000 && value !== 0 ? decimal(value) : compact.format(value)
}

/** A sum in USD in a few characters. */
export function usd(value: Known): string {
  if (!isKnown(value)) return UNKNOWN
  const size = Math.abs(value)
  const text =
    size >= 1_000 ? compact.format(size) : size !== 0 && size < 0.01 ? decimal(size) : cents.format(size)
  return `${value < 0 ? '−' : ''}$${text}`
}

/** A price with five significant digits. Zeros after the point are counted: `0.0₄2279` is 0.00002279. */
export function decimal(value: Known): string {
  if (!isKnown(value)) return UNKNOWN
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1_000) return whole.format(value)
  if (size >= 1)
    return value.toLocaleString('en-US', {
      minimumFractionDigits: 2,
      maximumFractionDigits: size >= 100 ? 2 : 4
    })
  const sign = value < 0 ? '-' : ''
  const [digits = '', exponent = '0'] = size.toExponential(3).split('e')
  const zeros = -Number(exponent) - 1
  const significant = digits.replace('.', '').replace(/0+$/, '')
  if (zeros < 4) return `${sign}0.${'0'.repeat(zeros)}${significant}`
  const counted = String(zeros).replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)]!)
  return `${sign}0.0${counted}${significant}`
}

export const usdPrice = (value: Known): string => (isKnown(value) ? `$${decimal(value)}` : UNKNOWN)

/** A change in percent, with its sign. */
export function percent(value: Known): string {
  if (!isKnown(value)) return UNKNOWN
  const size = Math.abs(value)
  const text = size >= 1_000 ? compact.format(size) : size.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
  return `${value < 0 ? '−' : '+'}${text}%`
}

/** A share in percent, without a sign. */
export const share = (value: Known): string =>
  isKnown(value) ? `${value.toFixed(value >= 10 ? 1 : 2)}%` : UNKNOWN

/** The ends of an address or a signature. */
export const short = (address: string): string =>
  address.length <= 12 ? address : `${address.slice(0, 4)}…${address.slice(-4)}`

/** Characters of a name that are shown: names are chosen by strangers, and can be 10 KB long. */
const NAME_LENGTH_MAX = 40
/** Characters without a shape of their own, and those that change the direction of the text after them. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu

/** Combining marks after two others: a pile of them covers the lines above and below. */
const PILED_MARKS = /(?<=\p{M}\p{M})\p{M}+/gu

/** A name as a stranger chose it, in one short line without control characters. */
export function nameText(name: string | null | undefined): string | null {
  if (name === null || name === undefined) return null
  const characters = [...name.replace(UNSHOWN, '').replace(PILED_MARKS, '').trim()]
  if (characters.length === 0) return null
  return characters.length <= NAME_LENGTH_MAX
    ? characters.join('')
    : `${characters.slice(0, NAME_LENGTH_MAX).join('')}…`
}

/** The age of a time, as `12s`, `5m`, `3h` or `2d`. A time ahead of the clock of the browser is `0s`. */
export function age(timeMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - timeMs) / 1_000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}

/** The time of day of a Unix time in milliseconds, in UTC as the API states times. */
export const clockText = (timeMs: number): string => new Date(timeMs).toISOString().slice(11, 19)

/** A time of the API (`YYYY-MM-DD HH:MM:SS`, UTC) in Unix milliseconds. */
export const timeMs = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`)

export const bytes = (value: Known): string => {
  if (!isKnown(value)) return UNKNOWN
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const at = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3))
  return `${(value / 1_000 ** at).toFixed(at === 0 ? 0 : 1)} ${units[at]}`
}
