import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { AccountVersion } from '../../storage/port.ts'
import type { TouchedAccount } from './touched-accounts.ts'

/**
 * Maximum touched accounts queued for their slot: a few hundred slots of the busiest program. Audits check the
 * accounts beyond it.
 */
const WAITING_MAX = 20_000

interface TouchedSlot {
  readonly slot: number
  readonly accounts: readonly TouchedAccount[]
}

/** Accounts whose update a node should have sent, because a block has touched them. Ascending by slot. */
export class ExpectedUpdates {
  readonly #slots: TouchedSlot[] = []
  #size = 0

  /** Adds the accounts that a block has touched. At the limit, those of the oldest blocks are dropped. */
  add(slot: number, accounts: readonly TouchedAccount[]): void {
    this.#slots.push({ slot, accounts })
    this.#size += accounts.length
    while (this.#size > WAITING_MAX) this.#shift()
  }

  /** Removes the accounts up to a slot. Returns those without an update at their slot or later. */
  takeMissing(upTo: number, updates: readonly AccountVersion[]): readonly TouchedAccount[] {
    const updated = new Map<string, number>()
    for (const { address, slot } of updates) updated.set(pubkeyMapKey(address), slot)
    const missing = new Map<string, TouchedAccount>()
    while (this.#begins(upTo)) {
      const { slot, accounts } = this.#shift()
      for (const account of accounts) {
        const key = pubkeyMapKey(account.address)
        if ((updated.get(key) ?? -1) < slot && (account.isNew || !missing.has(key))) missing.set(key, account)
      }
    }
    return [...missing.values()]
  }

  /** Removes the accounts up to a slot. */
  forget(upTo: number): void {
    while (this.#begins(upTo)) this.#shift()
  }

  /** Returns whether the oldest block's slot is at or below `upTo`. */
  #begins(upTo: number): boolean {
    return this.#slots.length > 0 && this.#slots[0]!.slot <= upTo
  }

  #shift(): TouchedSlot {
    const oldest = this.#slots.shift()!
    this.#size -= oldest.accounts.length
    return oldest
  }
}

/** Returns the last state of an account in updates, ascending by slot, up to a slot; undefined if it was not updated. */
export function lastOf(
  updates: readonly AccountVersion[],
  address: Pubkey,
  upTo: number
): AccountVersion | undefined {
  const key = pubkeyMapKey(address)
  return updates.findLast((each) => each.slot <= upTo && pubkeyMapKey(each.address) === key)
}
