import type { CachedFact } from './cached-fact.ts'

/** Maximum known pages of a series: six weeks of minutes of a pair that never rests. */
const KNOWN_PAGES_MAX = 1_000

/** The existing pages of a series, so that cached pages are found without a disk read. */
export interface KnownPages {
  /** The newest first; complete from `since` on. */
  readonly pages: readonly number[]
  readonly since: number
}

/** Known pages by the key of a series. */
export const knownPages: CachedFact<KnownPages> = {
  sign: '>',
  weigh: ({ pages }) => 100 + 8 * pages.length
}

/** Adds one more page to what is known. */
export function withPage({ pages, since }: KnownPages, page: number): KnownPages {
  if (page < since) return { pages, since }
  const more = [...pages.filter((known) => known > page), page, ...pages.filter((known) => known < page)]
  if (more.length <= KNOWN_PAGES_MAX) return { pages: more, since }
  const kept = more.slice(0, KNOWN_PAGES_MAX)
  return { pages: kept, since: kept.at(-1)! }
}
