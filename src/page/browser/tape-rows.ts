import type { Trade } from './answers.ts'

/** Trades that a tape holds; older ones are dropped. */
export const TRADES_MAX = 10_000

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
 * Joins trades with older ones, each once, the newest first: cursors are their identity. `older` is in that order. Nearly always
 * it begins below all of `newer`, and a busy token has ten thousand rows in each frame, so they are merged only otherwise.
 */
export function joined(newer: readonly Trade[], older: readonly Trade[]): readonly Trade[] {
  const added = inOrder(newer)
  const lowest = added.at(-1)?.cursor
  const [highest] = older
  if (lowest === undefined) return older
  if (highest === undefined || lowest > highest.cursor) return [...added, ...older]
  const all: Trade[] = []
  for (let i = 0, j = 0; i < added.length || j < older.length;) {
    const left = added[i]?.cursor ?? -1
    const right = older[j]?.cursor ?? -1
    all.push(left >= right ? added[i]! : older[j]!)
    if (left >= right) i++
    if (right >= left) j++
  }
  return all
}

/**
 * Returns the rows of a full tape: the newest trades. Of those that came live, the oldest have been dropped, so rows that were read
 * before them would stand behind a hole.
 */
export const newestOf = (trades: readonly Trade[]): readonly Trade[] =>
  trades.length <= TRADES_MAX ? trades : trades.slice(0, TRADES_MAX)

function inOrder(trades: readonly Trade[]): readonly Trade[] {
  for (let at = 1; at < trades.length; at++)
    if (trades[at - 1]!.cursor < trades[at]!.cursor) return trades.toSorted((a, b) => b.cursor - a.cursor)
  return trades
}
