/** Lists of whole numbers, each in ascending order. */
export type AscendingRuns = readonly Float64Array[]

/** Returns the index of the first element from `from` to `to` that is not below a value. */
export function countBelow(ascending: Float64Array, value: number, from = 0, to = ascending.length): number {
  while (from < to) {
    const middle = (from + to) >>> 1
    if (ascending[middle]! < value) from = middle + 1
    else to = middle
  }
  return from
}

/**
 * Returns the elements at the given ranks (from 1, ascending) in the union of the runs, without merging them. Each
 * step compares a value with the remaining elements of every run, and halves these.
 */
export function ranked(runs: AscendingRuns, ranks: readonly number[]): number[] {
  const search = new RankSearch(runs)
  return ranks.map((rank) => search.next(rank))
}

class RankSearch {
  readonly #runs: AscendingRuns
  /**
   * Bounds of the remaining elements of each run: those before `#from` are below the wanted element, those from `#to`
   * on above it.
   */
  readonly #from: Uint32Array
  readonly #to: Uint32Array

  constructor(runs: AscendingRuns) {
    this.#runs = runs
    this.#from = new Uint32Array(runs.length)
    this.#to = new Uint32Array(runs.length)
  }

  /** Returns the element of a rank, which is not below that of the call before. */
  next(rank: number): number {
    for (let run = 0; run < this.#to.length; run++) this.#to[run] = this.#runs[run]!.length
    for (let step = 0; ; step++) {
      const pivot = step % 2 === 0 ? this.#middleOfLongest() : this.#middleOfValues()
      if (this.#isFound(pivot, rank)) return pivot
    }
  }

  /** Compares a value with the element of a rank, and narrows the bounds of each run. */
  #isFound(pivot: number, rank: number): boolean {
    const below = this.#positions(pivot)
    if (rank <= sum(below)) {
      this.#to.set(below)
      return false
    }
    // All are whole numbers.
    const upTo = this.#positions(pivot + 1)
    const isFound = rank <= sum(upTo)
    // Elements that equal the value may have the next rank, too.
    this.#from.set(isFound ? below : upTo)
    return isFound
  }

  /** Returns, by run, the index of the first remaining element that is not below a value. */
  #positions(value: number): Uint32Array {
    const positions = new Uint32Array(this.#runs.length)
    for (let run = 0; run < positions.length; run++)
      positions[run] = countBelow(this.#runs[run]!, value, this.#from[run], this.#to[run])
    return positions
  }

  /**
   * Returns the middle element of the longest run. An element as pivot separates all equal ones from the others in
   * one step.
   */
  #middleOfLongest(): number {
    let longest = 0
    for (let run = 1; run < this.#to.length; run++)
      if (this.#to[run]! - this.#from[run]! > this.#to[longest]! - this.#from[longest]!) longest = run
    return this.#runs[longest]![(this.#from[longest]! + this.#to[longest]!) >>> 1]!
  }

  /** Returns the middle of the value range, which bounds the number of steps for any runs. */
  #middleOfValues(): number {
    let least = Infinity
    let most = -Infinity
    for (let run = 0; run < this.#to.length; run++) {
      if (this.#from[run] === this.#to[run]) continue
      least = Math.min(least, this.#runs[run]![this.#from[run]!]!)
      most = Math.max(most, this.#runs[run]![this.#to[run]! - 1]!)
    }
    return least + Math.floor((most - least) / 2)
  }
}

function sum(counts: Uint32Array): number {
  let all = 0
  for (let i = 0; i < counts.length; i++) all += counts[i]!
  return all
}
