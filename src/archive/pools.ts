import { samePubkey, type Pubkey } from '../chain/pubkey.ts'
import type { PoolRow, TokenRow } from '../market/registry-rows.ts'
import type { PoolStore, Storage } from '../../storage/port.ts'
import type { Archive } from './archive.ts'
import { JOINED } from './joined-rows.ts'
import type { MarketPool, MarketPools } from './market-stores.ts'
import { partsOf } from './row-list.ts'

type PoolQuery = Parameters<PoolStore['ofMint']>[1]

/** Pools of a mint read at once while counting those in both stores. Arbitrary; few mints have as many. */
const POOLS_PER_READ = 500

/**
 * The pools of both stores. A pool in the archive has its first cursor there. So it is listed there, and omitted from live
 * lists.
 */
export function joinedPools(
  { pools: live }: Pick<Storage, 'pools'>,
  { storage, last }: Archive
): MarketPools {
  const { pools: archive } = storage

  /** Lists live pools that the archive does not have. */
  async function added(mint: Pubkey, query: PoolQuery): Promise<MarketPool[]> {
    const found: MarketPool[] = []
    for (let from = query.from; found.length < query.limit;) {
      const limit = query.limit - found.length
      const read = await live.ofMint(mint, { ...query, ...startAt(from), limit })
      const known = await Promise.all(read.map(({ pool }) => archive.get(pool)))
      found.push(...read.filter((_, at) => known[at] === null))
      if (read.length < limit) break
      from = read.at(-1)!.firstCursor
    }
    return found
  }

  async function archived(mint: Pubkey, query: PoolQuery): Promise<MarketPool[]> {
    const rows = await archive.ofMint(mint, query)
    return Promise.all(rows.map(async (row) => joined(row, await live.get(row.pool))))
  }

  return {
    async get(pool) {
      const [earlier, later] = await Promise.all([archive.get(pool), live.get(pool)])
      return earlier === null ? later : joined(earlier, later)
    },
    async ofMint(mint, query) {
      const parts = partsOf(query, last)
      const reads =
        query.order === 'desc'
          ? [parts.live && added, parts.archive && archived]
          : [parts.archive && archived, parts.live && added]
      const rows: MarketPool[] = []
      for (const read of reads) {
        const limit = query.limit - rows.length
        if (read !== false && limit > 0) rows.push(...(await read(mint, { ...query, limit })))
      }
      return rows
    }
  }
}

/** Returns a token of both stores, with its pools counted once. */
export async function joinedToken(
  mint: Pubkey,
  { tokens, pools: live }: Pick<Storage, 'tokens' | 'pools'>,
  { storage }: Archive
): Promise<TokenRow | null> {
  const [earlier, later] = await Promise.all([storage.tokens.get(mint), tokens.get(mint)])
  if (earlier === null || later === null) return earlier ?? later
  const [fewer, others] = earlier.pools < later.pools ? [storage.pools, live] : [live, storage.pools]
  const isShared = Math.min(earlier.pools, later.pools) > 0
  return JOINED.tokens(earlier, later, isShared ? await countKnown(mint, fewer, others) : 0)
}

/** Counts the pools of a mint that both stores have. */
async function countKnown(mint: Pubkey, listing: PoolStore, other: PoolStore): Promise<number> {
  let count = 0
  for (let from: number | undefined; ;) {
    const read = await listing.ofMint(mint, { ...startAt(from), order: 'desc', limit: POOLS_PER_READ })
    const known = await Promise.all(read.map(({ pool }) => other.get(pool)))
    count += known.filter((row) => row !== null).length
    if (read.length < POOLS_PER_READ) return count
    from = read.at(-1)!.firstCursor
  }
}

const startAt = (from: number | undefined): Pick<PoolQuery, 'from'> => (from === undefined ? {} : { from })

function joined(earlier: PoolRow, later: PoolRow | null): MarketPool {
  if (later === null) return { ...earlier, reserves: null, isArchived: true }
  const pool = JOINED.pools(earlier, later)
  return samePubkey(later.base, pool.base) ? pool : { ...pool, isReversedLive: true }
}
