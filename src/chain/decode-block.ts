import { decodeTransaction } from './decode.ts'
import type { Note } from './emitter.ts'
import type { ChainEvent } from './events.ts'
import type { Pubkey } from './pubkey.ts'
import type { Block, Transaction } from './transaction.ts'
import type { TransferFeeLookup } from './transfer-fee.ts'

/** The events and notes of some transactions of a block, in chain order. */
export interface DecodedTransactions {
  readonly entries: readonly {
    readonly signature: Uint8Array
    readonly txIndex: number
    readonly feePayer: Pubkey
    readonly event: ChainEvent
  }[]
  readonly notes: readonly Note[]
  /** Transactions that transfer fees would complete, with the mints of these fees. */
  readonly openFees: readonly OpenFees[]
}

export interface OpenFees {
  readonly signature: Uint8Array
  readonly mints: readonly Pubkey[]
}

/** Events of transactions that decode without transfer fees, for readers that must not decode them again. */
export type PlainEvents = WeakMap<Transaction, readonly ChainEvent[]>

/**
 * Decodes consecutive transactions of a block. A transaction without an index gets its place in the list plus
 * `first`. `feeOf` returns the known transfer fees of the block's epoch. Events that need none are added to `plain`.
 */
export function decodeTransactions(
  transactions: Block['transactions'],
  first = 0,
  feeOf: TransferFeeLookup | null = null,
  plain: PlainEvents | null = null
): DecodedTransactions {
  const entries: DecodedTransactions['entries'][number][] = []
  const notes: Note[] = []
  const openFees: OpenFees[] = []
  for (const [place, transaction] of transactions.entries()) {
    const decoded = decodeTransaction(transaction, feeOf)
    notes.push(...decoded.notes)
    if (decoded.usesFees !== true) plain?.set(transaction, decoded.events)
    if (decoded.openFees !== undefined)
      openFees.push({ signature: transaction.signature, mints: decoded.openFees })
    if (decoded.events.length === 0) continue
    const { signature } = transaction
    const txIndex = transaction.index ?? first + place
    const feePayer = transaction.keys.bytes(0)
    for (const event of decoded.events) entries.push({ signature, txIndex, feePayer, event })
  }
  return { entries, notes, openFees }
}
