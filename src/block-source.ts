import type { Block } from './chain/transaction.ts'
import type { Commitment } from './market/rows.ts'

/** A block as a source delivers it. */
export interface SourcedBlock {
  readonly block: Block
  readonly commitment: Commitment
  /** Unix milliseconds: when it came; of a recorded block its block time, so that a second run gives the same rows. */
  readonly receivedAtMs: number
}

/** Where blocks come from. A reader has a position, so that whoever restarts goes on where the store ends. */
export interface BlockSource {
  /** Blocks of slots above `after`, in ascending order of slot; ends when there are no more, or when `signal` aborts. */
  blocks(options: {
    readonly after: number | null
    readonly signal: AbortSignal
  }): AsyncIterable<SourcedBlock>
}
