import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { Account } from './ports.ts'

/**
 * Accounts at one slot. A requested account that was not read is added to `unread`, and is null until then. The reader
 * runs again once the account has been read.
 */
export class AccountSet {
  readonly #known: ReadonlyMap<string, Account | null>
  readonly #unread = new Map<string, Pubkey>()

  /** `known` has the accounts by `pubkeyMapKey` of their address; null for one that does not exist. */
  constructor(known: ReadonlyMap<string, Account | null>) {
    this.#known = known
  }

  /** Returns an account; null if it does not exist or was not read yet. */
  get(address: Pubkey): Account | null {
    const key = pubkeyMapKey(address)
    const known = this.#known.get(key)
    if (known === undefined) this.#unread.set(key, address)
    return known ?? null
  }

  /** Accounts that were requested and not read yet, in the order of the requests. */
  get unread(): readonly Pubkey[] {
    return [...this.#unread.values()]
  }
}
