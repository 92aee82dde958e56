import { pubkeyFromBase58, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'
import { isLaunchpad } from '../market/curves.ts'
import type { PoolRow } from '../market/registry-rows.ts'
import { programAddress } from './program-address.ts'

/**
 * Owner of the vaults at each venue. It can be the pool itself, or an address that the program derives from the pool: one
 * for both vaults, or one for each mint. It can also be one address of the program for all pools, or the vault of a program
 * that holds the tokens of all pools of a mint. Recorded trades of the venues agree (`test/signing/vault-owners.test.ts`).
 * No trade of Raydium stable is recorded; its address comes from Raydium's published list of pools, and is not derived from
 * the seed of AMM v4.
 */
const OWNERS: Readonly<
  Record<VenueId, 'pool' | 'of-pool' | 'of-pool-and-mint' | 'shared-vault' | { readonly authority: Pubkey }>
> = {
  'raydium-amm-v4': authority('5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1'),
  'raydium-stable': authority('3uaZBfHPfmpAHW7dsimC1SnyR61X4bJqQZKWmRSCXJxv'),
  'raydium-clmm': 'pool',
  'raydium-cpmm': authority('GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL'),
  'raydium-launchlab': authority('WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh'),
  'meteora-dlmm': 'pool',
  'meteora-damm-v1': 'shared-vault',
  'meteora-damm-v2': authority('HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC'),
  'meteora-dbc': authority('FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM'),
  pumpfun: 'pool',
  pumpswap: 'pool',
  'orca-whirlpool': 'pool',
  moonshot: 'pool',
  lifinity: 'of-pool',
  // Each vault owns itself.
  phoenix: 'of-pool-and-mint'
}

/** Meteora's vault program, and the base of the addresses of its vaults. A mint has one vault. */
const METEORA_VAULTS = pubkeyFromBase58('24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi')
const METEORA_BASE = pubkeyFromBase58('HWzXGcGHy4tcpYfaRDCyLNzXqBTv3E6BttpCH2vJxArv')

function authority(text: string): { readonly authority: Pubkey } {
  return { authority: pubkeyFromBase58(text) }
}

/** Returns the owner of a pool's vault of a mint. */
export function vaultOwner(
  { venue, program, pool }: { venue: VenueId; program: Pubkey; pool: Pubkey },
  mint: Pubkey
): Pubkey {
  switch (OWNERS[venue]) {
    case 'pool':
      return pool
    case 'of-pool':
      return programAddress([pool], program)
    case 'of-pool-and-mint':
      return programAddress(['vault', pool, mint], program)
    default:
      return sharedOwner(venue, mint)!
  }
}

/** Returns the owner of the vaults of a mint that all pools of a venue share; null if each pool has its own. */
function sharedOwner(venue: VenueId, mint: Pubkey): Pubkey | null {
  const owner = OWNERS[venue]
  if (owner === 'shared-vault') return programAddress(['vault', mint, METEORA_BASE], METEORA_VAULTS)
  return typeof owner === 'string' ? null : owner.authority
}

/**
 * Returns the owners of a pool's vaults that only this pool has and that are not the pool itself: the pool cannot be derived
 * from their address.
 */
export function ownVaultOwners(
  pool: Pick<PoolRow, 'venue' | 'program' | 'pool' | 'base' | 'quote'>
): Pubkey[] {
  switch (OWNERS[pool.venue]) {
    case 'of-pool':
      return [vaultOwner(pool, pool.base)]
    case 'of-pool-and-mint':
      return [vaultOwner(pool, pool.base), vaultOwner(pool, pool.quote)]
    default:
      return []
  }
}

/** Owners of vaults, by the key of their addresses. */
export interface VaultOwners {
  readonly pools: Map<string, Pubkey>
  readonly curves: Map<string, Pubkey>
}

/** Returns the owners of vaults of a mint that many pools share. They are known without knowing a pool. */
export function sharedOwners(mint: Pubkey): VaultOwners {
  const found: VaultOwners = { pools: new Map(), curves: new Map() }
  for (const venue of VENUE_IDS) {
    const owner = sharedOwner(venue, mint)
    if (owner !== null) found[isLaunchpad(venue) ? 'curves' : 'pools'].set(pubkeyMapKey(owner), owner)
  }
  return found
}
