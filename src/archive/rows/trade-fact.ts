import type { Fee, RouteLeg, TradeReserves } from '../../chain/events.ts'
import type { Commitment } from '../../market/rows.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'

/** One side of a trade. */
export interface FactLeg {
  /** Native SOL stands as wrapped SOL. */
  readonly mint: Pubkey
  /** Base units, from 1 to 2^64 - 1. */
  readonly amountRaw: bigint
  /** Decimals of the mint; null if the file does not state them. */
  readonly decimals: number | null
}

/** A place within a slot, from 0; each number is null if the file does not state it. */
export interface FactPlace {
  readonly txIndex: number | null
  /** The top-level instruction. */
  readonly ixIndex: number | null
  /** The inner instruction; null for a top-level one, too. */
  readonly innerIxIndex: number | null
}

/** Facts that only rows of this service state. */
export interface FactDetails {
  /** First cursor of the trade. */
  readonly cursor: number | null
  readonly feePayer: Pubkey | null
  readonly commitment: Commitment
  /** Amounts of the trader's accounts, in base units. */
  readonly traderIn: bigint | null
  readonly traderOut: bigint | null
  readonly fees: readonly Fee[]
  readonly reserves: TradeReserves | null
  readonly exact: 'in' | 'out' | null
  readonly route: RouteLeg | null
}

/** A trade that a file of a data vendor states, after all checks. */
export interface TradeFact {
  /** Null if the file states only the time. */
  readonly slot: number | null
  /** Unix seconds; null if the file states only the slot. */
  readonly blockTime: number | null
  /** 64 bytes. */
  readonly signature: Uint8Array
  readonly venue: VenueId
  /** Null if the file names only the venue. */
  readonly program: Pubkey | null
  readonly pool: Pubkey | null
  readonly trader: Pubkey | null
  /** Paid by the trader. */
  readonly in: FactLeg
  /** Received by the trader. */
  readonly out: FactLeg
  readonly place: FactPlace
  /** USD per SOL at the trade; null if the file does not state it. */
  readonly solUsd: number | null
  /** Null if the file states none of them. */
  readonly details: FactDetails | null
}
