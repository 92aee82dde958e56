import { bucketStart } from '../market/buckets.ts'
import { mergeCandles } from '../market/candles.ts'
import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Candle, PairRow, SlotRow } from '../market/rows.ts'
import type { CandleStore, PageRequest, Storage } from '../../storage/port.ts'
import type { Archive } from './archive.ts'
import { JOINED } from './joined-rows.ts'
import { joinedLaunches } from './launches.ts'
import type { MarketStores } from './market-stores.ts'
import { joinedPools } from './pools.ts'
import { joinedPage } from './row-list.ts'
import { joinedRange } from './series.ts'
import { joinedTokens } from './tokens.ts'
import { joinedHours, joinedWindows, liveWindows } from './window-stores.ts'

/**
 * Returns the records of a live store, continued into the archive: as if one store had all blocks. All blocks of the archive
 * come before the live ones. Each store has priced its own rows: the live store was built without the prices of the
 * archive. `joined-rows.ts` has the rules for rows that both stores have.
 */
export function withArchive(live: Storage, archive: Archive): MarketStores {
  const { storage, last } = archive
  type List<Row> = (store: Storage, page: PageRequest) => Promise<Row[]>
  const pageOf = <Row>(page: PageRequest, list: List<Row>): Promise<Row[]> =>
    joinedPage(page, last, {
      live: (part) => list(live, part),
      archive: (part) => list(storage, part)
    })
  const joinedRow = async <Row>(
    read: (store: Storage) => Promise<Row | null>,
    join: (earlier: Row, later: Row) => Row
  ): Promise<Row | null> => {
    const [earlier, later] = await Promise.all([read(storage), read(live)])
    return earlier === null || later === null ? (earlier ?? later) : join(earlier, later)
  }
  const candles = joinedCandles(live.candles, storage.candles, last)
  return {
    trades: {
      ofMint: (mint, page) => pageOf(page, ({ trades }, part) => trades.ofMint(mint, part)),
      ofWallet: (wallet, page) => pageOf(page, ({ trades }, part) => trades.ofWallet(wallet, part))
    },
    poolEvents: {
      ofPool: (pool, page) => pageOf(page, ({ poolEvents }, part) => poolEvents.ofPool(pool, part))
    },
    candles,
    pairs: {
      get: (address) => joinedRow(({ pairs }) => pairs.get(address), JOINED.pairs),
      ofMint: async (mint) => joinPairs(await storage.pairs.ofMint(mint), await live.pairs.ofMint(mint)),
      async ofMints(mints) {
        const [earlier, later] = await Promise.all([storage.pairs.ofMints(mints), live.pairs.ofMints(mints)])
        return earlier.map((pairs, at) => joinPairs(pairs, later[at]!))
      }
    },
    tokens: joinedTokens(live, archive),
    curves: { get: (mint) => joinedRow(({ curves }) => curves.get(mint), JOINED.curves) },
    pools: joinedPools(live, archive),
    launches: joinedLaunches(live, archive),
    poolActivity: { range: (pool, range) => joinedHours(live, archive, 'pool', pool, range) },
    windows: archive.isAdjacent ? joinedWindows(live, archive, candles) : liveWindows(live),
    blocks: {
      async firstSince(time) {
        const archived = time <= last.blockTime ? await storage.blocks.firstSince(time) : null
        return archived ?? live.blocks.firstSince(time)
      }
    },
    archiveEnd: last
  }
}

function joinedCandles(live: CandleStore, archive: CandleStore, last: SlotRow): CandleStore {
  return {
    async get(address) {
      const [earlier, later] = await Promise.all([archive.get(address), live.get(address)])
      if (earlier === null || later === null) return earlier ?? later
      return { ...later, candle: mergeCandles(earlier.candle, later.candle) }
    },
    range: (mint, cash, interval, range) =>
      joinedRange(range, last, {
        startOf: ({ ts }: Candle) => ts,
        bucketOf: (time) => bucketStart(interval, time),
        merge: mergeCandles,
        live: (part) => live.range(mint, cash, interval, part),
        archive: (part) => archive.range(mint, cash, interval, part)
      })
  }
}

/** Joins the pairs of one mint. */
function joinPairs(earlier: readonly PairRow[], later: readonly PairRow[]): PairRow[] {
  const pairs = new Map(earlier.map((pair) => [pubkeyMapKey(pair.cash), pair]))
  for (const pair of later) {
    const known = pairs.get(pubkeyMapKey(pair.cash))
    pairs.set(pubkeyMapKey(pair.cash), known === undefined ? pair : JOINED.pairs(known, pair))
  }
  return [...pairs.values()]
}
