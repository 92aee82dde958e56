import type { Block } from '../chain/transaction.ts'
import type { Commitment } from '../market/rows.ts'

/** The commitments at which a node returns blocks. */
export type BlockCommitment = Exclude<Commitment, 'processed'>

/** A block as a node returned it. */
export interface FetchedBlock {
  readonly kind: 'block'
  readonly block: Block & { readonly parentSlot: number }
  readonly blockhash: string
  readonly previousBlockhash: string
  /** Transactions left out because they cannot be read. */
  readonly unreadable: number
  /** The whole JSON-RPC response, if requested. */
  readonly body: Buffer | null
}

/** An answer without a block. */
export interface AbsentBlock {
  readonly kind: 'absent'
  /**
   * `pending`: not there yet. `skipped`: no block, as far as this node knows. `pruned`: no longer stored.
   * `unreadable`: cannot be parsed. `unsupported`: has a transaction version unknown to us. `fault`: no result.
   * `unavailable`: the node is paused or rejects our credentials.
   */
  readonly why: 'pending' | 'skipped' | 'pruned' | 'unreadable' | 'unsupported' | 'fault' | 'unavailable'
  readonly detail: string
}

/** Slot, hash and parent of a block, without its transactions. */
export interface BlockHeader {
  readonly kind: 'header'
  readonly slot: number
  readonly parentSlot: number
  readonly blockTime: number | null
  readonly blockhash: string
  readonly parentBlockhash: string
}

export type BlockAnswer = FetchedBlock | AbsentBlock

/** A node as a block finder sees it. */
export interface ChainNode {
  readonly name: string
  /** Whether the node stores all blocks; it is queried for blocks that other nodes lack. */
  readonly isArchive: boolean
  /** Order of querying, lowest first; null while the node must not be queried. */
  readonly rank: number | null
  /** The newest slot that it reported at the commitment; null before the first report. */
  readonly headSlot: number | null
  /** Fetches the block of a slot; rejects only with the signal's reason. */
  block(slot: number, signal: AbortSignal): Promise<BlockAnswer>
  /** Fetches the header of a slot's block; rejects only with the signal's reason. */
  header(slot: number, signal: AbortSignal): Promise<BlockHeader | AbsentBlock>
  /** Fetches the genesis hash of its cluster; throws NodeError. */
  genesis(signal: AbortSignal): Promise<string>
  /** Lists slots with blocks from one on, ascending, at most `limit`; throws NodeError. */
  slotsFrom(slot: number, limit: number, signal: AbortSignal): Promise<readonly number[]>
}

/** A range of slots that were abandoned. */
export interface SlotGap {
  readonly from: number
  /** The last slot, included. */
  readonly to: number
  readonly reason: GapReason
  /** The nodes' answers, for people. */
  readonly detail: string
}

/**
 * `pruned`: no node stores the blocks. `missing`: no node returned them in time. `unreadable`: they cannot be parsed.
 * `unsupported`: they have transactions of an unknown version.
 */
export type GapReason = 'pruned' | 'missing' | 'unreadable' | 'unsupported'
