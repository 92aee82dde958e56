import { endOf } from '../codec/document-key.ts'
import type { DocumentStore, HistoryKind, HistoryRow, NewHistoryRow } from '../document-store.ts'
import type { DocumentGroups } from './document-group.ts'

/** All rows are of one version, because none changes. */
const VERSION = 'history'
const FIRST = new Uint8Array(0)
/** Rows that are deleted by one change. */
const DELETED_AT_ONCE = 100

/** Histories as documents without a condition: each row is one, and rows that are appended together share a write. */
export function histories(
  documents: Pick<DocumentStore, 'list'>,
  groups: DocumentGroups
): Pick<DocumentStore, 'append' | 'newest' | 'deleteUpTo'> {
  const page = async (kind: string, owner: string, lt: Uint8Array, limit: number) =>
    documents.list({ kind, partition: owner, of: 'keys', gte: FIRST, lt, order: 'desc', limit })
  return {
    async append({ kind }: HistoryKind, rows: readonly NewHistoryRow[]) {
      await groups.change((stage) => {
        for (const { owner, key, value, ttlMs } of rows)
          stage.put(
            {
              address: { kind, partition: owner, key },
              ...{ version: VERSION, born: VERSION, trail: [], entries: [], unique: [] },
              ...{ value, ttlMs, isScratch: false }
            },
            null
          )
      })
    },

    async newest({ kind }: HistoryKind, owner: string, limit: number) {
      const { rows } = await page(kind, owner, endOf(FIRST), limit)
      return rows.map(({ address, value }): HistoryRow => ({ key: address.key, value }))
    },

    async deleteUpTo({ kind }: HistoryKind, owner: string, key: Uint8Array | null) {
      const lt = key === null ? endOf(FIRST) : Buffer.concat([key, Buffer.of(0)])
      for (;;) {
        const { rows, last } = await page(kind, owner, lt, DELETED_AT_ONCE)
        await groups.change((stage) => {
          for (const row of rows) stage.delete(row)
        })
        if (last === null) return
      }
    }
  }
}
