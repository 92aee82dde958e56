import type { KeptBlock } from '../../src/market/kept-block.ts'
import { keptBlockKind } from '../codec/kept-block.ts'
import { keptBlockKey, keysOf } from '../codec/keys.ts'
import type { History } from '../port.ts'
import { stageAmendment } from './amendment.ts'
import { stageGaps } from './coverage.ts'
import type { Database } from './database.ts'
import type { RecordTables } from './record-stores.ts'

export function historyOf(database: Database, tables: RecordTables): History {
  return {
    after: (slot, limit) =>
      database.read(async (view) => {
        const found: KeptBlock[] = []
        if (limit <= 0) return found
        const range = slot === null ? keysOf('d') : { ...keysOf('d'), gte: keptBlockKey(slot + 1) }
        for await (const [, kept] of view.scan(keptBlockKind, range, { expected: limit })) {
          found.push(kept)
          if (found.length === limit) break
        }
        return found
      }),
    async forget(until) {
      await database.write(async (view, batch) => {
        const old = await view.keys({ ...keysOf('d'), lt: keptBlockKey(until + 1) })
        if (old.length === 0) return null
        for (const key of old) batch.delete(key)
        return { kind: 'control', durable: 'kept.forgotten' }
      })
    },
    async amend(amendment, gaps) {
      await database.write(async (view, batch) => {
        await stageAmendment(tables, view, batch, amendment)
        stageGaps(batch, gaps)
        return { kind: 'amend', head: amendment.head }
      })
    },
    amendments: async () => database.amendments
  }
}
