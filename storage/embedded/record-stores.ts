import type { Amendment } from '../../src/market/amendment.ts'
import { byName, isSingle, RECORD_NAMES } from '../../src/market/records.ts'
import type { RecordName } from '../../src/market/records.ts'
import type { AddressedName } from '../codec/records.ts'
import type { BlockCommit, OwnStores, RecordStores } from '../port.ts'
import { activityTable } from './activity.ts'
import { candleTable } from './candles.ts'
import type { Database } from './database.ts'
import { launchTable } from './launches.ts'
import { logTable } from './log.ts'
import { pairTable } from './pairs.ts'
import { poolTable } from './pools.ts'
import { latestTable, singleTable } from './record-table.ts'
import type { RecordTable } from './record-table.ts'
import { poolEventTable, tradeTable } from './row-lists.ts'
import { solPriceTable } from './sol-prices.ts'
import { tokenTable } from './tokens.ts'
import type { View } from './view.ts'
import { archivedTradeTable } from './wallet-references.ts'
import type { WriteBatch } from './write-batch.ts'

export type RecordTables = { readonly [Name in RecordName]: RecordTable<Name> }

/**
 * The tables of every record. `logSeconds` is how long the log is kept; null means for ever. With `isReferred`, wallets'
 * trades are references, as in an archive.
 */
export function recordTables(
  database: Database,
  logSeconds: number | null,
  isReferred = false
): RecordTables {
  const own: { readonly [Name in keyof OwnStores]: RecordTable<Name> } = {
    trades: isReferred ? archivedTradeTable(database) : tradeTable(database),
    poolEvents: poolEventTable(database),
    log: logTable(database, logSeconds),
    candles: candleTable(database),
    launches: launchTable(database),
    pairs: pairTable(database),
    solPrices: solPriceTable(database),
    activity: activityTable(database),
    tokens: tokenTable(database),
    pools: poolTable(database)
  }
  return byName<RecordTables>(RECORD_NAMES, (name) => {
    if (name in own) return own[name as keyof OwnStores]
    return isSingle(name) ? singleTable(database, name) : latestTable(database, name as AddressedName)
  })
}

export const recordStores = (tables: RecordTables): RecordStores =>
  byName<RecordStores>(RECORD_NAMES, (name) => tables[name].port)

/** Stages a block's changes of all records. */
export async function stageRecords(
  tables: RecordTables,
  view: View,
  batch: WriteBatch,
  block: BlockCommit
): Promise<void> {
  // Different records stage side by side, so that their reads overlap.
  await Promise.all(RECORD_NAMES.map(async (name) => tables[name].stage(view, batch, block)))
}

/** Stages the changes of many blocks, merged into those of one (`RecordTable.stageMany`). */
export async function stageManyBlocks(
  tables: RecordTables,
  view: View,
  batch: WriteBatch,
  blocks: BlockCommit
): Promise<void> {
  await Promise.all(
    RECORD_NAMES.map(async (name) => {
      const table = tables[name]
      await (table.stageMany === undefined
        ? table.stage(view, batch, blocks)
        : table.stageMany(view, batch, blocks))
    })
  )
}

/** Stages an amendment's changes of all records. */
export async function amendRecords(
  tables: RecordTables,
  view: View,
  batch: WriteBatch,
  amendment: Amendment
): Promise<void> {
  for (const name of RECORD_NAMES) await tables[name].amend(view, batch, amendment)
}
