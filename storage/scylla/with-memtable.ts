import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { currentTenant } from '../../src/kernel/work/current-tenant.ts'
import { byName, isSingle, RECORD_NAMES } from '../../src/market/records.ts'
import type { AddressOf, ReadName, RecordName, SingleName } from '../../src/market/records.ts'
import { mergedPairs } from '../codec/pair.ts'
import { mintVolumeMinutes } from '../codec/hourly-mint-volume.ts'
import { logPage } from '../log-pages.ts'
import { isListedUnder } from '../pool-listings.ts'
import type { HourlyMintVolume, OwnStores, RecordStore, RecordStores, SingleStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import type { TableStores } from './record-stores.ts'
import { readConsistently } from './read-consistently.ts'
import { ownerText, seriesText } from './memtable.ts'
import type { Memtable } from './memtable.ts'
import {
  launchesWithMemtable,
  logWithMemtable,
  pageWithMemtable,
  poolsWithMemtable,
  tokensWithMemtable
} from './memtable-lists.ts'

/**
 * The stores of records over tables that lack the newest blocks. Those blocks are in memory, and their rows take precedence.
 * Both are of one moment: if a flush ends during a query, the query runs again.
 */
export function withMemtable(base: ScyllaBase, tables: TableStores): RecordStores {
  /** Runs a query of some records, at an address if all of its rows are there. */
  const ask = async <T>(
    names: readonly RecordName[],
    address: Pubkey | null,
    query: (memtable: Memtable) => Promise<T>
  ): Promise<T> => {
    base.client.assertOpen()
    // Only queries of tenants count: the process itself reads rarely, and no client waits for it.
    if (currentTenant() !== null) base.visibility.queriedAtMs = base.client.now()
    return readConsistently(base, async () => query(await base.visibility.memtable.decoded(names, address)))
  }
  const keyed = <Name extends ReadName>(name: Name): RecordStore<Name> => {
    const table = tables[name] as RecordStore<Name>
    return {
      get: (address) =>
        ask([name], ownerOf(address), async (memtable) => memtable.row(name, address) ?? table.get(address))
    }
  }
  const single = <Name extends SingleName>(name: Name): SingleStore<Name> => ({
    get: () =>
      ask(
        [name],
        null,
        async (memtable) => memtable.newest(({ block }) => block[name] ?? undefined) ?? tables[name].get()
      )
  })
  const own: OwnStores = {
    trades: {
      ofMint: (mint, page) =>
        ask(['trades'], mint, (memtable) => {
          const text = pubkeyMapKey(mint)
          const rows = memtable.all((block) => block.tradesOfMint().get(text))
          return pageWithMemtable(rows, page, (page) => tables.trades.ofMint(mint, page))
        }),
      ofWallet: (wallet, page) =>
        ask(['trades'], wallet, (memtable) => {
          const text = pubkeyMapKey(wallet)
          const rows = memtable.all((block) => block.tradesOfWallet().get(text))
          return pageWithMemtable(rows, page, (page) => tables.trades.ofWallet(wallet, page))
        })
    },
    poolEvents: {
      ofPool: (pool, page) =>
        ask(['poolEvents'], pool, (memtable) => {
          const text = pubkeyMapKey(pool)
          const rows = memtable.all((block) => block.eventsOfPool().get(text))
          return pageWithMemtable(rows, page, (page) => tables.poolEvents.ofPool(pool, page))
        })
    },
    log: {
      read: (channel, page) =>
        ask(['log'], null, (memtable) =>
          logPage(page, (slots) =>
            logWithMemtable(memtable, channel, slots, (slots) => tables.log.ofSlots(channel, slots))
          )
        )
    },
    candles: {
      ...keyed('candles'),
      range: (mint, cash, interval, range) =>
        ask(['candles'], mint, async (memtable) => {
          const text = seriesText(mint, cash, interval)
          const later = memtable.all((block) => block.candles().get(text)).map(({ candle }) => candle)
          const inRange = later.filter(({ ts }) => ts >= range.from && ts < range.to)
          const candles = await tables.candles.range(mint, cash, interval, range)
          return newestOf([...candles, ...inRange], ({ ts }) => ts, range.limit)
        })
    },
    launches: {
      ...keyed('launches'),
      page: (page) =>
        ask(['launches'], null, (memtable) =>
          launchesWithMemtable(memtable, page, (page) => tables.launches.page(page))
        )
    },
    pairs: {
      ...keyed('pairs'),
      ofMint: (mint) =>
        ask(['pairs'], mint, async (memtable) => {
          const text = pubkeyMapKey(mint)
          return mergedPairs(
            await tables.pairs.ofMint(mint),
            memtable.all((block) => block.pairs().get(text))
          )
        }),
      ofMints: (mints) =>
        ask(['pairs'], null, async (memtable) => {
          const stored = await tables.pairs.ofMints(mints)
          return mints.map((mint, at) => {
            const text = pubkeyMapKey(mint)
            return mergedPairs(
              stored[at]!,
              memtable.all((block) => block.pairs().get(text))
            )
          })
        })
    },
    solPrices: {
      atOrBefore: (minute) =>
        ask(['solPrices'], null, async (memtable) => {
          let newest = await tables.solPrices.atOrBefore(minute)
          for (const price of memtable.all(({ block }) => block.solPrices))
            if (price.minute <= minute && (newest === null || price.minute >= newest.minute)) newest = price
          return newest
        })
    },
    activity: {
      ...keyed('activity'),
      range: (of, owner, range) =>
        ask(['activity'], owner, async (memtable) => {
          const text = ownerText(of, owner)
          const later = memtable.all((block) => block.activity().get(text))
          const inRange = later.filter(({ hour }) => hour >= range.from && hour < range.to)
          const hours = await tables.activity.range(of, owner, range)
          return newestOf([...hours, ...inRange], ({ hour }) => hour, range.limit)
        }),
      mintsOfHour: (hour, page) =>
        ask(['activity'], null, async (memtable) => {
          const { after, limit } = page
          if (limit <= 0) return []
          const later = hourlyMintVolumeOf(memtable, hour).filter(
            ({ mint }) => after === undefined || Buffer.compare(mint, after) > 0
          )
          // Stored mints without trades since are left out, and must not shorten the page.
          const quiet = later.filter(({ minutes }) => minutes.length === 0).length
          const stored = await tables.activity.mintsOfHour(hour, { ...page, limit: limit + quiet })
          const byMint = new Map([...stored, ...later].map((each) => [pubkeyMapKey(each.mint), each]))
          const traded = [...byMint.values()].filter(({ minutes }) => minutes.length > 0)
          return traded.sort((a, b) => Buffer.compare(a.mint, b.mint)).slice(0, limit)
        })
    },
    tokens: {
      ...keyed('tokens'),
      list: (page) =>
        ask(['tokens'], null, (memtable) => {
          const { compare } = tables.tokens
          return tokensWithMemtable(memtable, { ...page, compare }, () => tables.tokens.list(page))
        }),
      compare: tables.tokens.compare
    },
    pools: {
      ...keyed('pools'),
      ofMint: (mint, page) =>
        ask(['pools'], null, async (memtable) => {
          const read = (page: Parameters<typeof tables.pools.ofMint>[1]) => tables.pools.ofMint(mint, page)
          const rows = await poolsWithMemtable(memtable, mint, page, read)
          return rows.filter((row) => isListedUnder(row, mint))
        }),
      ofVaultOwner: (owner) =>
        ask(['pools'], null, async (memtable) => {
          const read = async () => {
            const pool = await tables.pools.ofVaultOwner(owner)
            return pool === null ? [] : [pool]
          }
          const [pool = null] = await poolsWithMemtable(memtable, owner, { order: 'desc', limit: 1 }, read)
          return pool === null || isListedUnder(pool, owner) ? null : pool
        })
    }
  }
  return byName<RecordStores>(RECORD_NAMES, (name) => {
    if (name in own) return own[name as keyof OwnStores]
    return isSingle(name) ? single(name) : keyed(name as ReadName)
  })
}

/** The address that a block changes with a row at an address of a record. */
function ownerOf(address: AddressOf<ReadName>): Pubkey {
  if (address instanceof Uint8Array) return address
  return 'owner' in address ? address.owner : address.mint
}

/** The newest of values by their times, oldest first; for equal times the last one. */
function newestOf<T>(values: readonly T[], timeOf: (value: T) => number, limit: number): T[] {
  const byTime = new Map(values.map((value) => [timeOf(value), value]))
  const inOrder = [...byTime.values()].sort((a, b) => timeOf(a) - timeOf(b))
  return inOrder.slice(Math.max(0, inOrder.length - Math.max(0, limit)))
}

/** The newest volume of each mint of an hour as far as the memtable has it; without minutes if the hour has no trades. */
function hourlyMintVolumeOf(memtable: Memtable, hour: number): HourlyMintVolume[] {
  const rows = memtable
    .all(({ block }) => block.activity)
    .filter((row) => row.of === 'mint' && row.hour === Math.ceil(hour))
  const newest = new Map(rows.map((row) => [pubkeyMapKey(row.owner), row]))
  return [...newest.values()].map((row) => ({
    mint: row.owner,
    minutes: mintVolumeMinutes(row).map(({ minute, trades, volumeMicroUsd }) => ({
      minute,
      trades,
      volumeMicroUsd
    }))
  }))
}
