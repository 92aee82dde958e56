import { ServiceError } from '../errors.ts'
import { RequestEffects, withEffects } from '../request-effects.ts'
import type { Clock } from '../../ports.ts'
import { ANSWER_LIMIT_MS } from '../time-limits.ts'

/** Milliseconds for computing an answer, unless its endpoint has its own deadline. */
export const DEADLINE_MS = ANSWER_LIMIT_MS

/**
 * Resolves like `work`, or rejects with DEADLINE_EXCEEDED after the deadline. The signal then aborts, and the outcome
 * of `work` is ignored. It also aborts with `left`, which aborts when the client leaves.
 */
export async function withinDeadline<T>(
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
  deadlineMs = DEADLINE_MS,
  left?: AbortSignal
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
    const signal = left === undefined ? abort.signal : AbortSignal.any([abort.signal, left])
    return await Promise.race([work(signal), deadline])
  } finally {
    clock.clearTimeout(timer)
  }
}

/**
 * Limit in milliseconds of a request that changes something: the time after which many clients and proxies time out. Until
 * then the answer waits for the outcome.
 */
export const WRITE_LIMIT_MS = 30_000

/**
 * Resolves like `work`, which changes something. The deadline of reads never cuts off a write:
 * - If no write has begun after `checksMs`, rejects with CHANGE_NOT_BEGUN. No write begins after that.
 * - If a write has begun, waits for the outcome up to WRITE_LIMIT_MS. Then rejects with OUTCOME_UNKNOWN.
 * - If `work` fails on our side after a write that may have taken effect, rejects with OUTCOME_UNKNOWN: the store does not
 *   answer, or the answer cannot be made.
 *
 * `unknown` makes the error of an outcome that cannot be known.
 */
export async function withinWriteLimit<T>(
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
  { checksMs, unknown }: { readonly checksMs: number; readonly unknown: (cause?: unknown) => ServiceError }
): Promise<T> {
  const effects = new RequestEffects()
  const abort = new AbortController()
  const late = Promise.withResolvers<never>()
  const refuse = (): void => {
    const error = new ServiceError(
      'CHANGE_NOT_BEGUN',
      'nothing was changed: the checks of the request took too long; repeat it'
    )
    effects.refuse(error)
    late.reject(error)
    abort.abort(error)
  }
  const timers = [
    clock.setTimeout(() => {
      if (!effects.mayHaveEffect) refuse()
    }, checksMs),
    clock.setTimeout(() => {
      if (effects.mayHaveEffect) late.reject(unknown())
      else refuse()
    }, WRITE_LIMIT_MS)
  ]
  try {
    return await Promise.race([withEffects(effects, () => work(abort.signal)), late.promise])
  } catch (error) {
    throw effects.mayHaveEffect && isOurs(error) ? unknown(error) : error
  } finally {
    for (const timer of timers) clock.clearTimeout(timer)
    effects.end()
  }
}

/** Tells whether an error is a failure of the store or of this service, and not an answer to the request. */
const isOurs = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error.code === 'STORAGE_UNAVAILABLE' || error.code === 'SERVICE_FAILED'
