import type { VenueId } from '../../chain/venue-id.ts'

/**
 * The market's intention for a slot. The service never reads it; tests compare the service's output with it. Keys are raw
 * bytes, amounts raw units.
 */
export interface IntendedSlot {
  readonly slot: number
  /** Unix seconds. */
  readonly blockTime: number
  readonly transactions: readonly IntendedTransaction[]
}

export interface IntendedTransaction {
  readonly signature: Uint8Array
  readonly kind: TransactionKind
  /** In execution order; empty for a failed transaction. */
  readonly events: readonly IntendedEvent[]
}

export type TransactionKind =
  | 'vote'
  | 'transfer'
  | 'table'
  | 'open'
  | 'launch'
  | 'trade'
  | 'route'
  | 'liquidity'
  | 'graduation'
  | 'sweep'
  | 'failed'

export type IntendedEvent =
  | IntendedTrade
  | IntendedLaunch
  | IntendedGraduation
  | IntendedOpening
  | IntendedLiquidity

export interface IntendedTrade {
  readonly kind: 'trade'
  readonly venue: VenueId
  readonly pool: Uint8Array
  readonly user: Uint8Array
  readonly inMint: Uint8Array
  readonly outMint: Uint8Array
  /** Amounts that left and reached the trader, all fees included. */
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** Position among the fills of a route, from 1; null outside a route. */
  readonly hop: number | null
  /** Whether the trade bought the rest of a curve. */
  readonly completes: boolean
}

export interface IntendedLaunch {
  readonly kind: 'launch'
  readonly venue: VenueId
  readonly mint: Uint8Array
  readonly curve: Uint8Array
  readonly creator: Uint8Array
  readonly name: string
  readonly symbol: string
  readonly uri: string
}

export interface IntendedGraduation {
  readonly kind: 'graduation'
  readonly venue: VenueId
  readonly mint: Uint8Array
  readonly curve: Uint8Array
  readonly destinationVenue: VenueId
  readonly destination: Uint8Array
}

export interface IntendedOpening {
  readonly kind: 'opening'
  readonly venue: VenueId
  readonly pool: Uint8Array
  readonly base: Uint8Array
  readonly quote: Uint8Array
}

export interface IntendedLiquidity {
  readonly kind: 'liquidity'
  readonly venue: VenueId
  readonly pool: Uint8Array
  readonly user: Uint8Array
  readonly event: 'add' | 'remove'
  readonly base: Uint8Array
  readonly quote: Uint8Array
  /** Amounts that the provider's accounts lost or gained. */
  readonly baseAmount: bigint
  readonly quoteAmount: bigint
}
