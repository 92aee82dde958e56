/** The budget of hedged requests: a share of all requests, which accumulates up to a few. */
export class HedgeBudget {
  readonly #share: number
  readonly #savedMax: number
  #saved: number

  /** `share` of all requests may be hedged. At most 5 % more load on nodes, and ten at once after a quiet time. */
  constructor(share = 0.05, savedMax = 10) {
    this.#share = share
    this.#savedMax = savedMax
    this.#saved = savedMax
  }

  /** Adds one request's share. */
  earn(): void {
    this.#saved = Math.min(this.#savedMax, this.#saved + this.#share)
  }

  /** Takes one hedged request from the budget; false if the budget is used up. */
  take(): boolean {
    if (this.#saved < 1) return false
    this.#saved--
    return true
  }
}
