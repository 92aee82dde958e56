import type { ChainEvent } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { Commitment } from './rows.ts'

/** A decoded block: its place in the chain and its events. */
export interface DecodedBlock {
  readonly slot: number
  /** Unix seconds. */
  readonly blockTime: number
  readonly parentSlot: number | null
  /** Base58; null if the source does not state it. */
  readonly blockhash: string | null
  /** Unix milliseconds at which the source received the block. */
  readonly receivedAtMs: number
  readonly commitment: Commitment
  /** Number of transactions in the block, with or without events. */
  readonly transactions: number
  /** In chain order: transaction index, then order of execution. */
  readonly entries: readonly BlockEntry[]
}

export interface BlockEntry {
  readonly signature: Uint8Array
  readonly txIndex: number
  readonly feePayer: Pubkey
  readonly event: ChainEvent
  /** The first cursor of an event that was stored before. Without it, the cursor follows from the events before it. */
  readonly cursor?: number
}
