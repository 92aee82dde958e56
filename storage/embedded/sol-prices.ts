import type { SolPriceStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysOf, solPriceKey } from './keys.ts'
import { solPriceKind } from './kinds.ts'

export function solPriceStore(database: Database): SolPriceStore {
  return {
    atOrBefore: (minute) =>
      database.read(async (view) => {
        if (minute < 0) return null
        const range = { gte: keysOf('x').gte, lt: solPriceKey(Math.floor(minute) + 1) }
        for await (const [, price] of view.scan(solPriceKind, range, { reverse: true, expected: 1 }))
          return price
        return null
      })
  }
}
