import type { ActivityHour } from './activity-rows.ts'
import { bucketStart } from './buckets.ts'

/** The activity of an owner in the hour last loaded or written. */
export class RunningHour {
  #held: { readonly hour: number; readonly activity: ActivityHour | null } | null = null
  #storedUntil: number

  /** Takes a time in Unix seconds: no hour that starts later is stored. */
  constructor(storedUntil: number) {
    this.#storedUntil = storedUntil
  }

  /** Returns the activity; null if the store has none, undefined if the store must be read. */
  at(hour: number): ActivityHour | null | undefined {
    if (this.#held?.hour === hour) return this.#held.activity
    return hour > bucketStart('1h', this.#storedUntil) ? null : undefined
  }

  hold(hour: number, activity: ActivityHour | null): void {
    this.#held = { hour, activity }
  }

  /** Records an hour that a block of a time wrote. */
  wrote(activity: ActivityHour, blockTime: number): void {
    this.hold(activity.hour, activity)
    this.#storedUntil = Math.max(this.#storedUntil, blockTime)
  }
}
