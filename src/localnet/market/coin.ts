import type { Pubkey } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { MarketPool } from './venue.ts'

/**
 * How a coin fares. `still`: a handful of trades. `flash`: bought for some minutes, then sold off. `riser`: trades above its
 * launch price for hours. `graduate`: bought until its curve is sold out, then traded in a pool.
 */
export type CoinFate = 'still' | 'flash' | 'riser' | 'graduate'

/** A coin that was launched. */
export interface Coin {
  readonly id: number
  readonly launchpad: VenueId
  readonly mint: Pubkey
  readonly symbol: string
  readonly bornSlot: number
  readonly creator: Pubkey
  readonly fate: CoinFate
  /** How much is traded at its birth, 1 for the usual one. */
  readonly heat: number
  /** Slots in which its heat falls to a half. */
  readonly spanSlots: number
  /** Price on its curve before the first trade, in raw units. */
  readonly launchPrice: number
  readonly curve: MarketPool
  /** When the creator and the snipers sell all; null where they have, or stay. */
  exitSlot: number | null
  graduatedSlot: number | null
  /** Numbers of the traders who may have some of it. */
  holders: number[]
  /** Those who ever had some: their accounts may still be there. */
  everHeld: number[]
}
