import type { Amendment, Edit } from '../src/market/amendment.ts'
import type { BlockCommit } from '../src/market/records.ts'
import type { CandleUpsert } from '../src/market/rows.ts'
import type { StoredBlock } from '../src/market/stored-block.ts'
import type { SharedQuestions } from './port/questions.ts'
import type { SharedReadings } from './port/readings.ts'
import type { DocumentStore } from './document-store.ts'
import type { BlockStore, History, Journal } from './port/blocks.ts'
import type { CoverageStore, GapRow } from './port/coverage.ts'
import type { HolderStore } from './port/holders.ts'
import type { LedgerStore } from './port/ledger.ts'
import type { ProgramAccountStore } from './port/program-accounts.ts'
import type { RecordStores } from './port/records.ts'
import type { StorageUsage, Sweeper } from './port/space.ts'

export type { BlockCommit, CandleUpsert }
export type * from './port/blocks.ts'
export type * from './port/coverage.ts'
export * from './port/facts.ts'
export * from './port/holders.ts'
export type * from './port/ledger.ts'
export * from './port/program-accounts.ts'
export * from './port/records.ts'
export type * from './port/space.ts'

/**
 * Port of the service to a store, in the words of the domain. Two promises hold for every adapter. A block becomes visible
 * to readers only after all of it is durable (INVARIANTS 4). Writing the same block again changes nothing (INVARIANTS 5).
 * Every method rejects with a ServiceError of code STORAGE_UNAVAILABLE when the store cannot answer.
 */
export interface Storage extends RecordStores {
  readonly blocks: BlockStore
  readonly history: History
  readonly coverage: CoverageStore
  readonly documents: DocumentStore
  readonly programAccounts: ProgramAccountStore
  readonly holders: HolderStore
  readonly ledger: LedgerStore
  /**
   * Whether other processes can have the store open. Such a store can be unavailable for a while, and recovers by itself.
   */
  readonly isShared: boolean
  /** Maximum blocks of a group that becomes visible in one step (`commitAll`). */
  readonly commitGroupMax: number
  /** The newest blocks, for processes that follow the commits of others; null if the store is not shared. */
  readonly journal: Journal | null
  /** Estimated bytes of records in memory, and the most that they may take. */
  readonly recordCache: { readonly bytes: number; readonly bytesMax: number }
  /** Bytes of mirrored accounts in memory, and the most that they may take; null if the store has no such cache. */
  readonly accountPages: { readonly bytes: number; readonly bytesMax: number } | null
  /** Readings of accounts that processes share by the store; null if the store is not shared. */
  readonly readings: SharedReadings | null
  /** Questions to the processes that hold names and rankings; null if the store is not shared. */
  readonly questions: SharedQuestions | null
  /** Reads of tenants that wait in this process for their turn at the store; null if the store takes reads at once. */
  readonly waitingReads: number | null
  /** Estimates the bytes of each kind of rows. */
  usage(): Promise<StorageUsage>
  /** Deletes rows past the retention; null if the store does so by itself, or keeps all. */
  readonly sweeper: Sweeper | null
  /**
   * The current outage of the store, or null: commits wait, reads reject. It ends by itself with the first answer.
   */
  readonly outage: Outage | null
  /** Unix milliseconds of the last answer to a read of a shared store; null before the first, and if it is not shared. */
  readonly answeredAtMs: number | null
  /**
   * Damage found when the store was opened, or by a read since, one line each for the operator; empty for a sound store.
   * Reads of lost data reject, all others are answered. Blocks must not be committed: they could follow from lost rows.
   */
  readonly damage: readonly string[]
  /**
   * Losses of a repaired store until they are rebuilt; otherwise null, and always null for a cluster. No block may be
   * committed before: it could follow from lost records.
   */
  readonly losses: Losses | null
  /** Resolves with the fault after which the store accepts no write until it is opened again; otherwise stays pending. */
  readonly failed: Promise<Error>
  /** Ends after everything accepted is durable. */
  close(): Promise<void>
}

/** Records that a repair could neither read nor recompute. */
export interface Losses {
  /** Kinds with lost records that follow from all blocks up to theirs, in words for the operator. */
  readonly folded: readonly string[]
  /** Whether records of gaps may be lost. */
  readonly gapsMayBeLost: boolean
  /** Tells whether a slot that is not stored may be a lost one. */
  mayHaveHeld(slot: number): boolean
  /** Yields the stored records of each slot, by slot. */
  blocks(): AsyncGenerator<StoredBlock>
  /** Opens an empty store in which all blocks are folded, replacing an earlier one. The caller closes it. */
  scratch(): Promise<Storage>
  /** Yields the scratch store's versions of lost records, as parts of amendments. The scratch store must be closed. */
  made(): AsyncGenerator<Partial<Amendment>>
  /** Forgets the losses and changes the gaps, in one durable step. */
  settle(gaps: Edit<GapRow, number>): Promise<void>
}

/** A time in which the store does not answer. */
export interface Outage {
  /** Unix milliseconds of the first try that failed. */
  readonly sinceMs: number
  /** The store's error in one line for the operator, or that the store does not answer. */
  readonly detail: string
}
