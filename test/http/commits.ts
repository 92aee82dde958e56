import type { SlotRow } from '../../src/market/rows.ts'
import { noRows, type BlockCommit } from '../../src/market/records.ts'

/** A block that changes only the head. */
export function emptyCommit(slot: number, blockTime: number): BlockCommit {
  const counts = { transactions: 0, trades: 0, events: 0 }
  const head: SlotRow = { slot, blockTime, parentSlot: slot - 1, blockhash: null, receivedAtMs: 0, ...counts }
  return { slot: head, ...noRows() }
}
