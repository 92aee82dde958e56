import type { RateUse, WorkCounter } from '../../storage/cluster/coordination.ts'
import { WINDOW_SECONDS } from './rate-seconds.ts'

interface UsedWork {
  window: number
  units: number
}

/**
 * A counter of work in memory, by name and clock minute. Work is known after it is done, so a name can exceed its quota.
 * The excess is a debt, carried over to the next minutes. At most `namesMax` names; a further one evicts the earliest.
 */
export class WorkWindow implements WorkCounter {
  readonly #namesMax: number
  readonly #used = new Map<string, UsedWork>()

  constructor(namesMax: number) {
    this.#namesMax = namesMax
  }

  /** Number of names in memory. */
  get size(): number {
    return this.#used.size
  }

  look(name: string, quota: number, nowMs: number): RateUse {
    return workUse(quota, this.unitsOf(name, quota, nowMs), nowMs)
  }

  charge(name: string, quota: number, units: number, nowMs: number): void {
    this.set(name, this.unitsOf(name, quota, nowMs) + units, nowMs)
  }

  /** Units used in the minute, the debt of earlier minutes included. */
  unitsOf(name: string, quota: number, nowMs: number): number {
    const used = this.#used.get(name)
    if (used === undefined) return 0
    const passed = windowOf(nowMs) - used.window
    // A clock that is set back begins a new window, as it does for calls.
    return passed < 0 ? 0 : Math.max(0, used.units - passed * quota)
  }

  /** Replaces the units that a name has used in the minute. */
  set(name: string, units: number, nowMs: number): void {
    const used = this.#used.get(name)
    if (used !== undefined) {
      used.window = windowOf(nowMs)
      used.units = units
      return
    }
    if (this.#used.size >= this.#namesMax) this.#evictFirst()
    this.#used.set(name, { window: windowOf(nowMs), units })
  }

  #evictFirst(): void {
    for (const name of this.#used.keys()) {
      this.#used.delete(name)
      return
    }
  }
}

/** Returns the number of the minute of a time. */
export const windowOf = (nowMs: number): number => Math.floor(nowMs / 1000 / WINDOW_SECONDS)

/** Returns the state of a quota of work: admitted while something is left, else until the debt is worked off. */
export function workUse(quota: number, units: number, nowMs: number): RateUse {
  const windows = Math.max(1, Math.floor(units / quota))
  const resetAt = (windowOf(nowMs) + windows) * WINDOW_SECONDS
  return {
    allowed: units < quota,
    left: Math.max(0, quota - units),
    resetAt,
    resetIn: Math.ceil(resetAt - nowMs / 1000)
  }
}
