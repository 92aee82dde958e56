import { ratio } from '../market/amount.ts'

/** The largest holders' shares of a token, in percent of all tokens in accounts; null if no account has tokens. */
export interface Concentration {
  readonly top1: number | null
  readonly top5: number | null
  readonly top10: number | null
  readonly top20: number | null
  readonly top50: number | null
  readonly top100: number | null
  /** Sum of the squares of the shares, from 0 to 1. */
  readonly hhi: number | null
  /** From 0 (all amounts equal) to nearly 1; null if it was not computed. */
  readonly gini: number | null
}

/** A concentration that excludes pools, curves and burn addresses. */
export interface AdjustedConcentration {
  readonly top10: number | null
  readonly top20: number | null
  readonly hhi: number | null
  /** The share of the excluded owners. */
  readonly excluded: number | null
}

export interface OwnerAmounts {
  /** Amounts of the largest owners, descending: at least 100, or all. */
  readonly largest: readonly bigint[]
  readonly held: bigint
  /** Sum of the squares of the owners' amounts. */
  readonly squares: bigint
}

/** Returns an amount as a percentage of a sum; null if the sum is 0. */
export const percentOf = (part: bigint, sum: bigint): number | null =>
  sum === 0n ? null : ratio(part * 100n, sum)

export function concentrationOf(
  { largest, held, squares }: OwnerAmounts,
  gini: number | null
): Concentration {
  const top = (count: number): number | null => percentOf(sumOf(largest.slice(0, count)), held)
  return {
    top1: top(1),
    top5: top(5),
    top10: top(10),
    top20: top(20),
    top50: top(50),
    top100: top(100),
    hhi: hhiOf(squares, held),
    gini
  }
}

/** Owners that the adjusted figures need. */
export const ADJUSTED_TOP = 20

/**
 * `largest` has the amounts of the largest owners that are not excluded: at least ADJUSTED_TOP, or all. `excluded` has the
 * amount of each excluded owner.
 */
export function adjustedConcentration(
  { largest, held, squares }: OwnerAmounts,
  excluded: readonly bigint[]
): AdjustedConcentration {
  const out = sumOf(excluded)
  const rest = held - out
  return {
    top10: percentOf(sumOf(largest.slice(0, 10)), rest),
    top20: percentOf(sumOf(largest.slice(0, ADJUSTED_TOP)), rest),
    hhi: hhiOf(squares - excluded.reduce((sum, amount) => sum + amount * amount, 0n), rest),
    excluded: percentOf(out, held)
  }
}

/** Computes the Gini coefficient of the owners' amounts, which are added in descending order. */
export class GiniSum {
  #count = 0n
  #sum = 0n
  #ranked = 0n

  add(amount: bigint): void {
    this.#count++
    this.#sum += amount
    this.#ranked += this.#count * amount
  }

  /** The coefficient; null if the sum is 0. */
  get coefficient(): number | null {
    if (this.#sum === 0n) return null
    // With x ascending: 2 Σ i x_i / (n Σ x) - (n + 1) / n. Descending, the rank j of x is n + 1 - i.
    const [n, sum] = [this.#count, this.#sum]
    return ratio((n + 1n) * sum - 2n * this.#ranked, n * sum)
  }
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

const hhiOf = (squares: bigint, held: bigint): number | null =>
  held === 0n ? null : ratio(squares, held * held)
