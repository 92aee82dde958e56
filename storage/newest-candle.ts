import type { Candle } from '../src/market/rows.ts'

/** Candles of a series by their time, by the number of their page. */
export type CandlePages = Map<number, Map<number, Candle>>

/** Reads of a series as it is stored. */
export interface StoredCandlePages {
  /** Returns the number of the last stored page before another one; null for the first page. */
  before(page: number): Promise<number | null>
  /** Adds a stored page to the pages that are searched. */
  load(page: number): Promise<void> | void
}

/**
 * Returns the newest candle of a series, some of whose pages an amendment has changed; undefined if none is left. If the changed
 * pages have none, it is in an earlier page. Rejects with the store's error.
 */
export async function newestCandle(
  changed: CandlePages,
  stored: StoredCandlePages
): Promise<Candle | undefined> {
  for (let last = Math.max(...changed.keys()); ;) {
    const [newest] = [...(changed.get(last)?.values() ?? [])].sort((a, b) => b.ts - a.ts)
    if (newest !== undefined) return newest
    const earlier = [...changed.keys()].filter((page) => page < last)
    last = Math.max(-1, (await stored.before(last)) ?? -1, ...earlier)
    if (last < 0) return undefined
    if (!changed.has(last)) await stored.load(last)
  }
}
