import type { RateCounter, RateUse } from '../../storage/cluster/coordination.ts'
import { WINDOW_SECONDS } from './rate-seconds.ts'
import { WorkWindow } from './work-window.ts'

/** Names in a work counter for each key: the key's own, and its tenant's. */
export const WORK_NAMES = 2

/**
 * A rate counter in memory. It holds only the names of the current window, at most `namesMax`. A further name evicts the
 * earliest one of this window, whose count restarts. A clock that is set back begins a new window.
 */
export class RateWindow implements RateCounter {
  readonly work: WorkWindow
  readonly #namesMax: number
  #window = -1
  #taken = new Map<string, number>()

  constructor(namesMax: number) {
    this.#namesMax = namesMax
    this.work = new WorkWindow(WORK_NAMES * namesMax)
  }

  /** Number of names in memory. */
  get size(): number {
    return this.#taken.size
  }

  take(name: string, quota: number, nowMs: number, calls = 1): RateUse {
    this.#turnTo(nowMs)
    const taken = this.#taken.get(name)
    const allowed = (taken ?? 0) + calls <= quota
    if (allowed && taken === undefined && this.#taken.size >= this.#namesMax) this.#forgetFirst()
    if (allowed) this.#taken.set(name, (taken ?? 0) + calls)
    return useOf(allowed, quota - (this.#taken.get(name) ?? 0), nowMs)
  }

  look(name: string, quota: number, nowMs: number): RateUse {
    this.#turnTo(nowMs)
    const left = quota - (this.#taken.get(name) ?? 0)
    return useOf(left > 0, left, nowMs)
  }

  #turnTo(nowMs: number): void {
    const window = windowOf(nowMs)
    if (window === this.#window) return
    this.#window = window
    this.#taken = new Map()
  }

  #forgetFirst(): void {
    for (const name of this.#taken.keys()) {
      this.#taken.delete(name)
      return
    }
  }
}

function windowOf(nowMs: number): number {
  return Math.floor(nowMs / 1000 / WINDOW_SECONDS)
}

/** A quota lowered within a window may be below the calls already counted. */
function useOf(allowed: boolean, left: number, nowMs: number): RateUse {
  const resetAt = (windowOf(nowMs) + 1) * WINDOW_SECONDS
  return { allowed, left: Math.max(0, left), resetAt, resetIn: Math.ceil(resetAt - nowMs / 1000) }
}
