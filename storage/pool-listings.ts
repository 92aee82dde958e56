import type { Pubkey } from '../src/chain/pubkey.ts'
import { samePubkey } from '../src/chain/pubkey.ts'
import { splitCursor } from '../src/market/cursor.ts'
import type { PoolRow } from '../src/market/registry-rows.ts'
import { ownVaultOwners } from '../src/signing/vault-owners.ts'

/** The mints that a pool is listed under. */
export const listingMints = ({ base, quote, quoteListed }: PoolRow): Pubkey[] =>
  quoteListed ? [base, quote] : [base]

/** All addresses that a pool is listed under: its mints, and the owners of its vaults that lead to no pool otherwise. */
export const listingAddresses = (pool: PoolRow): Pubkey[] => [...listingMints(pool), ...ownVaultOwners(pool)]

/**
 * The addresses that the block of a slot lists a pool under: all of them if it names the pool first. Later blocks list it
 * again under the owners of its vaults, because older versions did not.
 */
export const addressesListedAt = (slot: number, pool: PoolRow): Pubkey[] =>
  splitCursor(pool.firstCursor).slot === slot ? listingAddresses(pool) : ownVaultOwners(pool)

/** Tells whether a pool is listed under an address as under a mint. */
export const isListedUnder = (pool: PoolRow, mint: Pubkey): boolean =>
  listingMints(pool).some((each) => samePubkey(each, mint))
