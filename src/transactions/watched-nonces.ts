import { encodeBase58 } from '../chain/base58.ts'
import { nonceUseOf } from '../chain/nonce.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { SightedNonce } from './ports.ts'

/** Finds uses of watched nonce accounts in blocks. A block costs nothing while no account is watched. */
export class WatchedNonces {
  /** Numbers of watchers by account. */
  readonly #watched = new Map<string, number>()

  /** Searches for an account (base58) until the returned function is called. */
  watch(account: string): () => void {
    this.#watched.set(account, (this.#watched.get(account) ?? 0) + 1)
    let isWatching = true
    return () => {
      if (isWatching) this.#unwatch(account)
      isWatching = false
    }
  }

  /** Returns the uses of watched accounts, in the order of the transactions. */
  usesIn(transactions: readonly Transaction[]): SightedNonce[] {
    if (this.#watched.size === 0) return []
    return transactions.flatMap((transaction) => {
      const use = nonceUseOf(transaction)
      const account = use && pubkeyToBase58(use.account)
      if (account === null || !this.#watched.has(account)) return []
      return [{ account, value: encodeBase58(use!.value), signature: encodeBase58(transaction.signature) }]
    })
  }

  #unwatch(account: string): void {
    const left = this.#watched.get(account)! - 1
    if (left === 0) this.#watched.delete(account)
    else this.#watched.set(account, left)
  }
}
