// Times are composed as bytes, because V8 writes JSON at less than half the speed if a text in it is a concatenation
// or a slice.
const DAY = 86_400
const DATE = 'YYYY-MM-DD'.length
const ZERO = '0'.charCodeAt(0)
const written = Buffer.from('1970-01-01 00:00:00')
let day = 0
let second = 0
let secondText = written.toString('latin1')

/**
 * Formats Unix seconds as `YYYY-MM-DD HH:MM:SS` in UTC. The last second and day are cached, because rows of a list
 * mostly share them.
 */
export function secondsText(unixSeconds: number): string {
  if (unixSeconds === second) return secondText
  const days = Math.floor(unixSeconds / DAY)
  if (days !== day) {
    written.write(new Date(days * DAY * 1000).toISOString().slice(0, DATE), 'latin1')
    day = days
  }
  const rest = unixSeconds - days * DAY
  const minutes = Math.floor(rest / 60)
  const hours = Math.floor(minutes / 60)
  writeTwoDigits(DATE + 1, hours)
  writeTwoDigits(DATE + 4, minutes - hours * 60)
  writeTwoDigits(DATE + 7, rest - minutes * 60)
  secondText = written.toString('latin1')
  second = unixSeconds
  return secondText
}

/** Formats Unix milliseconds as `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
export function millisecondsText(unixMs: number): string {
  const seconds = Math.floor(unixMs / 1000)
  return [secondsText(seconds), String(unixMs - seconds * 1000).padStart(3, '0')].join('.')
}

/**
 * Returns the difference in whole seconds between two times in Unix milliseconds, at least 0. It changes with the second of
 * the clock, so that all processes state the same age.
 */
export const ageSeconds = (atMs: number, nowMs: number): number =>
  Math.max(0, Math.floor(nowMs / 1000) - Math.floor(atMs / 1000))

/** Returns the milliseconds until an age changes. */
export const untilNextSecond = (nowMs: number): number => 1000 - (Math.floor(nowMs) % 1000)

function writeTwoDigits(at: number, number: number): void {
  const tens = Math.floor(number / 10)
  written[at] = ZERO + tens
  written[at + 1] = ZERO + number - tens * 10
}
