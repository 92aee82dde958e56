import type { Block } from '../chain/transaction.ts'
import type { Commitment } from '../market/rows.ts'

/** A block as a source delivers it. */
export interface SourcedBlock {
  readonly block: Block
  readonly commitment: Commitment
  /** Unix milliseconds: when it came; of a recorded block its block time, so that a second run gives the same rows. */
  readonly receivedAtMs: number
  /** The rollback that was found where the block does not follow the newest stored one. */
  readonly rollback?: Rollback
}

/** Slots that a source gives up. */
export interface GivenUp {
  readonly from: number
  readonly to: number
  readonly reason: string
  /** In one line; where a source has none, its reason says it. */
  readonly detail?: string
}

/**
 * The chain left what is stored: all that is stored after one block is of a lost fork. So it is where a node was put back to
 * an older state and went on from there.
 */
export interface Rollback {
  /** The last stored slot whose block is of the chain. */
  readonly after: number
  /** Why that is not proven; null where it is. */
  readonly doubt: string | null
  /** The blocks of the chain between that slot and the block that this stands at, oldest first; and those not to be had. */
  readonly blocks: AsyncIterable<SourcedBlock | GivenUp>
}

/** Where blocks come from. A reader has a position, so that whoever restarts goes on where the store ends. */
export interface BlockSource {
  /** Blocks of slots above `after`, in ascending order of slot; ends when there are no more, or when `signal` aborts. */
  blocks(options: {
    readonly after: number | null
    readonly signal: AbortSignal
  }): AsyncIterable<SourcedBlock>
  /**
   * Gives one block again; `skipped` where its slot has none, null where whoever was asked does not have it. Waits while
   * nobody can be asked, and rejects only with the signal's reason. Absent where blocks come in their order alone.
   */
  readonly again?: BlockAgain
}

export type BlockAgain = (slot: number, signal: AbortSignal) => Promise<SourcedBlock | 'skipped' | null>
