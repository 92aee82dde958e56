import type { PoolEventStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { RowList } from './row-list.ts'
import { eventsByPool } from './row-lists.ts'
import type { Table } from './table.ts'

export function poolEventTable(base: ScyllaBase): Table<PoolEventStore> {
  const events = new RowList(base, eventsByPool)
  return {
    port: { ofPool: (pool, page) => events.read(pool, page) },
    async stage(commit) {
      events.stage(commit, commit.blocks.poolEvents, (row) => row.pool)
    },
    async amend(commit, { poolEvents }) {
      events.amend(commit, poolEvents, (row) => row.pool)
    }
  }
}
