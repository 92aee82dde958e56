import { ServiceError } from '../../src/kernel/errors.ts'
import type { Visibility } from './visibility.ts'

/**
 * A query takes a small part of the time between two flushes: one that is overtaken five times runs on a stalled machine.
 */
const ATTEMPTS_MAX = 5

/**
 * Runs a query of several reads until all of them have seen the same blocks. Each read uses the snapshot that is current
 * when it begins, and a flush between two of them would show a block in part. Rejects with STORAGE_UNAVAILABLE, which can be
 * retried, when flushes overtake every attempt.
 */
export async function readConsistently<T>(
  { visibility }: { readonly visibility: Pick<Visibility, 'snapshot'> },
  query: () => Promise<T>
): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { epoch, lastCommit } = visibility.snapshot
    const answer = await query()
    const now = visibility.snapshot
    if (now.epoch === epoch && now.lastCommit === lastCommit) return answer
  }
  throw new ServiceError('STORAGE_UNAVAILABLE', `flushes overtook a query ${ATTEMPTS_MAX} times`)
}
