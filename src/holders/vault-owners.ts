import { pubkeyFromBase58, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { VenueId } from '../chain/venue-id.ts'
import { isLaunchpad } from '../market/curves.ts'
import { programAddress } from '../signing/program-address.ts'

/**
 * Owner of the vaults at each venue: the pool itself, one address of the program for all pools, or the vault of a program
 * that holds the tokens of all pools of a mint. `account`: only the vault's own account tells. Recorded trades of all
 * venues agree (`test/holders/vault-owners.test.ts`).
 */
const OWNERS: Readonly<
  Record<VenueId, 'pool' | 'shared-vault' | 'account' | { readonly authority: Pubkey }>
> = {
  'raydium-amm-v4': authority('5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1'),
  'raydium-stable': 'account',
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
  lifinity: 'account',
  // Each vault owns itself.
  phoenix: 'account'
}

/** Meteora's vault program, and the base of the addresses of its vaults. A mint has one vault. */
const METEORA_VAULTS = pubkeyFromBase58('24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi')
const METEORA_BASE = pubkeyFromBase58('HWzXGcGHy4tcpYfaRDCyLNzXqBTv3E6BttpCH2vJxArv')

function authority(text: string): { readonly authority: Pubkey } {
  return { authority: pubkeyFromBase58(text) }
}

/** Returns the owner of a pool's vault of a mint; null if only the vault's account tells. */
export function vaultOwner({ venue, pool }: { venue: VenueId; pool: Pubkey }, mint: Pubkey): Pubkey | null {
  const owner = OWNERS[venue]
  if (owner === 'pool') return pool
  if (owner === 'shared-vault') return programAddress(['vault', mint, METEORA_BASE], METEORA_VAULTS)
  return owner === 'account' ? null : owner.authority
}

/** Owners of vaults, by the key of their addresses. */
export interface VaultOwners {
  readonly pools: Map<string, Pubkey>
  readonly curves: Map<string, Pubkey>
}

/** Returns the owners of vaults of a mint that many pools share. They are known without any pool. */
export function sharedOwners(mint: Pubkey): VaultOwners {
  const found: VaultOwners = { pools: new Map(), curves: new Map() }
  for (const [venue, owner] of Object.entries(OWNERS) as [VenueId, (typeof OWNERS)[VenueId]][]) {
    const address = owner === 'pool' ? null : vaultOwner({ venue, pool: mint }, mint)
    if (address !== null) found[isLaunchpad(venue) ? 'curves' : 'pools'].set(pubkeyMapKey(address), address)
  }
  return found
}
