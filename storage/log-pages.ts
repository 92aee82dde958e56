import { HEAP_ALLOCATOR } from '../src/kernel/memory/arena.ts'
import { splitCursor } from '../src/market/cursor.ts'
import type { LogEntry, Allocator } from '../src/market/log.ts'
import { LOG_ANSWER_BYTES } from './port.ts'
import type { LogPage } from './port.ts'

/** Slots of a channel, both ends included; `limit` of those that have an entry. */
export interface LogSlots {
  readonly first: number
  readonly last: number
  readonly limit: number
  readonly allocator?: Allocator
}

/** Entries that are read at a time: about 2 MB packed of the busiest channel, which bounds the memory of a reader. */
const PARTS_AT_ONCE = 32

/**
 * Returns a page of a channel. `read` returns whole entries by slot, oldest first. It returns fewer than its limit only at
 * the end.
 */
export async function logPage(
  { from = -1, until = Number.MAX_SAFE_INTEGER, limit, allocator = HEAP_ALLOCATOR }: LogPage,
  read: (slots: LogSlots) => Promise<readonly LogEntry[]>
): Promise<LogEntry[]> {
  const found: LogEntry[] = []
  let bytes = 0
  let first = splitCursor(Math.max(from + 1, 0)).slot
  const last = splitCursor(Math.max(until, 0)).slot
  while (found.length < limit && first <= last && bytes < LOG_ANSWER_BYTES) {
    const count = Math.min(limit - found.length, PARTS_AT_ONCE)
    const entries = await read({ first, last, limit: count, allocator })
    for (const entry of entries) {
      const events = entry.events.filter(({ cursor }) => cursor > from && cursor <= until)
      if (events.length === 0) continue
      if (bytes >= LOG_ANSWER_BYTES) return found
      found.push({ ...entry, events })
      for (const { body } of events) bytes += body.length
    }
    if (entries.length < count) break
    first = entries.at(-1)!.slot + 1
  }
  return found
}
