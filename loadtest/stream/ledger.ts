/** What a channel told after a cursor, as whoever heard it first says; what all others hear is held to it. */
export class Ledger {
  readonly from: number
  readonly #cursors: number[] = []
  readonly #sums: number[] = []

  constructor(from: number) {
    this.from = from
  }

  /** Takes the n-th event, by its cursor and a checksum of its data. Null where it is right, else what is wrong with it. */
  hold(n: number, cursor: number, sum: number): string | null {
    if (n === this.#cursors.length) {
      const last = this.#cursors.at(-1) ?? this.from
      if (cursor <= last) return `${cursor} comes after ${last}`
      this.#cursors.push(cursor)
      this.#sums.push(sum)
      return null
    }
    if (cursor !== this.#cursors[n]) return `${cursor} comes where ${this.#cursors[n]} is next`
    return sum === this.#sums[n] ? null : `the data of ${cursor} is not what others were told`
  }

  /** Whether its first events have the cursors of another's; null where they have, else the first that has not. */
  differsFrom(other: Ledger, events: number): string | null {
    for (let n = 0; n < events; n++) {
      const [own, others] = [this.#cursors[n], other.#cursors[n]]
      if (own !== others) return `a replay has ${own} where ${others} was told`
    }
    return null
  }

  /** How many of its events are not past a cursor. */
  upTo(cursor: number): number {
    let count = this.#cursors.length
    while (count > 0 && this.#cursors[count - 1]! > cursor) count--
    return count
  }
}
