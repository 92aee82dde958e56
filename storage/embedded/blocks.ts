import type { SlotRow } from '../../src/market/rows.ts'
import { assertFollows, isStored } from '../block-order.ts'
import type { BlockStore } from '../port.ts'
import { keysOf, slotKey } from '../codec/keys.ts'
import { slotKind } from '../codec/kinds.ts'
import { BlockWriter, stageBlocks } from './block-writer.ts'
import type { Database } from './database.ts'
import type { RecordTables } from './record-stores.ts'
import type { View } from './view.ts'

export function blockStore(database: Database, tables: RecordTables): BlockStore {
  const writer = new BlockWriter(database, tables)
  return {
    // The engine's lock on the directory excludes a second writer.
    claim: () => database.read((view) => view.head),
    confirmClaim: async () => undefined,
    commit: (...block) => writer.commit(...block),
    commitAll: async (groups, after) => {
      await database.write(async (view, batch) => {
        const fresh = groups.flat().filter((block) => !isStored(block, view.head))
        if (fresh.length === 0) return null
        assertFollows(after, view.head)
        return { kind: 'commit', head: await stageBlocks(tables, view, batch, fresh) }
      })
    },
    head: () => database.read((view) => view.head),
    has: (slot) => database.read((view) => view.get(slotKind, slotKey(slot)) !== null),
    at: (slot) => database.read((view) => view.get(slotKind, slotKey(slot))),
    between: (first, last) => database.read((view) => between(view, first, last)),
    firstSince: (blockTime) => database.read((view) => firstSince(view, blockTime))
  }
}

async function between(view: View, first: number, last: number): Promise<SlotRow[]> {
  if (last < first) return []
  const range = { gte: slotKey(first), lt: slotKey(last + 1) }
  const rows: SlotRow[] = []
  for await (const [, row] of view.scan(slotKind, range, { expected: last - first + 1, keep: false }))
    rows.push(row)
  return rows
}

/**
 * The first slot at or after a block time, by binary search over the slots. It takes one disk read a step, and at most as
 * many steps as a slot has bits.
 */
export async function firstSince(
  view: View,
  blockTime: number,
  head: SlotRow | null = view.head
): Promise<number | null> {
  if (head === null || head.blockTime < blockTime) return null
  let found = head.slot
  const oldest = (await view.first(slotKind, keysOf('b')))?.[1] ?? head
  if (oldest.blockTime >= blockTime) return oldest.slot
  let low = oldest.slot
  let end = found
  while (low < end) {
    const middle = Math.floor((low + end) / 2)
    const row = (await view.first(slotKind, { gte: slotKey(middle), lt: slotKey(end) }))?.[1]
    if (row !== undefined && row.blockTime < blockTime) low = row.slot + 1
    else {
      end = middle
      found = row?.slot ?? found
    }
  }
  return found
}
