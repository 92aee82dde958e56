const WINDOW_MS = 1_000

/** The starts of the last requests to a region, to enforce its limit in any second. */
export class RateWindow {
  readonly #perSecond: number
  /** Unix milliseconds, ascending. */
  #starts: number[] = []

  /** `perSecond` is infinite for no limit. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Returns the earliest time at which the next request may start. */
  nextAtMs(nowMs: number): number {
    // After the system time was set back, starts lie in the future.
    this.#starts = this.#starts.filter((each) => each > nowMs - WINDOW_MS && each <= nowMs + WINDOW_MS)
    const blocking = this.#starts.at(-this.#limit)
    return this.#starts.length < this.#limit || blocking === undefined ? nowMs : blocking + WINDOW_MS
  }

  noteStart(nowMs: number): void {
    if (this.#perSecond !== Infinity) this.#starts.push(nowMs)
  }

  /** Forgets the newest start, because its request was not made. */
  takeBack(): void {
    this.#starts.pop()
  }

  /** At least one request, however low the rate. */
  get #limit(): number {
    return Math.max(1, Math.floor(this.#perSecond))
  }
}
