import type { TotalsRow } from '../../src/market/activity-rows.ts'
import type { TotalsStore } from '../port.ts'
import type { Database } from './database.ts'
import { totalsKey } from '../codec/keys.ts'
import { totalsKind } from '../codec/totals.ts'
import type { WriteBatch } from './write-batch.ts'

export function totalsStore(database: Database): TotalsStore {
  return { get: () => database.read((view) => view.get(totalsKind, totalsKey())) }
}

export function stageTotals(batch: WriteBatch, totals: TotalsRow | null): void {
  if (totals !== null) batch.put(totalsKind, totalsKey(), totals)
}
