/**
 * With `drop` the newest block is lost and the next slot follows its parent; with `replace` its slot also gets a second
 * block.
 */
export type ForkKind = 'drop' | 'replace'

/**
 * Faults that tests request, each at the next slot where it can happen. Repeated requests before that slot add up for
 * skips; for forks the last one counts.
 */
export class FaultPlan {
  #skips = 0
  #fork: ForkKind | null = null
  #isStalled = false
  #fired = { skips: 0, forks: 0, stalledSlots: 0 }

  /** How often each fault has happened. */
  get fired(): { readonly skips: number; readonly forks: number; readonly stalledSlots: number } {
    return this.#fired
  }

  /** Skips the next `slots` slots: they have no block. */
  skip(slots: number): void {
    this.#skips += slots
  }

  /** Stops slots until `resume`. */
  stall(): void {
    this.#isStalled = true
  }

  resume(): void {
    this.#isStalled = false
  }

  /** Undoes the newest unconfirmed block; its transactions move to the next blocks if they can still land. */
  fork(kind: ForkKind): void {
    this.#fork = kind
  }

  takeStall(): boolean {
    if (this.#isStalled) this.#fired.stalledSlots++
    return this.#isStalled
  }

  takeSkip(): boolean {
    if (this.#skips === 0) return false
    this.#skips--
    this.#fired.skips++
    return true
  }

  takeFork(): ForkKind | null {
    const fork = this.#fork
    this.#fork = null
    if (fork !== null) this.#fired.forks++
    return fork
  }
}
