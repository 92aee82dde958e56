import { pubkeyFromBase58, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { factsOfVenue, VENUE_IDS, type VenueId } from '../chain/venue-id.ts'
import { isLaunchpad } from '../market/curves.ts'
import type { PoolRow } from '../market/registry-rows.ts'
import { programAddress } from './program-address.ts'

/** Meteora's vault program, and the base of the addresses of its vaults. A mint has one vault. */
const METEORA_VAULTS = pubkeyFromBase58('24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi')
const METEORA_BASE = pubkeyFromBase58('HWzXGcGHy4tcpYfaRDCyLNzXqBTv3E6BttpCH2vJxArv')

/** Addresses of programs that own the vaults of all their pools. */
const AUTHORITIES = new Map(
  VENUE_IDS.flatMap((venue) => {
    const { vaults } = factsOfVenue(venue)
    return typeof vaults === 'string' ? [] : [[venue, pubkeyFromBase58(vaults.authority)] as const]
  })
)

/** Returns the owner of a pool's vault of a mint. */
export function vaultOwner(
  { venue, program, pool }: { venue: VenueId; program: Pubkey; pool: Pubkey },
  mint: Pubkey
): Pubkey {
  switch (factsOfVenue(venue).vaults) {
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
  if (factsOfVenue(venue).vaults === 'shared-vault')
    return programAddress(['vault', mint, METEORA_BASE], METEORA_VAULTS)
  return AUTHORITIES.get(venue) ?? null
}

/**
 * Returns the owners of a pool's vaults that only this pool has and that are not the pool itself: the pool cannot be derived
 * from their address.
 */
export function ownVaultOwners(
  pool: Pick<PoolRow, 'venue' | 'program' | 'pool' | 'base' | 'quote'>
): Pubkey[] {
  switch (factsOfVenue(pool.venue).vaults) {
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
