import { ServiceError } from '../../src/kernel/errors.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Storage } from '../../storage/port.ts'

/** Pause between attempts, in milliseconds: short beside any outage that somebody notices. */
const RETRY_MS = 500

/** Runs a query of the store. Rejects with the reason of `end` if that aborts first. */
export type RetryPolicy = <T>(ask: () => Promise<T>, end: AbortSignal) => Promise<T>

/**
 * Returns the retry policy of a store. A query of a shared store (a cluster) is retried every `RETRY_MS` while the store is
 * unavailable, until it answers or `end` aborts. So an outage costs no restart. A query of an embedded store runs once.
 */
export function retryWhileUnavailable({ isShared }: Pick<Storage, 'isShared'>, clock: Clock): RetryPolicy {
  return isShared ? retryUntilAvailable(clock) : (ask) => ask()
}

/** Returns the policy of retrying every `RETRY_MS` while any store is unavailable, until it answers or `end` aborts. */
export function retryUntilAvailable(clock: Clock): RetryPolicy {
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
 * Resolves with the answer of a store, or with undefined while it is unavailable. For periodic polls, which may skip
 * a round.
 */
export async function undefinedIfUnavailable<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (!isOutage(error)) throw error
    return undefined
  })
}

/** Tells whether an error means that the store did not answer. */
export function isOutage(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'STORAGE_UNAVAILABLE'
}

/**
 * Tells whether an error may come from records that a damaged store has lost; neither a retry nor a restart helps
 * then.
 */
export function isDamage(error: unknown, { damage }: Pick<Storage, 'damage'>): error is ServiceError {
  return isOutage(error) && damage.length > 0
}
