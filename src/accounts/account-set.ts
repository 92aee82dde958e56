import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { Account } from './ports.ts'

/**
 * Accounts as of one slot. An account that is asked for and was not read is noted in `wanted`, and null meanwhile: a reader
 * runs again once it has been read.
 */
export class AccountSet {
  readonly #known: ReadonlyMap<string, Account | null>
  readonly #wanted = new Map<string, Pubkey>()

  /** Takes the accounts by `pubkeyMapKey` of their address; null for one that does not exist. */
  constructor(known: ReadonlyMap<string, Account | null>) {
    this.#known = known
  }

  /** Returns an account; null where it does not exist, and where it is wanted. */
  get(address: Pubkey): Account | null {
    const key = pubkeyMapKey(address)
    const known = this.#known.get(key)
    if (known === undefined) this.#wanted.set(key, address)
    return known ?? null
  }

  /** Accounts that were asked for and have not been read, in the order asked. */
  get wanted(): readonly Pubkey[] {
    return [...this.#wanted.values()]
  }
}
