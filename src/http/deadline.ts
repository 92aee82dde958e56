import { ServiceError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import { ANSWER_LIMIT_MS } from '../time-limits.ts'

/** Milliseconds for computing an answer, unless its endpoint has its own deadline. */
export const DEADLINE_MS = ANSWER_LIMIT_MS

/**
 * Resolves like `work`, or rejects with DEADLINE_EXCEEDED after the deadline. The signal then aborts, and the outcome
 * of `work` is ignored.
 */
export async function withinDeadline<T>(
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
  deadlineMs = DEADLINE_MS
): Promise<T> {
  const abort = new AbortController()
  let timer: unknown
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = clock.setTimeout(() => {
      const error = new ServiceError(
        'DEADLINE_EXCEEDED',
        'the answer took too long to compute; request less data'
      )
      reject(error)
      abort.abort(error)
    }, deadlineMs)
  })
  try {
    return await Promise.race([work(abort.signal), deadline])
  } finally {
    clock.clearTimeout(timer)
  }
}
