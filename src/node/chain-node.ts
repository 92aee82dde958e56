import type { Block } from '../chain/transaction.ts'
import type { Commitment } from '../market/rows.ts'

/** The commitments at which a node gives blocks. */
export type BlockCommitment = Exclude<Commitment, 'processed'>

/** A block as a node gave it. */
export interface FetchedBlock {
  readonly kind: 'block'
  readonly block: Block & { readonly parentSlot: number }
  readonly blockhash: string
  readonly previousBlockhash: string
  /** Transactions left out because they cannot be read. */
  readonly unreadable: number
  /** The whole JSON-RPC response, where it was asked for. */
  readonly body: Buffer | null
}

/** Why a node has no block of a slot. */
export interface AbsentBlock {
  readonly kind: 'absent'
  /**
   * `pending`: not yet; `skipped`: there is none, as far as this node knows; `pruned`: no longer kept; `unreadable`: what
   * it gives cannot be read; `unsupported`: it holds a version of transactions that we do not know; `fault`: no result;
   * `unasked`: the node rests, or does not know us.
   */
  readonly why: 'pending' | 'skipped' | 'pruned' | 'unreadable' | 'unsupported' | 'fault' | 'unasked'
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

/** A node as those see it who look for blocks. */
export interface ChainNode {
  readonly name: string
  /** Keeps all blocks, and is asked for what the others do not have. */
  readonly isArchive: boolean
  /** Lower is asked first; null while it is not to be asked at all. */
  readonly rank: number | null
  /** The newest slot that it has told of at the commitment; null until it has. */
  readonly headSlot: number | null
  /** The block of a slot; rejects only with the signal's reason. */
  block(slot: number, signal: AbortSignal): Promise<BlockAnswer>
  /** The header of a slot's block; rejects only with the signal's reason. */
  header(slot: number, signal: AbortSignal): Promise<BlockHeader | AbsentBlock>
  /** The genesis of its cluster; throws NodeError. */
  genesis(signal: AbortSignal): Promise<string>
  /** Slots with blocks from one on, ascending, at most `limit`; throws NodeError. */
  slotsFrom(slot: number, limit: number, signal: AbortSignal): Promise<readonly number[]>
}

/** Slots that were given up. */
export interface SlotGap {
  readonly from: number
  /** The last one, included. */
  readonly to: number
  readonly reason: GapReason
  /** What the nodes said, for people. */
  readonly detail: string
}

/**
 * `pruned`: no node keeps them; `missing`: no node gave them in time; `unreadable`: what came cannot be read; `unsupported`:
 * transactions of a version that is not known.
 */
export type GapReason = 'pruned' | 'missing' | 'unreadable' | 'unsupported'
