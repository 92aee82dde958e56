import { SendFailure } from '../chain.ts'
import { signatureKey } from './kept-blocks.ts'
import type { ReadTransaction } from './read-transaction.ts'

/** Transactions that were taken and are in no block yet, in the order they came. */
export class WaitingTransactions {
  readonly #max: number
  readonly #waiting = new Map<string, ReadTransaction>()

  /** At `max` of them the next one is refused. */
  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#waiting.size
  }

  has(signature: Uint8Array): boolean {
    return this.#waiting.has(signatureKey(signature))
  }

  /** Throws a SendFailure `full` at the limit. */
  add(transaction: ReadTransaction): void {
    if (this.#waiting.size >= this.#max) throw new SendFailure({ kind: 'full', waitingMax: this.#max })
    this.#waiting.set(signatureKey(transaction.signature), transaction)
  }

  /** Takes the oldest ones out. */
  take(max: number): ReadTransaction[] {
    const taken = [...this.#waiting.entries().take(max)]
    for (const [key] of taken) this.#waiting.delete(key)
    return taken.map(([, transaction]) => transaction)
  }
}
