import { byName, isSingle, RECORD_NAMES } from '../../src/market/records.ts'
import type { RecordName } from '../../src/market/records.ts'
import type { AddressedName } from '../codec/records.ts'
import type { OwnStores, RecordStores } from '../port.ts'
import { activityPart } from './activity.ts'
import type { ScyllaBase } from './base.ts'
import { candlePart } from './candles.ts'
import { launchPart } from './launches.ts'
import { logPart } from './log.ts'
import type { LogRows } from './log.ts'
import { pairPart } from './pairs.ts'
import { poolEventPart } from './pool-events.ts'
import { poolPart } from './pools.ts'
import { latestPart, singlePart } from './record-parts.ts'
import { solPricePart } from './sol-prices.ts'
import type { StorePart } from './store-part.ts'
import { tradePart } from './trades.ts'

/** Answers of the tables alone, which have no block of the tail. */
export type TableStores = Omit<RecordStores, 'log'> & { readonly log: LogRows }

export type RecordParts = { readonly [Name in RecordName]: StorePart<TableStores[Name]> }

/** The parts of every record. */
export function recordParts(base: ScyllaBase): RecordParts {
  const own: Pick<RecordParts, keyof OwnStores> = {
    trades: tradePart(base),
    poolEvents: poolEventPart(base),
    log: logPart(base),
    candles: candlePart(base),
    launches: launchPart(base),
    pairs: pairPart(base),
    solPrices: solPricePart(base),
    activity: activityPart(base),
    pools: poolPart(base)
  }
  return byName<RecordParts>(RECORD_NAMES, (name) => {
    if (name in own) return own[name as keyof OwnStores]
    return isSingle(name) ? singlePart(base, name) : latestPart(base, name as AddressedName)
  })
}

export const tableStores = (parts: RecordParts): TableStores =>
  byName<TableStores>(RECORD_NAMES, (name) => parts[name].port)
