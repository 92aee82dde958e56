import { intervalSeconds } from '../../src/market/candles.ts'
import type { Interval } from '../../src/market/rows.ts'
import type { Finding } from './finding.ts'

/** Buckets whose times share a page: 300 candles of a busy pair are five or six values. Chosen. */
export const PAGE_BUCKETS = 64

/** Chosen: six weeks of minutes of a pair that never rests. */
const KNOWN_PAGES_MAX = 1_000

export const pageAt = (interval: Interval, ts: number): number =>
  Math.max(0, Math.floor(ts / (intervalSeconds(interval) * PAGE_BUCKETS)))

/** Which pages of a series there are, so that those in memory are found without a look at the disk. */
export interface KnownPages {
  /** The newest first; all there are from `since` on. */
  readonly pages: readonly number[]
  readonly since: number
}

/** By the key of a series. */
export const knownPages: Finding<KnownPages> = {
  sign: '>',
  weigh: ({ pages }) => 100 + 8 * pages.length
}

/** What is known once there is one more page. */
export function withPage({ pages, since }: KnownPages, page: number): KnownPages {
  if (page < since) return { pages, since }
  const more = [...pages.filter((known) => known > page), page, ...pages.filter((known) => known < page)]
  if (more.length <= KNOWN_PAGES_MAX) return { pages: more, since }
  const kept = more.slice(0, KNOWN_PAGES_MAX)
  return { pages: kept, since: kept.at(-1)! }
}
