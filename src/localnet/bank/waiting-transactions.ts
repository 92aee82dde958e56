import { SendFailure } from '../chain.ts'
import type { BundleOutcome } from '../chain.ts'
import { signatureKey } from './retained-blocks.ts'
import type { ReadTransaction } from './read-transaction.ts'

/** Transactions that land in one block, in order and all successful, or not at all. */
export interface WaitingBundle {
  readonly members: readonly ReadTransaction[]
  /** Called each time a block has executed or refused the bundle: again after a fork. */
  readonly onOutcome: (outcome: BundleOutcome) => void
}

/** A sent transaction or bundle, in a form that can be added to a block. */
export type Sent =
  | { readonly kind: 'sent'; readonly transaction: ReadTransaction }
  | { readonly kind: 'bundle'; readonly bundle: WaitingBundle }

/** A queue of accepted transactions and bundles that are in no block yet, in order of arrival. */
export class WaitingTransactions {
  readonly #max: number
  /** Transactions by signature; bundles under keys that no signature has. */
  readonly #waiting = new Map<string, Sent>()
  #size = 0
  #bundles = 0

  /** `max` is the limit at which further transactions are refused. */
  constructor(max: number) {
    this.#max = max
  }

  /** Number of transactions, those of bundles included. */
  get size(): number {
    return this.#size
  }

  /** Tells whether a transaction waits by itself. */
  has(signature: Uint8Array): boolean {
    return this.#waiting.has(signatureKey(signature))
  }

  /** Throws a SendFailure `full` at the limit. */
  add(transaction: ReadTransaction): void {
    this.#put(signatureKey(transaction.signature), { kind: 'sent', transaction })
  }

  /** Throws a SendFailure `full` at the limit. */
  addBundle(bundle: WaitingBundle): void {
    this.#put(`bundle ${this.#bundles++}`, { kind: 'bundle', bundle })
  }

  /** Removes and returns the oldest, at most `max` transactions. A bundle is never split. */
  take(max: number): Sent[] {
    const taken: Sent[] = []
    let left = max
    for (const [key, sent] of this.#waiting) {
      left -= sizeOf(sent)
      if (left < 0) break
      taken.push(sent)
      this.#waiting.delete(key)
      this.#size -= sizeOf(sent)
    }
    return taken
  }

  #put(key: string, sent: Sent): void {
    if (this.#size + sizeOf(sent) > this.#max) throw new SendFailure({ kind: 'full', waitingMax: this.#max })
    this.#waiting.set(key, sent)
    this.#size += sizeOf(sent)
  }
}

const sizeOf = (sent: Sent): number => (sent.kind === 'sent' ? 1 : sent.bundle.members.length)
