import type { TokenRow } from '../../src/market/registry-rows.ts'
import { addressKey, keyAfter, keysOf } from '../codec/keys.ts'
import { addressedRecord } from '../codec/records.ts'
import type { Database } from './database.ts'
import { latestTable } from './record-table.ts'
import type { RecordTable } from './record-table.ts'

/** Tokens by mint, listed in the order of the bytes of their mints. */
export function tokenTable(database: Database): RecordTable<'tokens'> {
  const { kind, letter } = addressedRecord('tokens')
  const rows = latestTable(database, 'tokens')
  return {
    ...rows,
    port: {
      get: (mint) => rows.port.get(mint),
      compare: (one, other) => Buffer.compare(one, other),
      list: ({ after, limit }) =>
        database.read(async (view) => {
          const found: TokenRow[] = []
          if (limit <= 0) return found
          const { gte, lt } = keysOf(letter)
          const range = { gte: after === undefined ? gte : keyAfter(addressKey(letter, after)), lt }
          for await (const [, row] of view.scan(kind, range, { expected: limit })) {
            found.push(row)
            if (found.length === limit) break
          }
          return found
        })
    }
  }
}
