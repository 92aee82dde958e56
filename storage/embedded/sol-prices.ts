import type { Database } from './database.ts'
import { keysOf, solPriceKey } from '../codec/keys.ts'
import { solPriceKind } from '../codec/kinds.ts'
import type { SolPriceRow } from '../../src/market/rows.ts'
import { KeyedRows } from './record-table.ts'
import type { RecordTable } from './record-table.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { View } from './view.ts'

export function solPriceTable(database: Database): RecordTable<'solPrices'> {
  const rows = new KeyedRows('solPrices')
  return {
    port: {
      atOrBefore: (minute) => database.read((view) => (minute < 0 ? null : priceAt(view, Math.floor(minute))))
    },
    stage: (_, batch, { solPrices }) => rows.put(batch, solPrices),
    amend: (_, batch, { solPrices }) => rows.amend(batch, solPrices)
  }
}

/** The newest price at or before a minute. */
function priceAt(view: View, minute: number): MaybePromise<SolPriceRow | null> {
  const known = view.hot(solPriceKind, solPriceKey(minute))
  if (known !== undefined && known !== null) return known
  const range = { gte: keysOf('x').gte, lt: solPriceKey(minute + 1) }
  return view.first(solPriceKind, range, true).then((found) => found?.[1] ?? null)
}
