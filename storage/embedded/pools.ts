import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import type { BlockCommit, PoolStore } from '../port.ts'
import { addressesListedAt, isListedUnder, listingAddresses } from '../pool-listings.ts'
import type { CachedFact } from './cached-fact.ts'
import type { Database } from './database.ts'
import { keysBeyond, mintPoolKey, mintPoolKeysOf } from '../codec/keys.ts'
import { listedPoolKind } from '../codec/pool.ts'
import { KeyedRows } from './record-table.ts'
import type { RecordTable } from './record-table.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

type PoolPage = Parameters<PoolStore['ofMint']>[1]

const rows = new KeyedRows('pools')
/** The one pool of an owner of vaults. */
const ONE: PoolPage = { order: 'desc', limit: 1 }

/** Maximum cached pools of a mint: one more than are valued with a token (`VALUED_POOLS_MAX`). */
const LISTED_MAX = 101

/** All pools of a mint, the newest first, by the first of its keys in the index. Most readers request all. */
const listedPools: CachedFact<readonly Pubkey[]> = { sign: ')', weigh: (pools) => 100 + 150 * pools.length }

/** Pools by address, and an index from the mints that they are listed under. */
export function poolTable(database: Database): RecordTable<'pools'> {
  return {
    port: {
      get: (pool) => database.read((view) => rows.get(view, pool)),
      ofMint: async (mint, page) => {
        const listed = await database.read((view) => poolsListed(view, mint, page))
        return listed.filter((pool) => isListedUnder(pool, mint))
      },
      ofVaultOwner: async (owner) => {
        const [pool = null] = await database.read((view) => poolsListed(view, owner, ONE))
        return pool === null || isListedUnder(pool, owner) ? null : pool
      }
    },
    stage(_, batch, block) {
      rows.put(batch, block.pools)
      stageNewPools(batch, block)
    },
    async amend(view, batch, { pools }) {
      const { put, remove } = pools
      const stored = await rows.getMany(view, [...put.map(({ pool }) => pool), ...remove])
      for (const before of stored)
        if (before !== null) {
          for (const address of listingAddresses(before)) {
            batch.delete(mintPoolKey(address, before.firstCursor))
            forgetListed(batch, address)
          }
        }
      rows.amend(batch, pools)
      for (const pool of put) stageListing(batch, pool)
    }
  }
}

/** Reads pools that are listed under an address. */
async function poolsListed(view: View, mint: Pubkey, page: PoolPage): Promise<PoolRow[]> {
  if (page.limit <= 0) return []
  const known = isUnbound(page) ? view.recall(listedPools, mintPoolKeysOf(mint).gte) : undefined
  const pools = await rows.getMany(view, known?.slice(0, page.limit) ?? (await listedIn(view, mint, page)))
  return pools.map((pool) => {
    if (pool === null) throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'a pool in the index is missing')
    return pool
  })
}

async function listedIn(view: View, mint: Pubkey, page: PoolPage): Promise<Pubkey[]> {
  const listed: Pubkey[] = []
  const keys = mintPoolKeysOf(mint)
  const range = keysBeyond(keys, (cursor) => mintPoolKey(mint, cursor), page)
  const options = { reverse: page.order === 'desc', expected: page.limit }
  for await (const [, pool] of view.scan(listedPoolKind, range, options)) {
    listed.push(pool)
    if (listed.length === page.limit) return listed
  }
  if (isUnbound(page) && listed.length <= LISTED_MAX) view.remember(listedPools, keys.gte, listed)
  return listed
}

/** Tells whether a page has all pools of its mint, the newest first, or as many as its limit. */
const isUnbound = ({ from, order }: PoolPage): boolean => order === 'desc' && from === undefined

/** Puts the index entries of a pool under some addresses. */
export function stageListing(batch: WriteBatch, pool: PoolRow, addresses = listingAddresses(pool)): void {
  for (const address of addresses) {
    batch.putUncached(listedPoolKind, mintPoolKey(address, pool.firstCursor), pool.pool)
    forgetListed(batch, address)
  }
}

/** Lists the pools that a block has named first. */
export function stageNewPools(batch: WriteBatch, { slot, pools }: Pick<BlockCommit, 'slot' | 'pools'>): void {
  for (const pool of pools) stageListing(batch, pool, addressesListedAt(slot.slot, pool))
}

/** Evicts the cached pool list of an address. */
function forgetListed(batch: WriteBatch, address: Pubkey): void {
  batch.remember(listedPools, mintPoolKeysOf(address).gte, undefined)
}
