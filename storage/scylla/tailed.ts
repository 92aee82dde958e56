import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import { byName, isSingle, RECORD_NAMES } from '../../src/market/records.ts'
import type { ReadName, SingleName } from '../../src/market/records.ts'
import { mergedPairs } from '../codec/pair.ts'
import { turnoverMinutes } from '../codec/turnover.ts'
import { logPage } from '../log-pages.ts'
import type { MintTurnover, OwnStores, RecordStore, RecordStores, SingleStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import type { TableStores } from './record-stores.ts'
import { steadily } from './steadily.ts'
import { ownerText, seriesText } from './tail.ts'
import type { Tail } from './tail.ts'
import { tailedLaunches, tailedLog, tailedPage, tailedPools } from './tailed-lists.ts'

/**
 * The stores of records, of tables that lack the newest blocks: those are in memory, and their rows count before those of
 * the tables. Both are of one moment: should a flush end meanwhile, all is asked again.
 */
export function tailed(base: ScyllaBase, tables: TableStores): RecordStores {
  const ask = async <T>(query: (tail: Tail) => Promise<T>): Promise<T> => {
    base.client.assertOpen()
    return steadily(base, () => query(base.visibility.tail))
  }
  const keyed = <Name extends ReadName>(name: Name): RecordStore<Name> => {
    const table = tables[name] as RecordStore<Name>
    return { get: (address) => ask(async (tail) => tail.row(name, address) ?? table.get(address)) }
  }
  const single = <Name extends SingleName>(name: Name): SingleStore<Name> => ({
    get: () => ask(async (tail) => tail.newest(({ block }) => block[name] ?? undefined) ?? tables[name].get())
  })
  const own: OwnStores = {
    trades: {
      ofMint: (mint, page) =>
        ask((tail) => {
          const text = pubkeyMapKey(mint)
          const rows = tail.all((block) => block.tradesOfMint().get(text))
          return tailedPage(rows, page, (page) => tables.trades.ofMint(mint, page))
        }),
      ofWallet: (wallet, page) =>
        ask((tail) => {
          const text = pubkeyMapKey(wallet)
          const rows = tail.all((block) => block.tradesOfWallet().get(text))
          return tailedPage(rows, page, (page) => tables.trades.ofWallet(wallet, page))
        })
    },
    poolEvents: {
      ofPool: (pool, page) =>
        ask((tail) => {
          const text = pubkeyMapKey(pool)
          const rows = tail.all((block) => block.eventsOfPool().get(text))
          return tailedPage(rows, page, (page) => tables.poolEvents.ofPool(pool, page))
        })
    },
    log: {
      read: (channel, page) =>
        ask((tail) =>
          logPage(page, (slots) =>
            tailedLog(tail, channel, slots, (slots) => tables.log.ofSlots(channel, slots))
          )
        )
    },
    candles: {
      ...keyed('candles'),
      range: (mint, cash, interval, range) =>
        ask(async (tail) => {
          const text = seriesText(mint, cash, interval)
          const later = tail.all((block) => block.candles().get(text)).map(({ candle }) => candle)
          const inRange = later.filter(({ ts }) => ts >= range.from && ts < range.to)
          const candles = await tables.candles.range(mint, cash, interval, range)
          return newestOf([...candles, ...inRange], ({ ts }) => ts, range.limit)
        })
    },
    launches: {
      ...keyed('launches'),
      page: (page) => ask((tail) => tailedLaunches(tail, page, (page) => tables.launches.page(page)))
    },
    pairs: {
      ...keyed('pairs'),
      ofMint: (mint) =>
        ask(async (tail) => {
          const text = pubkeyMapKey(mint)
          return mergedPairs(
            await tables.pairs.ofMint(mint),
            tail.all((block) => block.pairs().get(text))
          )
        })
    },
    solPrices: {
      atOrBefore: (minute) =>
        ask(async (tail) => {
          let newest = await tables.solPrices.atOrBefore(minute)
          for (const price of tail.all(({ block }) => block.solPrices))
            if (price.minute <= minute && (newest === null || price.minute >= newest.minute)) newest = price
          return newest
        })
    },
    activity: {
      ...keyed('activity'),
      range: (of, owner, range) =>
        ask(async (tail) => {
          const text = ownerText(of, owner)
          const later = tail.all((block) => block.activity().get(text))
          const inRange = later.filter(({ hour }) => hour >= range.from && hour < range.to)
          const hours = await tables.activity.range(of, owner, range)
          return newestOf([...hours, ...inRange], ({ hour }) => hour, range.limit)
        }),
      mintsOfHour: (hour, page) =>
        ask(async (tail) => {
          const { after, limit } = page
          const later = turnoverOf(tail, hour).filter(
            ({ mint }) => after === undefined || Buffer.compare(mint, after) > 0
          )
          const stored = await tables.activity.mintsOfHour(hour, page)
          const byMint = new Map([...stored, ...later].map((each) => [pubkeyMapKey(each.mint), each]))
          const inOrder = [...byMint.values()].sort((a, b) => Buffer.compare(a.mint, b.mint))
          return inOrder.slice(0, Math.max(0, limit))
        })
    },
    pools: {
      ...keyed('pools'),
      ofMint: (mint, page) =>
        ask((tail) => tailedPools(tail, mint, page, (page) => tables.pools.ofMint(mint, page)))
    }
  }
  return byName<RecordStores>(RECORD_NAMES, (name) => {
    if (name in own) return own[name as keyof OwnStores]
    return isSingle(name) ? single(name) : keyed(name as ReadName)
  })
}

/** The newest of values by their times, oldest first; of one time the last. */
function newestOf<T>(values: readonly T[], timeOf: (value: T) => number, limit: number): T[] {
  const byTime = new Map(values.map((value) => [timeOf(value), value]))
  const inOrder = [...byTime.values()].sort((a, b) => timeOf(a) - timeOf(b))
  return inOrder.slice(Math.max(0, inOrder.length - Math.max(0, limit)))
}

/** Turnover of the mints of an hour as far as the tail has it, oldest first. */
function turnoverOf(tail: Tail, hour: number): MintTurnover[] {
  const rows = tail.all(({ block }) => block.activity).filter((row) => row.hour === Math.ceil(hour))
  return rows
    .map((row) => ({
      mint: row.owner,
      minutes: turnoverMinutes(row).map(({ minute, trades, volumeMicroUsd }) => ({
        minute,
        trades,
        volumeMicroUsd
      }))
    }))
    .filter(({ minutes }) => minutes.length > 0)
}
