import { ServiceError } from '../../src/errors.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import type { BlockCommit, PoolStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysBeyond, mintPoolKey, mintPoolKeysOf, poolKey } from './keys.ts'
import { poolKind } from './pool-codec.ts'
import type { RecordKind } from './record.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

type PoolPage = Parameters<PoolStore['ofMint']>[1]

/** The pool that an entry of the index leads to. */
const listedPoolKind: RecordKind<Pubkey> = {
  name: 'pool index entry',
  write: (out, pool) => out.fixed(pool, 32),
  read: (source) => source.fixed(32),
  weigh: () => 100
}

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
    if (splitCursor(pool.firstCursor).slot !== block.slot.slot) continue
    for (const mint of pool.quoteListed ? [pool.base, pool.quote] : [pool.base])
      batch.putUnkept(listedPoolKind, mintPoolKey(mint, pool.firstCursor), pool.pool)
  }
}
