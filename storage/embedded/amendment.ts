import type { Amendment } from '../../src/market/amendment.ts'
import { keptBlockKind } from '../codec/kept-block.ts'
import { keptBlockKey, slotKey } from '../codec/keys.ts'
import { slotKind } from '../codec/kinds.ts'
import { amendRecords } from './record-stores.ts'
import type { RecordTables } from './record-stores.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** Puts the records that an amendment adds, and deletes those that it ends. */
export async function stageAmendment(
  tables: RecordTables,
  view: View,
  batch: WriteBatch,
  amendment: Amendment
): Promise<void> {
  const { slots, kept } = amendment
  for (const slot of slots.remove) batch.delete(slotKey(slot))
  for (const slot of slots.put) batch.putUncached(slotKind, slotKey(slot.slot), slot)
  for (const slot of kept.remove) batch.delete(keptBlockKey(slot))
  for (const block of kept.put) batch.putUncached(keptBlockKind, keptBlockKey(block.block.slot), block)
  await amendRecords(tables, view, batch, amendment)
}
