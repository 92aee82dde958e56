import type { Amendment } from '../../src/market/amendment.ts'
import { byName, isSingle, RECORD_NAMES } from '../../src/market/records.ts'
import type { RecordName } from '../../src/market/records.ts'
import type { AddressedName } from '../codec/records.ts'
import type { BlockCommit, OwnStores, RecordStores } from '../port.ts'
import { activityPart } from './activity.ts'
import { candlePart } from './candles.ts'
import type { Database } from './database.ts'
import { launchPart } from './launches.ts'
import { logPart } from './log.ts'
import { pairPart } from './pairs.ts'
import { poolPart } from './pools.ts'
import { latestPart, singlePart } from './record-parts.ts'
import type { RecordPart } from './record-parts.ts'
import { poolEventPart, tradePart } from './row-lists.ts'
import { solPricePart } from './sol-prices.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

export type RecordParts = { readonly [Name in RecordName]: RecordPart<Name> }

/** The parts of every record; `logSeconds`: how long the log is kept, null for ever. */
export function recordParts(database: Database, logSeconds: number | null): RecordParts {
  const own: { readonly [Name in keyof OwnStores]: RecordPart<Name> } = {
    trades: tradePart(database),
    poolEvents: poolEventPart(database),
    log: logPart(database, logSeconds),
    candles: candlePart(database),
    launches: launchPart(database),
    pairs: pairPart(database),
    solPrices: solPricePart(database),
    activity: activityPart(database),
    pools: poolPart(database)
  }
  return byName<RecordParts>(RECORD_NAMES, (name) => {
    if (name in own) return own[name as keyof OwnStores]
    return isSingle(name) ? singlePart(database, name) : latestPart(database, name as AddressedName)
  })
}

export const recordStores = (parts: RecordParts): RecordStores =>
  byName<RecordStores>(RECORD_NAMES, (name) => parts[name].port)

/** Stages what a block changes of all records. */
export async function stageRecords(
  parts: RecordParts,
  view: View,
  batch: WriteBatch,
  block: BlockCommit
): Promise<void> {
  // Different records stage side by side, so that their reads overlap.
  await Promise.all(RECORD_NAMES.map(async (name) => parts[name].stage(view, batch, block)))
}

/** Stages what an amendment changes of all records. */
export async function amendRecords(
  parts: RecordParts,
  view: View,
  batch: WriteBatch,
  amendment: Amendment
): Promise<void> {
  for (const name of RECORD_NAMES) await parts[name].amend(view, batch, amendment)
}
