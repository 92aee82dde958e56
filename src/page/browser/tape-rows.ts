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

/**
 * Joins trades, the newest first, each once: cursors are their identity. Both lists are nearly always in order, and a busy token
 * has ten thousand rows in each frame, so they are merged.
 */
export function joined(newer: readonly Trade[], older: readonly Trade[]): Trade[] {
  const [a, b] = [inOrder(newer), inOrder(older)]
  const all: Trade[] = []
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const left = a[i]?.cursor ?? -1
    const right = b[j]?.cursor ?? -1
    all.push(left >= right ? a[i]! : b[j]!)
    if (left >= right) i++
    if (right >= left) j++
  }
  return all
}

function inOrder(trades: readonly Trade[]): readonly Trade[] {
  for (let at = 1; at < trades.length; at++)
    if (trades[at - 1]!.cursor < trades[at]!.cursor) return trades.toSorted((a, b) => b.cursor - a.cursor)
  return trades
}
