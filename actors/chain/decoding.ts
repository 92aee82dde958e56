import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeTransactions, type DecodedTransactions } from '../../src/chain/decode-block.ts'
import type { Block } from '../../src/chain/transaction.ts'

/** Transactions that are decoded between two turns of other work: less than a millisecond. */
const PER_TURN = 200

/** Decodes a block, and lets requests pass in between: a block of mainnet takes several milliseconds. */
export async function decodeInTurns(transactions: Block['transactions']): Promise<DecodedTransactions> {
  const parts: DecodedTransactions[] = []
  for (let first = 0; first < transactions.length; first += PER_TURN) {
    if (first > 0) await nextTurn()
    parts.push(decodeTransactions(transactions.slice(first, first + PER_TURN), first))
  }
  return {
    entries: parts.flatMap(({ entries }) => entries),
    notes: parts.flatMap(({ notes }) => notes)
  }
}
