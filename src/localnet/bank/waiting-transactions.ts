import { SendFailure } from '../chain.ts'
import { signatureKey } from './kept-blocks.ts'
import type { ReadTransaction } from './read-transaction.ts'

/** A queue of accepted transactions that are in no block yet, in order of arrival. */
export class WaitingTransactions {
  readonly #max: number
  readonly #waiting = new Map<string, ReadTransaction>()

  /** Takes the limit at which further transactions are refused. */
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

  /** Removes and returns the oldest transactions, at most `max`. */
  take(max: number): ReadTransaction[] {
    const taken = [...this.#waiting.entries().take(max)]
    for (const [key] of taken) this.#waiting.delete(key)
    return taken.map(([, transaction]) => transaction)
  }
}
