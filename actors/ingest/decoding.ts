import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import {
  decodeTransactions,
  type DecodedTransactions,
  type PlainEvents
} from '../../src/chain/decode-block.ts'
import type { TransferFees } from '../../src/accounts/transfer-fees.ts'
import type { Note } from '../../src/chain/emitter.ts'
import type { KnownVaults } from '../../src/chain/known-vaults.ts'
import { notesOfMovedVaults } from '../../src/chain/moved-vaults.ts'
import type { Block } from '../../src/chain/transaction.ts'
import type { TransferFeeLookup } from '../../src/chain/transfer-fee.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import type { DecodingReport } from '../../src/ingest/decoding-report.ts'
import type { IngestMetrics } from '../../src/ingest/metrics.ts'

/** Transactions decoded before the event loop runs other work: less than a millisecond. */
const PER_TURN = 200

/** Decodes a block in slices, so that requests run in between: a mainnet block takes several milliseconds. */
export async function decodeInTurns(
  transactions: Block['transactions'],
  feeOf: TransferFeeLookup | null = null,
  plain: PlainEvents | null = null
): Promise<DecodedTransactions> {
  const parts: DecodedTransactions[] = []
  for (let first = 0; first < transactions.length; first += PER_TURN) {
    if (first > 0) await yieldToEventLoop()
    parts.push(decodeTransactions(transactions.slice(first, first + PER_TURN), first, feeOf, plain))
  }
  return {
    entries: parts.flatMap(({ entries }) => entries),
    notes: parts.flatMap(({ notes }) => notes),
    openFees: parts.flatMap(({ openFees }) => openFees)
  }
}

/**
 * Adds the vaults of decoded events, then returns notes of all vaults that moved without a call. A vault that a later
 * transaction of the block names is known to the earlier ones.
 */
async function movedVaults(
  transactions: Block['transactions'],
  { entries }: DecodedTransactions,
  vaults: KnownVaults
): Promise<Note[]> {
  for (const { event } of entries) vaults.learn(event)
  const notes: Note[] = []
  for (const [place, transaction] of transactions.entries()) {
    if (place % PER_TURN === PER_TURN - 1) await yieldToEventLoop()
    notes.push(...notesOfMovedVaults(transaction, vaults))
  }
  return notes
}

export interface DecodedSource extends DecodedTransactions {
  readonly block: DecodedBlock
  readonly votes: number
  /** Holds no transaction in memory. */
  readonly plain: PlainEvents
}

/**
 * Decodes a block as a source gives it. With `fees`, transfer fees that it lacks are read first. Events that still lack one
 * are held back and counted. With `vaults`, those that move without a call are noted.
 */
export async function decodeSourced(
  { block, commitment, receivedAtMs }: SourcedBlock,
  fees: Pick<TransferFees, 'at' | 'load'> | null = null,
  vaults: KnownVaults | null = null
): Promise<DecodedSource> {
  const { slot, blockTime, parentSlot, blockhash = null, votes } = block
  const plain: PlainEvents = new WeakMap()
  let decoded = await decodeInTurns(block.transactions, fees?.at(slot), plain)
  const lacking = decoded.openFees.flatMap(({ mints }) => mints)
  if (lacking.length > 0 && (await fees?.load(lacking, slot)) === true)
    decoded = await decodeInTurns(block.transactions, fees!.at(slot))
  const { entries } = decoded
  const moved = vaults === null ? [] : await movedVaults(block.transactions, decoded, vaults)
  const transactions = block.transactions.length + votes
  return {
    ...decoded,
    notes: [...decoded.notes, ...moved],
    block: { slot, blockTime, parentSlot, blockhash, receivedAtMs, commitment, transactions, entries },
    votes,
    plain
  }
}

/** Counts a block that is now stored, and the decoder's findings in it. */
export function countBlock(
  { block, entries, notes, votes }: DecodedSource,
  {
    decoding,
    metrics
  }: { readonly decoding: DecodingReport; readonly metrics: Pick<IngestMetrics, 'blocks' | 'transactions'> }
): void {
  decoding.count(entries, notes)
  metrics.blocks.inc()
  metrics.transactions.inc({ kind: 'vote' }, votes)
  metrics.transactions.inc({ kind: 'other' }, block.transactions - votes)
}
