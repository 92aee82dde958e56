import type { BlockStore } from '../../storage/port.ts'
import type { LedgerEnd, LedgerReader } from '../revenue/ledger-reader.ts'

/** Reads the end of the ledger, with the time of its block if the index has it. Rejects with the store's error. */
export async function ledgerEnd(
  reader: LedgerReader,
  blocks: Pick<BlockStore, 'at'>
): Promise<LedgerEnd | null> {
  const end = await reader.end()
  if (end === null || end.blockTime !== null) return end
  const row = await blocks.at(end.slot)
  return { ...end, blockTime: row?.blockTime ?? null }
}
