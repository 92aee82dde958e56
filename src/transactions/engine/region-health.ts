/**
 * Milliseconds for which a region is avoided after its first consecutive failure; each further failure doubles them,
 * up to the maximum.
 */
const AVOID_MS = { first: 5_000, max: 60_000 } as const

/**
 * The recent failures of a region of the block engine. After a failure the region is avoided for a time. Then one trial
 * request is sent; other requests avoid the region until the trial has succeeded.
 */
export class RegionHealth {
  #failures = 0
  #avoidUntilMs = -Infinity
  #isOnTrial = false

  /** Whether its last request failed. */
  get isSuspect(): boolean {
    return this.#failures > 0
  }

  /** Returns whether requests go to other regions first. */
  isAvoided(nowMs: number): boolean {
    return nowMs < this.#avoidUntilMs || (this.isSuspect && this.#isOnTrial)
  }

  /** Records the start of a request. */
  noteStart(): void {
    if (this.isSuspect) this.#isOnTrial = true
  }

  noteSuccess(): void {
    this.#failures = 0
    this.#avoidUntilMs = -Infinity
    this.#isOnTrial = false
  }

  noteFailure(nowMs: number): void {
    this.#isOnTrial = false
    // Requests that were in flight together fail together.
    if (nowMs < this.#avoidUntilMs) return
    this.#failures++
    this.#avoidUntilMs = nowMs + Math.min(AVOID_MS.first * 2 ** (this.#failures - 1), AVOID_MS.max)
  }

  /** Records that a request ended without evidence about the region. */
  noteNothing(): void {
    this.#isOnTrial = false
  }
}
