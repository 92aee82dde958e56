/** A failed attempt: without a whole answer, or with a refusal. */
export type Failure =
  | 'unanswered'
  | {
      readonly status: number
      /** Code of the service's problem; null if a proxy answered. */
      readonly code: string | null
      readonly retryAfterMs: number | null
    }

/** Backoff before a retry, in milliseconds: doubled from `minMs` to `maxMs`, half of it random. */
const BACKOFF_MS = { minMs: 500, maxMs: 8_000 }
/** Longest wait in milliseconds that a refusal may ask for: quotas are by the minute. */
export const RETRY_WAIT_MAX_MS = 65_000
/** Random part of a wait that a refusal asks for, so that clients do not return in one instant. */
const SPREAD_MS = 500

/**
 * Returns whether a request may be sent again after a failure. A refusal with 429, and with each code of 503 but
 * `outcome_unknown`, promises that nothing was changed. After all else only repeatable requests are sent again: reads,
 * deletions, and changes with an idempotency key.
 */
export function mayRepeat(failure: Failure, isRepeatable: boolean): boolean {
  if (failure === 'unanswered') return isRepeatable
  const { status, code } = failure
  if (status === 429) return true
  if (status === 503 && code !== null && code !== 'outcome_unknown') return true
  return isRepeatable && (status === 502 || status === 503 || status === 504)
}

/** Returns the wait before a retry in milliseconds; retries are counted from 0. Null if it would be too long. */
export function retryWaitMs(failure: Failure, retry: number, random: () => number): number | null {
  const statedMs = failure === 'unanswered' ? null : failure.retryAfterMs
  if (statedMs !== null)
    return statedMs > RETRY_WAIT_MAX_MS ? null : Math.round(statedMs + random() * SPREAD_MS)
  const maxMs = Math.min(BACKOFF_MS.maxMs, BACKOFF_MS.minMs * 2 ** retry)
  return Math.round(maxMs / 2 + (random() * maxMs) / 2)
}

/** Returns the milliseconds of a `Retry-After`, which is in seconds or a date; null if it is neither. */
export function retryAfterMsOf(value: string | null, nowMs: number): number | null {
  if (value === null) return null
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const atMs = Date.parse(value)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
