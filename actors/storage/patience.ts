import { ServiceError } from '../../src/errors.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Storage } from '../../storage/port.ts'

/** How long whoever got no answer waits before it asks again. Chosen: short beside any outage that somebody notices. */
const RETRY_MS = 500

/** Does what asks the store; rejects with the reason of `end` when that aborts first. */
export type Patience = <T>(ask: () => Promise<T>, end: AbortSignal) => Promise<T>

/**
 * How a process asks a store. One that is a cluster can be away for a while and come back by itself: it is asked again
 * every half second until it answers or `end` aborts, so that an outage costs no restart. One that lies in a directory
 * is asked once.
 */
export function patienceWith({ isShared }: Pick<Storage, 'isShared'>, clock: Clock): Patience {
  if (!isShared) return (ask) => ask()
  return async (ask, end) => {
    for (;;) {
      end.throwIfAborted()
      try {
        return await ask()
      } catch (error) {
        if (!isOutage(error)) throw error
      }
      await sleep(clock, RETRY_MS, end)
    }
  }
}

/**
 * Resolves with the answer of a store, and with undefined where it does not answer: for looks that are taken again soon,
 * which an outage may pass over.
 */
export async function unlessAway<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (!isOutage(error)) throw error
    return undefined
  })
}

/** Whether an error says that the store did not answer. */
export function isOutage(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'STORAGE_UNAVAILABLE'
}

/** Whether an error may come from what a damaged store has lost: asking again does not help, and neither does a restart. */
export function isDamage(error: unknown, { damage }: Pick<Storage, 'damage'>): error is ServiceError {
  return isOutage(error) && damage.length > 0
}
