import { AsyncLocalStorage } from 'node:async_hooks'

/** Counts the rows that the reads of one request hand over. */
export interface ReadCount {
  countRead(rows: number): void
}

const current = new AsyncLocalStorage<ReadCount>()

/**
 * Runs work, and counts the rows that it reads from a counted store (`http/counted-storage.ts`). The count follows the
 * asynchronous context of the request, so that no reader has to hand it on. Of a read that several requests share, the one
 * that began it pays.
 */
export const countingReads = <T>(count: ReadCount, work: () => Promise<T>): Promise<T> =>
  current.run(count, work)

/** The count of the present request; null for work without a key. */
export const currentReads = (): ReadCount | null => current.getStore() ?? null
