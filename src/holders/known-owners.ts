import { isZeroPubkey, pubkeyFromBase58, pubkeyMapKey, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import type { CashList } from '../market/cash.ts'
import { isLaunchpad } from '../market/curves.ts'
import type { PoolRow } from '../market/registry-rows.ts'
import type { Storage } from '../../storage/port.ts'
import type { HolderLists, HolderView } from './holder-lists.ts'
import { sharedOwners, vaultOwner, type VaultOwners } from '../signing/vault-owners.ts'

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
  /** Whether they include the owners of the vaults of all pools that the index knows. */
  readonly isComplete: boolean
}

export const isBurn = (owner: Pubkey): boolean => isZeroPubkey(owner) || samePubkey(owner, INCINERATOR)
export const BURNS: readonly Pubkey[] = [INCINERATOR, new Uint8Array(32)]

/**
 * Finds the owners of a token's vaults. The venue of a pool determines the owner of its vaults. A vault that a trade named
 * shows its owner as well if the list has it. The pools of a cash mint are not listed, so its owners are never complete.
 */
export async function knownOwners(
  { pools, curves }: Pick<Storage, 'pools' | 'curves'>,
  lists: HolderLists,
  view: HolderView,
  cash: CashList
): Promise<KnownOwners> {
  const { mint } = view
  const [rows, curve] = await Promise.all([
    pools.ofMint(mint, { order: 'desc', limit: POOLS_MAX + 1 }),
    curves.get(mint)
  ])
  const found = sharedOwners(mint)
  if (curve !== null) found.curves.set(pubkeyMapKey(curve.curve), curve.curve)
  const vaults = rows.map(({ base, baseVault, quoteVault }) =>
    samePubkey(base, mint) ? baseVault : quoteVault
  )
  const stated = vaults.filter((vault) => vault !== null)
  const held = await lists.accounts(view, stated)
  const owners = new Map(stated.map((vault, i) => [pubkeyMapKey(vault), held[i]?.owner ?? null]))
  const isComplete = rows.length <= POOLS_MAX && cash.of(mint) === undefined
  for (const [i, row] of rows.entries()) {
    const vault = vaults[i] ?? null
    const byVenue = vaultOwner(row, mint)
    const byAccount = vault === null ? null : (owners.get(pubkeyMapKey(vault)) ?? null)
    for (const owner of [row.pool, byVenue, byAccount]) if (owner !== null) add(found, row, owner)
  }
  return { ...found, isComplete }
}

/**
 * Adds those of the given holders that own vaults of a mint. Finds pools that are not listed under the mint: those of a cash
 * mint, and those of a token with more than `POOLS_MAX`.
 */
export async function withPoolsAmong(
  holders: readonly Pubkey[],
  known: KnownOwners,
  mint: Pubkey,
  pools: Pick<Storage['pools'], 'get' | 'ofVaultOwner'>
): Promise<KnownOwners> {
  if (known.isComplete) return known
  const found = { pools: new Map(known.pools), curves: new Map(known.curves) }
  const unknown = new Map(holders.map((owner) => [pubkeyMapKey(owner), owner]))
  for (const key of [...known.pools.keys(), ...known.curves.keys()]) unknown.delete(key)
  const poolOf = async (owner: Pubkey) => ({
    owner,
    row: (await pools.get(owner)) ?? (await pools.ofVaultOwner(owner))
  })
  for (const { owner, row } of await Promise.all(Array.from(unknown.values(), poolOf)))
    if (row !== null && (samePubkey(row.base, mint) || samePubkey(row.quote, mint))) add(found, row, owner)
  return { ...found, isComplete: false }
}

function add(found: VaultOwners, { venue }: Pick<PoolRow, 'venue'>, owner: Pubkey): void {
  found[isLaunchpad(venue) ? 'curves' : 'pools'].set(pubkeyMapKey(owner), owner)
}
