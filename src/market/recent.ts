import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { ActivityHour } from './activity-rows.ts'
import { bucketStart } from './candles.ts'

/**
 * Values by address, as recently used; `letGo` leaves at most so many, those untouched for longest going first
 * (INVARIANTS 10).
 */
export class Recent<T> {
  readonly #what: string
  readonly #max: number
  /** Maps keep insertion order, so putting an entry back makes it the newest. */
  readonly #values = new Map<string, T>()

  /** `what` names in an error what was read without being there. */
  constructor(what: string, max: number) {
    this.#what = what
    this.#max = max
  }

  get size(): number {
    return this.#values.size
  }

  /** The value as the most recently used one; undefined when it is not held. */
  renew(key: string): T | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) {
      this.#values.delete(key)
      this.#values.set(key, value)
    }
    return value
  }

  get(key: string): T {
    const value = this.#values.get(key)
    if (value === undefined) throw new Error(`${this.#what} was not loaded`)
    return value
  }

  of(address: Pubkey): T {
    return this.get(pubkeyMapKey(address))
  }

  set(key: string, value: T): void {
    this.#values.set(key, value)
  }

  letGo(): void {
    for (const key of this.#values.keys()) {
      if (this.#values.size <= this.#max) return
      this.#values.delete(key)
    }
  }
}

/** An owner's activity in the hour that was loaded or written last. */
export class RunningHour {
  #held: { readonly hour: number; readonly activity: ActivityHour | null } | null = null
  #storedUntil: number

  /** No hour that starts after `storedUntil` is stored; unix seconds. */
  constructor(storedUntil: number) {
    this.#storedUntil = storedUntil
  }

  /** Null when the store has none, undefined when only the store knows. */
  at(hour: number): ActivityHour | null | undefined {
    if (this.#held?.hour === hour) return this.#held.activity
    return hour > bucketStart('1h', this.#storedUntil) ? null : undefined
  }

  hold(hour: number, activity: ActivityHour | null): void {
    this.#held = { hour, activity }
  }

  /** Takes in an hour that a block of a time wrote. */
  wrote(activity: ActivityHour, blockTime: number): void {
    this.hold(activity.hour, activity)
    this.#storedUntil = Math.max(this.#storedUntil, blockTime)
  }
}
