import type { Policy } from './unit.ts'

/** Puts restarts off, so that no period has more of them than its intensity allows. */
export class RestartIntensity {
  readonly #intensity: Policy['intensity']
  /** Times of the last `crashes` restarts, in the order in which they were asked for. */
  readonly #times: number[] = []

  constructor(intensity: Policy['intensity']) {
    this.#intensity = intensity
  }

  /** Counts a restart, and returns its time: `atMs`, or as much later as the intensity asks for. */
  next(atMs: number): number {
    const { crashes, periodMs } = this.#intensity
    const oldest = this.#times.length < crashes ? -Infinity : this.#times.shift()!
    const dueMs = Math.max(atMs, oldest + periodMs)
    this.#times.push(dueMs)
    return dueMs
  }
}
