/** `drop`: the newest block is lost and the next slot follows its parent. `replace`: its slot gets another block as well. */
export type ForkKind = 'drop' | 'replace'

/**
 * Faults that tests ask of a chain, each at the next slot that it can happen at. Asked again before that, skips add up and
 * the last fork counts.
 */
export class FaultPlan {
  #skips = 0
  #fork: ForkKind | null = null
  #isStalled = false
  #fired = { skips: 0, forks: 0, stalledSlots: 0 }

  /** How often each has happened. */
  get fired(): { readonly skips: number; readonly forks: number; readonly stalledSlots: number } {
    return this.#fired
  }

  /** The next so many slots have no block. */
  skip(slots: number): void {
    this.#skips += slots
  }

  /** No slot begins until `resume`. */
  stall(): void {
    this.#isStalled = true
  }

  resume(): void {
    this.#isStalled = false
  }

  /** The newest block is given up before it is confirmed; its transactions go to the next ones, where they still can land. */
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
