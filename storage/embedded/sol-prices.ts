import type { SolPriceStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysOf, solPriceKey } from '../codec/keys.ts'
import { solPriceKind } from '../codec/kinds.ts'

export function solPriceStore(database: Database): SolPriceStore {
  return {
    atOrBefore: (minute) =>
      database.read((view) => {
        if (minute < 0) return null
        const known = view.hot(solPriceKind, solPriceKey(Math.floor(minute)))
        if (known !== undefined && known !== null) return known
        const range = { gte: keysOf('x').gte, lt: solPriceKey(Math.floor(minute) + 1) }
        return view.first(solPriceKind, range, true).then((found) => found?.[1] ?? null)
      })
  }
}
