import { decodeTransaction } from './decode.ts'
import type { Note } from './emitter.ts'
import type { ChainEvent } from './events.ts'
import type { Pubkey } from './pubkey.ts'
import type { Block } from './transaction.ts'

/** The events and notes of some transactions of a block, in chain order. */
export interface DecodedTransactions {
  readonly entries: readonly {
    readonly signature: Uint8Array
    readonly txIndex: number
    readonly feePayer: Pubkey
    readonly event: ChainEvent
  }[]
  readonly notes: readonly Note[]
}

/**
 * Decodes consecutive transactions of a block. A transaction without an index gets its place in the list plus `first`.
 */
export function decodeTransactions(transactions: Block['transactions'], first = 0): DecodedTransactions {
  const entries: DecodedTransactions['entries'][number][] = []
  const notes: Note[] = []
  for (const [place, transaction] of transactions.entries()) {
    const decoded = decodeTransaction(transaction)
    notes.push(...decoded.notes)
    if (decoded.events.length === 0) continue
    const { signature } = transaction
    const txIndex = transaction.index ?? first + place
    const feePayer = transaction.keys.bytes(0)
    for (const event of decoded.events) entries.push({ signature, txIndex, feePayer, event })
  }
  return { entries, notes }
}
