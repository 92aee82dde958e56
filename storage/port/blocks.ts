import type { Amendment, Edit } from '../../src/market/amendment.ts'
import type { BlockExtent } from '../../src/market/block-extent.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { GapRow } from './coverage.ts'

/** Takes blocks, and says which are stored. */
export interface BlockStore {
  /**
   * Makes this process the only writer of blocks, and resolves with the newest committed slot at that time. Earlier
   * claimants can commit nothing from then on. Ingest claims before it reads any state that it continues from.
   *
   * `token` is the fencing token of a lease. A claim without a lease has null, and outranks every claim before it. Rejects
   * with LostClaim, which names the token, if a greater token has claimed before. Commits of earlier claimants reject with
   * LostClaim without a token. A store that only one process can have open refuses no claim.
   */
  claim(token: number | null): Promise<SlotRow | null>
  /**
   * Resolves if this process is still the writer of blocks; rejects with LostClaim if another process has claimed since. A
   * write beside the blocks is fenced if its condition was read before this call, and each claimant changes what the
   * condition reads.
   */
  confirmClaim(): Promise<void>
  /**
   * Stores a block in one durable step; resolves after it is on disk. Slots come in ascending order: a slot at or below the
   * head is already stored, and nothing is written. Returns whether it was written. With `kept` it is in the history until
   * it is forgotten.
   *
   * Blocks may be given before earlier ones are answered: they are stored and answered in the order of the calls. `after` is
   * the slot of the block before. If that block has not become the head, the call rejects; so a failed block leaves no hole.
   */
  commit(block: BlockCommit, kept?: KeptBlock, after?: number): Promise<boolean>
  /**
   * Stores consecutive blocks of one hour, in groups, in as few durable steps as the store can. Readers see each group whole or
   * not at all, also after a crash, and groups in order. For stores that get many blocks at once. `after` is as for `commit`. A
   * group has at most `commitGroupMax` blocks.
   */
  commitAll(groups: readonly (readonly BlockCommit[])[], after?: number): Promise<void>
  /** The newest committed slot, null on an empty store. */
  head(): Promise<SlotRow | null>
  /** Tells whether a slot is committed. */
  has(slot: number): Promise<boolean>
  /** A committed slot; null if it is not committed. */
  at(slot: number): Promise<SlotRow | null>
  /** Committed slots from one up to another, both included, ascending. The caller bounds their distance. */
  between(first: number, last: number): Promise<SlotRow[]>
  /**
   * The first slot whose block time is at or after a time; null if no block has come since. Block times never fall from slot
   * to slot by more than a second or two. A caller that needs the exact second checks the rows.
   */
  firstSince(blockTime: number): Promise<number | null>
}

/** The newest committed blocks with their undo data, in one run up to the head, and the amendments of stored blocks. */
export interface History {
  /** Kept blocks after a slot (null: from the first), by slot: `limit` at most. */
  after(slot: number | null, limit: number): Promise<KeptBlock[]>
  /** Forgets those up to a slot, included. */
  forget(until: number): Promise<void>
  /**
   * Amends the stored blocks up to the head, and the gaps between them, under the latest claim. If it resolves, all of it is
   * stored; if it rejects, all or nothing. Writing the same amendment again changes nothing. The journal does not reach back
   * behind an amendment.
   */
  amend(amendment: Amendment, gaps: Edit<GapRow, number>): Promise<void>
  /**
   * A number that grows with each amendment, at the newest head or blocks that this process was given. If it differs,
   * earlier answers may have changed.
   */
  amendments(): Promise<number>
}

/** The newest committed blocks, whole, for a limited time. */
export interface Journal {
  /**
   * The blocks committed after a slot (null: from the first), oldest first, `limit` at most; empty before the first commit.
   * They are those that this process knows: `blocks.head` finds out about newer ones. Of each, at least the slot was read
   * (`extentOf`). Rows may be decoded at their first use, and then throw STORAGE_UNAVAILABLE for damaged bytes. Resolves with
   * null if the journal no longer reaches back to the slot, or the slot was never committed. Missed data is then only in the
   * rows.
   */
  after(slot: number | null, limit: number): Promise<readonly BlockCommit[] | null>
  /** Reads so much of a block that `after` returned, unless it was read. Rejects with STORAGE_UNAVAILABLE if it cannot be read. */
  read(block: BlockCommit, extent: BlockExtent): Promise<void>
}
