import { AsyncLocalStorage } from 'node:async_hooks'

/** Counts the rows that the reads of one request return. */
export interface ReadCount {
  countRead(rows: number): void
}

const current = new AsyncLocalStorage<ReadCount>()

/**
 * Runs work, and counts the rows that it reads from a counted store (`kernel/http/counted-storage.ts`). The count follows the
 * asynchronous context of the request, so readers need not pass it on. A read that several requests share is charged to
 * the request that started it.
 */
export const countingReads = <T>(count: ReadCount, work: () => Promise<T>): Promise<T> =>
  current.run(count, work)

/** The count of the current request; null for work without a key. */
export const currentReads = (): ReadCount | null => current.getStore() ?? null
