import { mergedRows } from '../../src/market/records.ts'
import type { RecordRows } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { BlockCommit } from '../port.ts'

/** Changes of some consecutive blocks together, one row an address. */
export interface MergedBlocks extends RecordRows {
  /** One row a block, oldest first; never empty. */
  readonly slots: readonly SlotRow[]
  /** The last of them. */
  readonly newest: SlotRow
}

/** Blocks, oldest first and at least one, as one. */
export function mergedBlocks(blocks: readonly BlockCommit[]): MergedBlocks {
  const slots = blocks.map(({ slot }) => slot)
  return { slots, newest: slots.at(-1)!, ...mergedRows(blocks) }
}
