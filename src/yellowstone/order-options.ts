import type { Block } from '../chain/transaction.ts'
import type { Commitment } from '../market/rows.ts'
import type { RollbackFinder } from '../node/rollback.ts'
import type { Clock } from '../ports.ts'

/**
 * Requests the block of a slot. Returns the block, `skipped` if the slot has no block on the chain, or null if no
 * node has it now.
 */
export type FetchMissing = (slot: number, signal: AbortSignal) => Promise<Block | 'skipped' | null>

/** A range of slots that were abandoned. */
export interface StreamGap {
  readonly from: number
  /** The last slot, included. */
  readonly to: number
  /** `missing`: no node returned them in time; `no-node`: no node is configured. */
  readonly reason: 'missing' | 'no-node'
}

/** A block that does not follow the last delivered one, which is therefore on another fork. */
export interface StreamFork {
  readonly slot: number
  readonly parentSlot: number
  /** The slot of the last delivered block. All slots after the parent are lost. */
  readonly head: number
}

export interface OrderOptions {
  readonly commitment: Commitment
  readonly clock: Clock
  readonly tuning: OrderTuning
  readonly fetchMissing: FetchMissing | null
  /** Called and awaited before any later block is delivered. */
  readonly onGap: (gap: StreamGap) => void | Promise<void>
  /** Called and awaited before the block is delivered. */
  readonly onFork: (fork: StreamFork) => void | Promise<void>
  /** Finds where the chain diverged from the delivered blocks; null if no node is configured. */
  readonly rollbacks?: Pick<RollbackFinder, 'find'> | null
  /** Called with the reason why no block is delivered although blocks are available; with null once delivery resumes. */
  readonly onDoubt?: (reason: string | null) => void
  /** Called for oddities of a slot that do not stop delivery. */
  readonly onOddity: (slot: number, detail: string) => void
  /** Resolves when a block arrives, after `ms`, or when the signal aborts. */
  readonly arrival: (ms: number, signal: AbortSignal) => Promise<void>
  /** Called when a block leaves the held ones. */
  readonly onTaken: () => void
}

export interface OrderTuning {
  /** Time for which a block waits for its parent to arrive in the stream. */
  readonly graceMs: number
  /** Time for which a missing block is requested. */
  readonly giveUpMs: number
  readonly retryMs: number
  /** Maximum number of missing blocks requested at once. */
  readonly prefetch: number
}
