import { byName, isSingle, RECORD_NAMES } from '../../src/market/records.ts'
import type { RecordName } from '../../src/market/records.ts'
import type { AddressedName } from '../codec/records.ts'
import type { OwnStores, RecordStores } from '../port.ts'
import { activityTable } from './activity.ts'
import { archivedTradeTable } from './archived-trades.ts'
import type { ScyllaBase } from './base.ts'
import { candleTable } from './candles.ts'
import { launchTable } from './launches.ts'
import { logTable } from './log.ts'
import type { LogRows } from './log.ts'
import { pairTable } from './pairs.ts'
import { poolEventTable } from './pool-events.ts'
import { poolTable } from './pools.ts'
import { latestTable, singleTable } from './generic-tables.ts'
import { solPriceTable } from './sol-prices.ts'
import type { Table } from './table.ts'
import { tokenTable } from './tokens.ts'
import { tradeTable } from './trades.ts'

/** Queries of the tables alone, without the blocks of the memtable. */
export type TableStores = Omit<RecordStores, 'log'> & { readonly log: LogRows }

export type RecordTables = { readonly [Name in RecordName]: Table<TableStores[Name]> }

/** The tables of every record. */
export function recordTables(base: ScyllaBase): RecordTables {
  const own: Pick<RecordTables, keyof OwnStores> = {
    trades: base.isArchive ? archivedTradeTable(base) : tradeTable(base),
    poolEvents: poolEventTable(base),
    log: logTable(base),
    candles: candleTable(base),
    launches: launchTable(base),
    pairs: pairTable(base),
    solPrices: solPriceTable(base),
    activity: activityTable(base),
    tokens: tokenTable(base),
    pools: poolTable(base)
  }
  return byName<RecordTables>(RECORD_NAMES, (name) => {
    if (name in own) return own[name as keyof OwnStores]
    return isSingle(name) ? singleTable(base, name) : latestTable(base, name as AddressedName)
  })
}

export const tableStores = (tables: RecordTables): TableStores =>
  byName<TableStores>(RECORD_NAMES, (name) => tables[name].port)
