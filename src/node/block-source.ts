import type { Block } from '../chain/transaction.ts'
import type { Commitment } from '../market/rows.ts'

/** A block as a source delivers it. */
export interface SourcedBlock {
  readonly block: Block
  readonly commitment: Commitment
  /**
   * Unix milliseconds of arrival. For a recorded block this is its block time, so that the rows do not depend on the
   * run.
   */
  readonly receivedAtMs: number
  /** The rollback to apply before this block, if it does not follow the newest stored one. */
  readonly rollback?: Rollback
}

/** A range of slots that a source abandons; both ends included. */
export interface SourceGap {
  readonly from: number
  readonly to: number
  readonly reason: string
  /** One line; absent if the reason needs no detail. */
  readonly detail?: string
}

/**
 * Reports that the chain diverged from the store: all blocks stored after `after` are on a lost fork. This happens
 * when a node was restored to an older state and continued from there.
 */
export interface Rollback {
  /** The last stored slot whose block is on the chain. */
  readonly after: number
  /** Reason why this is not proven; null if it is. */
  readonly doubt: string | null
  /**
   * The chain's blocks between that slot and the block with this rollback, oldest first; slots without a block are
   * abandoned.
   */
  readonly blocks: AsyncIterable<SourcedBlock | SourceGap>
}

/** A source of blocks. A reader passes its position, so that a restarted source resumes at the end of the store. */
export interface BlockSource {
  /** Delivers blocks of slots above `after`, ascending by slot; ends when there are no more or `signal` aborts. */
  blocks(options: {
    readonly after: number | null
    readonly signal: AbortSignal
  }): AsyncIterable<SourcedBlock>
  /**
   * Refetches one block; `skipped` if its slot has no block, null if no queried source has it. Waits while no
   * source is available. Rejects only with the signal's reason. Absent in sources that deliver blocks only in order.
   */
  readonly refetch?: RefetchBlock
}

export type RefetchBlock = (slot: number, signal: AbortSignal) => Promise<SourcedBlock | 'skipped' | null>
