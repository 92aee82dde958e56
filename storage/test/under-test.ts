import type { Test } from 'tap'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { DocumentStore } from '../document-store.ts'
import type { PageRequest, Storage, StorageUsage } from '../port.ts'
import type { ShiftedClock } from './shifted-clock.ts'

/**
 * Counts conditional writes from 0, and loses the answer of one. `done` loses it after the server has written, and `undone`
 * without a write. With `late` the server writes later, just before the next conditional write.
 */
export interface LostAnswers {
  readonly done?: readonly number[]
  readonly undone?: readonly number[]
  readonly late?: readonly number[]
  /** Runs after each write that is done without an answer. */
  readonly afterDone?: () => Promise<void>
}

/** An empty store, and what a test may do to it besides using it. The test that opens it closes it. */
export interface StorageUnderTest {
  readonly storage: Storage
  /** Clock by which documents expire. */
  readonly clock: ShiftedClock
  /** Closes the store and opens the same data, with a retention where one is given. */
  reopen(retentionSeconds?: number): Promise<Storage>
  /** Has the store count what was committed of some kinds of rows, and gives its usage. */
  counted(kinds: readonly string[]): Promise<StorageUsage>
  /** Opens the same data as another process; absent if only one process can. */
  join?(): Promise<Storage>
  /** Opens the same documents with a connection that loses answers; absent if there is no connection. */
  losing?(lost: LostAnswers): Promise<{ readonly documents: DocumentStore; readonly tried: () => number }>
  /** Damages the stored trades of a mint and reopens the store; absent if an adapter cannot. */
  damageTrades?(mint: Pubkey): Promise<Storage>
}

export type OpenForTest = (t: Test) => Promise<StorageUnderTest>

/** Every row, oldest first. */
export const ALL: PageRequest = { order: 'asc', limit: 10_000 }
