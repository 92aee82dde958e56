/** The events of a channel after a cursor, as the first client received them. Other clients are compared with it. */
export class Ledger {
  readonly from: number
  readonly #cursors: number[] = []
  readonly #sums: number[] = []

  constructor(from: number) {
    this.from = from
  }

  /** Compares the n-th event with the ledger, or appends it if it is new. Returns the fault, or null if both agree. */
  hold(n: number, cursor: number, sum: number): string | null {
    if (n === this.#cursors.length) {
      const last = this.#cursors.at(-1) ?? this.from
      if (cursor <= last) return `event ${cursor} comes after ${last}`
      this.#cursors.push(cursor)
      this.#sums.push(sum)
      return null
    }
    if (cursor !== this.#cursors[n]) return `event ${cursor} comes instead of ${this.#cursors[n]}`
    return sum === this.#sums[n] ? null : `event ${cursor} has other data than other clients received`
  }

  /** Compares the first cursors of two ledgers. Returns the first difference, or null if they are equal. */
  differsFrom(other: Ledger, events: number): string | null {
    for (let n = 0; n < events; n++) {
      const [own, others] = [this.#cursors[n], other.#cursors[n]]
      if (own !== others) return `a replay has ${own} where clients received ${others}`
    }
    return null
  }

  /** Returns the number of events up to and including a cursor. */
  upTo(cursor: number): number {
    let count = this.#cursors.length
    while (count > 0 && this.#cursors[count - 1]! > cursor) count--
    return count
  }
}
