import type { Test } from 'tap'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { PageRequest, Storage, StorageUsage } from '../port.ts'
import type { ShiftedClock } from './shifted-clock.ts'

/** An empty store, and what a test may do to it beside using it. Whoever opens it closes it after the test. */
export interface StorageUnderTest {
  readonly storage: Storage
  /** By which documents expire. */
  readonly clock: ShiftedClock
  /** Closes the store and opens the same data, with a retention where one is given. */
  reopen(retentionSeconds?: number): Promise<Storage>
  /** Has the store count what was committed of some kinds of rows, and gives its usage. */
  counted(kinds: readonly string[]): Promise<StorageUsage>
  /** Damages the stored trades of a mint and opens the store again; left out where an adapter cannot. */
  damageTrades?(mint: Pubkey): Promise<Storage>
}

export type OpenForTest = (t: Test) => Promise<StorageUnderTest>

/** Every row there is, oldest first. */
export const ALL: PageRequest = { order: 'asc', limit: 10_000 }
