import { ServiceError } from '../errors.ts'
import type { Clock } from '../ports.ts'

/** How long a request may be worked on before it is given up. */
export const DEADLINE_MS = 2000

/**
 * What `work` gives, or DEADLINE_EXCEEDED after two seconds; then the signal aborts, and whatever `work` still does
 * concerns nobody.
 */
export async function withinDeadline<T>(clock: Clock, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController()
  let timer: unknown
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = clock.setTimeout(() => {
      const error = new ServiceError(
        'DEADLINE_EXCEEDED',
        'the answer took too long to work out; ask for less'
      )
      reject(error)
      abort.abort(error)
    }, DEADLINE_MS)
  })
  try {
    return await Promise.race([work(abort.signal), deadline])
  } finally {
    clock.clearTimeout(timer)
  }
}
