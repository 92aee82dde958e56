import { ServiceError } from '../../src/errors.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import type { BlockCommit, PoolStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysBeyond, mintPoolKey, mintPoolKeysOf, poolKey } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import { listedPoolKind, poolKind } from '../codec/pool.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

type PoolPage = Parameters<PoolStore['ofMint']>[1]

/** Pools by address, and an index from the mints that they are listed under. */
export function poolStore(database: Database): PoolStore {
  return {
    get: (pool) => database.read((view) => view.get(poolKind, poolKey(pool))),
    ofMint: (mint, page) => database.read((view) => poolsOfMint(view, mint, page))
  }
}

async function poolsOfMint(view: View, mint: Pubkey, page: PoolPage): Promise<PoolRow[]> {
  const listed: Pubkey[] = []
  if (page.limit <= 0) return []
  const range = keysBeyond(mintPoolKeysOf(mint), (cursor) => mintPoolKey(mint, cursor), page)
  const options = { reverse: page.order === 'desc', expected: page.limit }
  for await (const [, pool] of view.scan(listedPoolKind, range, options)) {
    listed.push(pool)
    if (listed.length === page.limit) break
  }
  const pools = await view.getMany(poolKind, listed.map(poolKey))
  return pools.map((pool) => {
    if (pool === null) throw new ServiceError('STORAGE_UNAVAILABLE', 'a pool in the index is missing')
    return pool
  })
}

/** Puts pools in place of those with their addresses, and lists those that the block is the first to name. */
export function stagePools(batch: WriteBatch, block: BlockCommit): void {
  for (const pool of block.pools) {
    batch.put(poolKind, poolKey(pool.pool), pool)
    if (splitCursor(pool.firstCursor).slot === block.slot.slot) stageListing(batch, pool)
  }
}

/** Puts pools in place of those with their addresses, takes others out, and lists each where it belongs now. */
export async function amendPools(
  view: View,
  batch: WriteBatch,
  { put, remove }: Amendment['pools']
): Promise<void> {
  const stored = await view.getMany(poolKind, [...put.map(({ pool }) => pool), ...remove].map(poolKey))
  for (const before of stored) if (before !== null) for (const key of listingKeys(before)) batch.delete(key)
  for (const pool of remove) batch.delete(poolKey(pool))
  for (const pool of put) {
    batch.put(poolKind, poolKey(pool.pool), pool)
    stageListing(batch, pool)
  }
}

/** Puts the index entries of a pool. */
export function stageListing(batch: WriteBatch, pool: PoolRow): void {
  for (const key of listingKeys(pool)) batch.putUnkept(listedPoolKind, key, pool.pool)
}

function listingKeys({ base, quote, quoteListed, firstCursor }: PoolRow): Key[] {
  return (quoteListed ? [base, quote] : [base]).map((mint) => mintPoolKey(mint, firstCursor))
}
