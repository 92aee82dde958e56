import type { Trade } from './answers.ts'

export interface TapeFilter {
  readonly side: 'buy' | 'sell' | null
  readonly minUsd: number | null
  readonly venue: string | null
}

export const NO_FILTER: TapeFilter = { side: null, minUsd: null, venue: null }

/** Returns whether a trade passes a filter, as the service filters its lists. */
export function passes({ event, amount_usd: usd, venue }: Trade, filter: TapeFilter): boolean {
  return (
    (filter.side === null || event === filter.side) &&
    (filter.minUsd === null || (usd !== null && usd >= filter.minUsd)) &&
    (filter.venue === null || venue === filter.venue)
  )
}

/** Joins trades, the newest first, each once: cursors are their identity. */
export function joined(newer: readonly Trade[], older: readonly Trade[]): Trade[] {
  const known = new Set(newer.map(({ cursor }) => cursor))
  const all = [...newer, ...older.filter(({ cursor }) => !known.has(cursor))]
  for (let at = 1; at < all.length; at++)
    if (all[at - 1]!.cursor < all[at]!.cursor) return all.sort((a, b) => b.cursor - a.cursor)
  return all
}
