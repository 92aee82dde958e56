import type { Pubkey } from '../../../chain/pubkey.ts'
import type { VenueWorld } from '../venue.ts'
import { key, newAddress } from './pool-sides.ts'

/** The order book program that Raydium's older pools name. */
export const OPEN_BOOK = key('srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX')

/** Accounts of a market that a pool names. The market has no trades, and its accounts do not exist. */
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

/** Account lists of the book in a swap and in a withdrawal. */
export const SWAP_BOOK = 'openBook market* bids* asks* eventQueue* coinVault* pcVault* vaultSigner'
export const WITHDRAWAL_BOOK = 'openBook market* coinVault* pcVault* vaultSigner'
export const WITHDRAWAL_QUEUES = 'eventQueue* bids* asks*'
