import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { decodeTransactions, type DecodedTransactions } from '../../src/chain/decode-block.ts'
import type { Block } from '../../src/chain/transaction.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import type { DecodingReport } from '../../src/telemetry/decoding-report.ts'
import type { Metrics } from '../../src/telemetry/metrics.ts'

/** Transactions decoded before the event loop runs other work: less than a millisecond. */
const PER_TURN = 200

/** Decodes a block in slices, so that requests run in between: a mainnet block takes several milliseconds. */
export async function decodeInTurns(transactions: Block['transactions']): Promise<DecodedTransactions> {
  const parts: DecodedTransactions[] = []
  for (let first = 0; first < transactions.length; first += PER_TURN) {
    if (first > 0) await yieldToEventLoop()
    parts.push(decodeTransactions(transactions.slice(first, first + PER_TURN), first))
  }
  return {
    entries: parts.flatMap(({ entries }) => entries),
    notes: parts.flatMap(({ notes }) => notes)
  }
}

export interface DecodedSource extends DecodedTransactions {
  readonly block: DecodedBlock
  readonly votes: number
}

/** Decodes a block as a source gives it. */
export async function decodeSourced({
  block,
  commitment,
  receivedAtMs
}: SourcedBlock): Promise<DecodedSource> {
  const { entries, notes } = await decodeInTurns(block.transactions)
  const { slot, blockTime, parentSlot, blockhash = null, votes } = block
  const transactions = block.transactions.length + votes
  return {
    block: { slot, blockTime, parentSlot, blockhash, receivedAtMs, commitment, transactions, entries },
    entries,
    notes,
    votes
  }
}

/** Counts a block that is stored by now, and what its decoder found. */
export function countBlock(
  { block, entries, notes, votes }: DecodedSource,
  { decoding, metrics }: { readonly decoding: DecodingReport; readonly metrics: Metrics }
): void {
  decoding.count(entries, notes)
  metrics.blocks.inc()
  metrics.transactions.inc({ kind: 'vote' }, votes)
  metrics.transactions.inc({ kind: 'other' }, block.transactions - votes)
}
