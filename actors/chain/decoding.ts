import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { decodeTransactions, type DecodedTransactions } from '../../src/chain/decode-block.ts'
import type { TransferFees } from '../../src/accounts/transfer-fees.ts'
import type { Block } from '../../src/chain/transaction.ts'
import type { TransferFeeLookup } from '../../src/chain/transfer-fee.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import type { DecodingReport } from '../../src/telemetry/decoding-report.ts'
import type { Metrics } from '../../src/telemetry/metrics.ts'

/** Transactions decoded before the event loop runs other work: less than a millisecond. */
const PER_TURN = 200

/** Decodes a block in slices, so that requests run in between: a mainnet block takes several milliseconds. */
export async function decodeInTurns(
  transactions: Block['transactions'],
  feeOf: TransferFeeLookup | null = null
): Promise<DecodedTransactions> {
  const parts: DecodedTransactions[] = []
  for (let first = 0; first < transactions.length; first += PER_TURN) {
    if (first > 0) await yieldToEventLoop()
    parts.push(decodeTransactions(transactions.slice(first, first + PER_TURN), first, feeOf))
  }
  return {
    entries: parts.flatMap(({ entries }) => entries),
    notes: parts.flatMap(({ notes }) => notes),
    openFees: parts.flatMap(({ openFees }) => openFees)
  }
}

export interface DecodedSource extends DecodedTransactions {
  readonly block: DecodedBlock
  readonly votes: number
}

/**
 * Decodes a block as a source gives it. With `fees`, transfer fees that it lacks are read first. Events that still lack one
 * are held back and counted.
 */
export async function decodeSourced(
  { block, commitment, receivedAtMs }: SourcedBlock,
  fees: Pick<TransferFees, 'at' | 'load'> | null = null
): Promise<DecodedSource> {
  const { slot, blockTime, parentSlot, blockhash = null, votes } = block
  let decoded = await decodeInTurns(block.transactions, fees?.at(slot))
  const lacking = decoded.openFees.flatMap(({ mints }) => mints)
  if (lacking.length > 0 && (await fees?.load(lacking, slot)) === true)
    decoded = await decodeInTurns(block.transactions, fees!.at(slot))
  const { entries } = decoded
  const transactions = block.transactions.length + votes
  return {
    ...decoded,
    block: { slot, blockTime, parentSlot, blockhash, receivedAtMs, commitment, transactions, entries },
    votes
  }
}

/** Counts a block that is now stored, and the decoder's findings in it. */
export function countBlock(
  { block, entries, notes, votes }: DecodedSource,
  { decoding, metrics }: { readonly decoding: DecodingReport; readonly metrics: Metrics }
): void {
  decoding.count(entries, notes)
  metrics.blocks.inc()
  metrics.transactions.inc({ kind: 'vote' }, votes)
  metrics.transactions.inc({ kind: 'other' }, block.transactions - votes)
}
