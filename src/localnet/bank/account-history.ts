import { pubkeyMapKey } from '../../chain/pubkey.ts'
import type { LocalAccount } from '../chain.ts'
import type { AccountChange } from './runtime.ts'

type States = ReadonlyMap<string, LocalAccount | null>

/**
 * The states of accounts before each block that is not finalized, for reads at an earlier block. A state is null if the
 * account did not exist.
 */
export class AccountHistory {
  /** By slot, ascending. */
  readonly #before = new Map<number, States>()

  add(slot: number, changes: readonly AccountChange[]): void {
    this.#before.set(slot, new Map(changes.map(({ address, before }) => [pubkeyMapKey(address), before])))
  }

  /** Removes the newest block, which a fork has undone. */
  remove(slot: number): void {
    this.#before.delete(slot)
  }

  /** Drops states that no read needs once the blocks up to a slot are finalized. */
  finalized(slot: number): void {
    for (const known of this.#before.keys()) if (known <= slot) this.#before.delete(known)
  }

  /** Returns an account at a slot; undefined if no later block has changed it. */
  at(address: Uint8Array, slot: number): LocalAccount | null | undefined {
    const key = pubkeyMapKey(address)
    for (const [changed, before] of this.#before) {
      const state = changed > slot ? before.get(key) : undefined
      if (state !== undefined) return state
    }
    return undefined
  }

  /** Returns the accounts that blocks after a slot have changed, in their state at that slot. */
  changedAfter(slot: number): States {
    const states = new Map<string, LocalAccount | null>()
    for (const [changed, before] of this.#before)
      if (changed > slot) for (const [key, state] of before) if (!states.has(key)) states.set(key, state)
    return states
  }
}
