/** Share of all requests that may be hedged: at most 5 % more load on nodes. */
const SHARE = 0.05
/** Hedged requests at once after a quiet time. */
const SAVED_MAX = 10

/** The budget of hedged requests: a share of all requests, which accumulates up to a few. */
export class HedgeBudget {
  #saved = SAVED_MAX

  /** Adds one request's share. */
  earn(): void {
    this.#saved = Math.min(SAVED_MAX, this.#saved + SHARE)
  }

  /** Takes one hedged request from the budget; false if the budget is used up. */
  take(): boolean {
    if (this.#saved < 1) return false
    this.#saved--
    return true
  }
}
