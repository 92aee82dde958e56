import type { Test } from 'tap'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { PageRequest, Storage } from '../port.ts'

/** An empty store, and what a test may do to it beside using it. Whoever opens it closes it after the test. */
export interface StorageUnderTest {
  readonly storage: Storage
  /** Closes the store and opens the same data. */
  reopen(): Promise<Storage>
  /** Damages the stored trades of a mint and opens the store again; left out where an adapter cannot. */
  damageTrades?(mint: Pubkey): Promise<Storage>
}

export type OpenForTest = (t: Test) => Promise<StorageUnderTest>

/** Every row there is, oldest first. */
export const ALL: PageRequest = { order: 'asc', limit: 10_000 }
