import type { TotalsRow } from '../../src/market/activity-rows.ts'
import type { RecordKind } from './record.ts'

/** Sums over all blocks, with the sketch of all traders. */
export const totalsKind: RecordKind<TotalsRow> = {
  name: 'totals',
  write(out, row) {
    out.count(row.trades)
    out.amount(row.volumeMicroUsd)
    out.amount(row.volumeLamports)
    out.count(row.tokens)
    out.count(row.launches)
    out.bytes(row.traders)
    // Rows of earlier versions end here.
    if (row.unpriced !== undefined) out.count(row.unpriced)
  },
  read: (source) => ({
    trades: source.count(),
    volumeMicroUsd: source.amount(),
    volumeLamports: source.amount(),
    tokens: source.count(),
    launches: source.count(),
    traders: source.bytes(),
    ...(!source.atEnd && { unpriced: source.count() })
  }),
  weigh: (row) => 300 + row.traders.length
}
