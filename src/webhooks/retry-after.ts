/** `Sun, 06 Nov 1994 08:49:37 GMT`, the only form of a date that RFC 9110 lets a server send. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const SECONDS = /^\d{1,9}$/

/** Returns the milliseconds of a `Retry-After` header; null if it is absent or malformed. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | null {
  if (typeof header !== 'string') return null
  if (SECONDS.test(header)) return Number(header) * 1_000
  const atMs = HTTP_DATE.test(header) ? Date.parse(header) : NaN
  return Number.isNaN(atMs) ? null : Math.max(atMs - nowMs, 0)
}
