import type { SeededRandom } from './venue.ts'

/** Picks from a list by weight, in logarithmic time; weights are read once. */
export class WeightedChoice<T> {
  readonly #items: readonly T[]
  /** Sums of the weights up to each item. */
  readonly #sums: Float64Array

  constructor(items: readonly T[], weightOf: (item: T) => number) {
    this.#items = items
    this.#sums = new Float64Array(items.length)
    let sum = 0
    for (let at = 0; at < items.length; at++) {
      sum += weightOf(items[at]!)
      this.#sums[at] = sum
    }
  }

  /** The sum of all weights. */
  get total(): number {
    return this.#sums.at(-1) ?? 0
  }

  /** Picks an item; null if the list is empty. */
  pick(random: SeededRandom): T | null {
    const wanted = random.next() * this.total
    let low = 0
    let end = this.#sums.length
    while (low < end) {
      const middle = (low + end) >>> 1
      if (this.#sums[middle]! <= wanted) low = middle + 1
      else end = middle
    }
    return this.#items[low] ?? null
  }
}
