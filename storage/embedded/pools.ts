import { ServiceError } from '../../src/errors.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import type { PoolStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysBeyond, mintPoolKey, mintPoolKeysOf } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import { listedPoolKind } from '../codec/pool.ts'
import { KeyedRows } from './record-table.ts'
import type { RecordTable } from './record-table.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

type PoolPage = Parameters<PoolStore['ofMint']>[1]

const rows = new KeyedRows('pools')

/** Pools by address, and an index from the mints that they are listed under. */
export function poolTable(database: Database): RecordTable<'pools'> {
  return {
    port: {
      get: (pool) => database.read((view) => rows.get(view, pool)),
      ofMint: (mint, page) => database.read((view) => poolsOfMint(view, mint, page))
    },
    stage(_, batch, { slot, pools }) {
      rows.put(batch, pools)
      for (const pool of pools)
        // The block that is the first to name a pool lists it.
        if (splitCursor(pool.firstCursor).slot === slot.slot) stageListing(batch, pool)
    },
    async amend(view, batch, { pools }) {
      const { put, remove } = pools
      const stored = await rows.getMany(view, [...put.map(({ pool }) => pool), ...remove])
      for (const before of stored)
        if (before !== null) for (const key of listingKeys(before)) batch.delete(key)
      rows.amend(batch, pools)
      for (const pool of put) stageListing(batch, pool)
    }
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
  const pools = await rows.getMany(view, listed)
  return pools.map((pool) => {
    if (pool === null) throw new ServiceError('STORAGE_UNAVAILABLE', 'a pool in the index is missing')
    return pool
  })
}

/** Puts the index entries of a pool. */
export function stageListing(batch: WriteBatch, pool: PoolRow): void {
  for (const key of listingKeys(pool)) batch.putUnkept(listedPoolKind, key, pool.pool)
}

function listingKeys({ base, quote, quoteListed, firstCursor }: PoolRow): Key[] {
  return (quoteListed ? [base, quote] : [base]).map((mint) => mintPoolKey(mint, firstCursor))
}
