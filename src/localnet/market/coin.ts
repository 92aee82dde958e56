import type { Pubkey } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { MarketPool } from './venue.ts'

/**
 * A coin's course. `still`: a handful of trades. `flash`: bought for some minutes, then sold off. `riser`: trades above
 * its launch price for hours. `graduate`: bought until its curve is sold out, then traded in a pool.
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
  /** Trading activity at its birth; 1 for a usual coin. */
  readonly heat: number
  /** Half-life of its heat, in slots. */
  readonly spanSlots: number
  /** Price on its curve before the first trade, in raw units. */
  readonly launchPrice: number
  readonly curve: MarketPool
  /** Slot in which the creator and the snipers sell everything; null if they have sold it or keep it. */
  exitSlot: number | null
  graduatedSlot: number | null
  /** Numbers of the traders who may hold the coin. */
  holders: number[]
  /** Numbers of the traders who ever held the coin; their accounts may still exist. */
  everHeld: number[]
}
