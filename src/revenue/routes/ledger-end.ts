import type { BlockStore } from '../../../storage/port.ts'
import type { LedgerEnd, LedgerReader } from '../ledger-reader.ts'

/** Slots before the end that are searched for a block with its time: leaders skip a few slots in a row. */
const NEAR = 64

/**
 * Reads the end of the ledger. If its time is not stored, uses the time of the newest indexed block at or before the end.
 * Rejects with the store's error.
 */
export async function ledgerEnd(
  reader: LedgerReader,
  blocks: Pick<BlockStore, 'between'>
): Promise<LedgerEnd | null> {
  const end = await reader.end()
  if (end === null || end.blockTime !== null) return end
  const before = await blocks.between(Math.max(0, end.slot - NEAR), end.slot)
  return { ...end, blockTime: before.at(-1)?.blockTime ?? null }
}
