import type { Clock } from '../ports.ts'
import { NodeError } from './node-fault.ts'

/**
 * Resolves like `ask`, or rejects with the NodeError of a timeout after `limitMs`. The signal of `ask` then aborts
 * with that error; it also aborts with the reason of `outer` when `outer` aborts.
 */
export async function withinNodeTime<T>(
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>,
  limitMs: number,
  ask: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal
): Promise<T> {
  const end = new AbortController()
  // The caller gets the error at the limit itself, however long `ask` takes to notice the signal.
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = clock.setTimeout(() => {
    const error = new NodeError('node', { kind: 'timeout', afterMs: limitMs })
    reject(error)
    end.abort(error)
  }, limitMs)
  try {
    const signal = outer === undefined ? end.signal : AbortSignal.any([end.signal, outer])
    return await Promise.race([ask(signal), late])
  } finally {
    clock.clearTimeout(timer)
  }
}
