import type { TotalsRow } from '../../src/market/activity-rows.ts'
import type { TotalsStore } from '../port.ts'
import type { Database } from './database.ts'
import { totalsKey } from './keys.ts'
import type { RecordKind } from './record.ts'
import type { WriteBatch } from './write-batch.ts'

const totalsKind: RecordKind<TotalsRow> = {
  name: 'totals',
  write(out, row) {
    out.count(row.trades)
    out.amount(row.volumeMicroUsd)
    out.amount(row.volumeLamports)
    out.count(row.tokens)
    out.count(row.launches)
    out.bytes(row.traders)
  },
  read: (source) => ({
    trades: source.count(),
    volumeMicroUsd: source.amount(),
    volumeLamports: source.amount(),
    tokens: source.count(),
    launches: source.count(),
    traders: source.bytes()
  }),
  weigh: (row) => 300 + row.traders.length
}

export function totalsStore(database: Database): TotalsStore {
  return { get: () => database.read((view) => view.get(totalsKind, totalsKey())) }
}

export function stageTotals(batch: WriteBatch, totals: TotalsRow | null): void {
  if (totals !== null) batch.put(totalsKind, totalsKey(), totals)
}
