import type { DecodedTransactions } from '../../chain/decode-block.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { CashList } from '../../market/cash.ts'
import { eventCursor } from '../../market/cursor.ts'
import { foldAlone } from '../../market/market-state.ts'
import type { RowOrigin } from '../../market/rows.ts'
import { poolEventBody } from '../../data/bodies/event.ts'
import { launchBody } from '../../data/bodies/launch.ts'
import { tradeBody } from '../../data/bodies/trade.ts'

/** A record of one block, or of one transaction treated as a block. */
export interface Recorded {
  readonly slot: number | null
  readonly blockTime: number | null
  readonly parentSlot: number | null
  readonly transactions: readonly Transaction[]
  readonly votes: number
}

/**
 * Renders the events of a record as the service would from an empty store, in chain order. Values that the record
 * lacks (slot, time, position) are null. A trade without a cash side is rendered once, under the mint paid in.
 */
export function eventBodies(
  recorded: Recorded,
  entries: DecodedTransactions['entries']
): Record<string, unknown>[] {
  const cash = new CashList()
  const { slot, blockTime } = recorded
  const block = {
    slot: slot ?? 0,
    blockTime: blockTime ?? 0,
    parentSlot: recorded.parentSlot,
    blockhash: null,
    receivedAtMs: (blockTime ?? 0) * 1000,
    commitment: 'finalized' as const,
    transactions: recorded.transactions.length + recorded.votes,
    entries
  }
  const fold = foldAlone(block, { cash, startingSolUsd: null })
  const trades = fold.trades.filter((row) => eventCursor(row) === row.cursor)
  const bodies: { readonly row: RowOrigin; readonly body: Record<string, unknown> }[] = [
    ...trades.map((row) => ({ row, body: tradeBody(row, cash) })),
    ...fold.poolEvents.map((row) => ({ row, body: poolEventBody(row) })),
    ...fold.launches.map((row) => ({ row, body: launchBody(row) }))
  ]
  const unknown = {
    ...(slot === null ? { slot: null, cursor: null } : {}),
    ...(blockTime === null ? { block_time: null, ts: null, ts_ms: null, ingested_at: null } : {}),
    ...(recorded.transactions.every(({ index }) => index === null) ? { tx_index: null } : {})
  }
  return bodies
    .sort((a, b) => a.row.cursor - b.row.cursor)
    .map(({ body }) => ({
      ...body,
      ...Object.fromEntries(Object.entries(unknown).filter(([name]) => name in body))
    }))
}
