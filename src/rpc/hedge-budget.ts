/** The budget of hedged requests: a share of all requests, saved up to a few. */
export class HedgeBudget {
  readonly #share: number
  readonly #savedMax: number
  #saved: number

  /** `share` of all requests may be hedged. Chosen: 5 % more load on nodes at most, and ten at once after a quiet time. */
  constructor(share = 0.05, savedMax = 10) {
    this.#share = share
    this.#savedMax = savedMax
    this.#saved = savedMax
  }

  /** Adds the share of one request that may be hedged. */
  earn(): void {
    this.#saved = Math.min(this.#savedMax, this.#saved + this.#share)
  }

  /** Takes one hedged request from the budget; false if none is left. */
  take(): boolean {
    if (this.#saved < 1) return false
    this.#saved--
    return true
  }
}
