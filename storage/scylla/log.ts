import { cursorAt } from '../../src/market/cursor.ts'
import type { LogChannel, LogEntry } from '../../src/market/log.ts'
import type { LogSlots } from '../log-pages.ts'
import type { ScyllaBase } from './base.ts'
import { RowList } from './row-list.ts'
import { log, logOwner } from './row-lists.ts'
import type { Table } from './table.ts'

/** The tables' log: entries by slot, oldest first; fewer than the limit only at the end. */
export interface LogRows {
  ofSlots(channel: LogChannel, slots: LogSlots): Promise<LogEntry[]>
}

export function logTable(base: ScyllaBase): Table<LogRows> {
  const entries = new RowList(base, log)
  return {
    port: {
      ofSlots(channel, { first, last, limit }) {
        const span = { from: cursorAt(first, 0) - 1, until: cursorAt(last, 0) }
        return entries.read(logOwner(channel), { ...span, order: 'asc', limit })
      }
    },
    async stage(commit) {
      entries.stage(commit, commit.blocks.log, ({ channel }) => logOwner(channel))
    },
    async amend(commit, { log: { put, remove } }) {
      entries.stage(commit, put, ({ channel }) => logOwner(channel))
      const places = remove.map(({ channel, slot }) => ({
        owner: logOwner(channel),
        cursor: cursorAt(slot, 0)
      }))
      entries.removeAt(commit, places)
    }
  }
}
