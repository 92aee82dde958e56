import { isZeroPubkey, pubkeyFromBase58, pubkeyMapKey, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import type { Storage } from '../../storage/port.ts'
import type { HolderLists, HolderView } from './holder-lists.ts'

/** Maximum pools that are distinguished from other holders. A token with more pools has no adjusted figures. */
export const POOLS_MAX = 500

/**
 * Burn addresses: the incinerator, whose accounts are emptied each epoch, and the all-zero address. Nobody can move
 * their tokens.
 */
const INCINERATOR = pubkeyFromBase58('1nc1nerator11111111111111111111111111111111')

/** Owners of a token that are not people. */
export interface KnownOwners {
  readonly pools: ReadonlyMap<string, Pubkey>
  readonly curves: ReadonlyMap<string, Pubkey>
  /** Whether all pools are among them. */
  readonly isComplete: boolean
}

export const isBurn = (owner: Pubkey): boolean => isZeroPubkey(owner) || samePubkey(owner, INCINERATOR)
export const BURNS: readonly Pubkey[] = [INCINERATOR, new Uint8Array(32)]

/** Finds the owners of a token's vaults, in the pools and the bonding curve that the index knows. */
export async function knownOwners(
  { pools, curves }: Pick<Storage, 'pools' | 'curves'>,
  lists: HolderLists,
  view: HolderView
): Promise<KnownOwners> {
  const { mint } = view
  const [rows, curve] = await Promise.all([
    pools.ofMint(mint, { order: 'desc', limit: POOLS_MAX + 1 }),
    curves.get(mint)
  ])
  const found = { pools: new Map<string, Pubkey>(), curves: new Map<string, Pubkey>() }
  const isCurve = (pool: Pubkey): boolean => curve !== null && samePubkey(pool, curve.curve)
  const add = (pool: Pubkey, owner: Pubkey): void =>
    void found[isCurve(pool) ? 'curves' : 'pools'].set(pubkeyMapKey(owner), owner)
  if (curve !== null) add(curve.curve, curve.curve)
  const vaults = rows.map(({ base, baseVault, quoteVault }) =>
    samePubkey(base, mint) ? baseVault : quoteVault
  )
  const stated = vaults.filter((vault) => vault !== null)
  const held = await lists.accounts(view, stated)
  const owners = new Map(stated.map((vault, i) => [pubkeyMapKey(vault), held[i]?.owner ?? null]))
  for (const [i, { pool }] of rows.entries()) {
    const vault = vaults[i] ?? null
    const owner = vault === null ? null : (owners.get(pubkeyMapKey(vault)) ?? null)
    // At most venues the pool itself owns its vaults.
    add(pool, pool)
    if (owner !== null) add(pool, owner)
  }
  return { ...found, isComplete: rows.length <= POOLS_MAX }
}
