import type { SymbolAndName } from './name-text.ts'

/** A token that a text was found in. */
export interface Hit {
  /** Map key of its mint. */
  readonly key: string
  readonly names: SymbolAndName
  /** Place in NAME_MATCHES. */
  readonly match: number
}

export interface Ranked extends Hit {
  readonly microUsd: bigint
}

/**
 * Inserts a hit into a list of at most `limit`: the largest volume first, then the closest match, then the lowest
 * bytes of the address.
 */
export function insertRanked(best: Ranked[], hit: Ranked, limit: number): void {
  if (best.length === limit && !isBefore(hit, best[limit - 1]!)) return
  if (best.length === limit) best.pop()
  let place = best.length
  while (place > 0 && isBefore(hit, best[place - 1]!)) place--
  best.splice(place, 0, hit)
}

function isBefore(a: Ranked, b: Ranked): boolean {
  if (a.microUsd !== b.microUsd) return a.microUsd > b.microUsd
  return a.match !== b.match ? a.match < b.match : a.key < b.key
}
