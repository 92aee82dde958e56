import type { BlockCommit, SlotRow } from '../../src/market/rows.ts'

/** A block that changes nothing but the head. */
export function emptyCommit(slot: number, blockTime: number): BlockCommit {
  const counts = { transactions: 0, trades: 0, events: 0 }
  const head: SlotRow = { slot, blockTime, parentSlot: slot - 1, blockhash: null, receivedAtMs: 0, ...counts }
  const lists = { trades: [], poolEvents: [], candles: [], launches: [], pairs: [], log: [] }
  const registry = { activity: [], tokens: [], pools: [], curves: [] }
  return { slot: head, ...lists, ...registry, solPrice: null, totals: null }
}
