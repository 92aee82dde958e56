import type { DeliveryAttempt, StoredAttempt } from './webhook.ts'

const NONE = '-'
/** Separates two lines in the progress; no line contains it. */
const SEPARATOR = ';'

/** Returns an attempt as a line: its fields in the order of DeliveryAttempt, separated by spaces, `-` for null. */
export function attemptLine(attempt: DeliveryAttempt): string {
  const { batchId, statusCode, error, events, dropped, startedAtMs, durationMs, nextRetryAtMs } = attempt
  return [
    batchId,
    attempt.attempt,
    statusCode ?? NONE,
    error ?? NONE,
    events,
    dropped,
    startedAtMs,
    durationMs,
    nextRetryAtMs ?? NONE
  ].join(' ')
}

/** Restores an attempt from its line. */
export function readAttempt(stored: StoredAttempt): DeliveryAttempt {
  if (typeof stored !== 'string') return stored
  const [batchId, attempt, statusCode, error, ...rest] = stored.split(' ') as [string, string, string, string]
  const [events, dropped, startedAtMs, durationMs, nextRetryAtMs] = rest.map(numberIn)
  return {
    batchId,
    attempt: Number(attempt),
    statusCode: numberIn(statusCode),
    error: error === NONE ? null : error,
    events: events!,
    dropped: dropped!,
    startedAtMs: startedAtMs!,
    durationMs: durationMs!,
    nextRetryAtMs: nextRetryAtMs!
  }
}

/** Returns lines as the progress stores them: one text, which is validated and encoded in one step. */
export const linesText = (lines: readonly string[]): string => lines.join(SEPARATOR)

/** Returns the attempts stored in the progress. */
export function attemptsIn(stored: string | readonly StoredAttempt[]): readonly StoredAttempt[] {
  if (typeof stored !== 'string') return stored
  return stored === '' ? [] : stored.split(SEPARATOR)
}

const numberIn = (text: string): number | null => (text === NONE ? null : Number(text))
