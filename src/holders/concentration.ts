import { ratio } from '../market/amount.ts'

/** How much of a token the largest holders have. Shares are of all tokens in accounts, in percent; null where there are none. */
export interface Concentration {
  readonly top1: number | null
  readonly top5: number | null
  readonly top10: number | null
  readonly top20: number | null
  readonly top50: number | null
  readonly top100: number | null
  /** Sum of the squares of the shares, from 0 to 1. */
  readonly hhi: number | null
  /** From 0, all have the same, to nearly 1; null where it was not computed. */
  readonly gini: number | null
}

/** The same without pools, curves and burn addresses. */
export interface AdjustedConcentration {
  readonly top10: number | null
  readonly top20: number | null
  readonly hhi: number | null
  /** The share of what is left out. */
  readonly excluded: number | null
}

export interface OwnerAmounts {
  /** Amounts of the largest owners, descending: at least 100, or all. */
  readonly largest: readonly bigint[]
  readonly held: bigint
  /** Sum of the squares of what each owner has. */
  readonly squares: bigint
}

/** Returns a part of a sum in percent; null of nothing. */
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

/** `largest` has the largest owners that are not left out: at least 20, or all. `excluded` has what each left out owner has. */
export function adjustedConcentration(
  { largest, held, squares }: OwnerAmounts,
  excluded: readonly bigint[]
): AdjustedConcentration {
  const out = sumOf(excluded)
  const rest = held - out
  return {
    top10: percentOf(sumOf(largest.slice(0, 10)), rest),
    top20: percentOf(sumOf(largest.slice(0, 20)), rest),
    hhi: hhiOf(squares - excluded.reduce((sum, amount) => sum + amount * amount, 0n), rest),
    excluded: percentOf(out, held)
  }
}

/** Computes the Gini coefficient of what owners have, descending. */
export function giniOf(amounts: readonly bigint[]): number | null {
  const count = BigInt(amounts.length)
  const sum = sumOf(amounts)
  if (sum === 0n) return null
  // With x ascending: 2 Σ i x_i / (n Σ x) - (n + 1) / n; the rank from the end is n - i.
  let ranked = 0n
  for (const [i, amount] of amounts.entries()) ranked += (count - BigInt(i)) * amount
  return ratio(2n * ranked - (count + 1n) * sum, count * sum)
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

const hhiOf = (squares: bigint, held: bigint): number | null =>
  held === 0n ? null : ratio(squares, held * held)
