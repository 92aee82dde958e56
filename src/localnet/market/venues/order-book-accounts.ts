import type { Pubkey } from '../../../chain/pubkey.ts'
import type { AccountUse } from '../script.ts'
import type { VenueWorld } from '../venue.ts'
import { reads, writes } from './account-uses.ts'
import { key, newAddress } from './pool-sides.ts'

/** The order book program that Raydium's older pools name. */
export const OPEN_BOOK = key('srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX')

/** The accounts of a market that a pool names. Nothing trades there, and none of them is there. */
export interface OrderBook {
  readonly market: Pubkey
  readonly bids: Pubkey
  readonly asks: Pubkey
  readonly eventQueue: Pubkey
  readonly coinVault: Pubkey
  readonly pcVault: Pubkey
  readonly vaultSigner: Pubkey
}

export function orderBookOf(world: VenueWorld): OrderBook {
  return {
    market: newAddress(world),
    bids: newAddress(world),
    asks: newAddress(world),
    eventQueue: newAddress(world),
    coinVault: newAddress(world),
    pcVault: newAddress(world),
    vaultSigner: newAddress(world)
  }
}

/** How a swap lists them, after the program. */
export function bookUses(book: OrderBook): readonly AccountUse[] {
  const { market, bids, asks, eventQueue, coinVault, pcVault, vaultSigner } = book
  return [...[market, bids, asks, eventQueue, coinVault, pcVault].map(writes), reads(vaultSigner)]
}
