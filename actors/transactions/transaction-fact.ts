import type { TransactionEvent } from '../../machines/transaction.machine.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'

/** A fact about a tracked transaction, which a block or a node has shown. */
export interface TransactionFact {
  readonly transaction: TrackedTransaction
  /** The event to apply before the next fact is read; null if nodes are only to be requested at once. */
  readonly event: TransactionEvent | null
}
