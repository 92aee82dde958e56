import type { CachedFact } from './cached-fact.ts'

/** Pages of one list whose place is known, 16 bytes each. At 4 KB a page they are the places of 16 MB of rows. */
export const PLACES_MAX = 4_096

/**
 * The places of pages of one list, as far as reads have shown them. A later write may move rows to other pages, so that a page
 * lacks a row that belongs to it by its place.
 */
export interface PagePlaces {
  /** First cursor of the open page. */
  readonly open: number
  /** First cursors of closed pages, ascending. */
  readonly starts: readonly number[]
  /** The last cursor that is known to belong to each of these pages. */
  readonly ends: readonly number[]
}

/** Places by the key of the list's open page; null for places that turned out to be outdated. */
export const pagePlaces: CachedFact<PagePlaces | null> = {
  sign: ']',
  weigh: (places) => 200 + 16 * (places?.starts.length ?? 0)
}

/** Returns the first cursor of the page that a cursor belongs to; null if the place of that page is not known. */
export function placeOf({ open, starts, ends }: PagePlaces, cursor: number): number | null {
  if (cursor >= open) return open
  const at = countUpTo(starts, cursor) - 1
  return at >= 0 && cursor <= ends[at]! ? starts[at]! : null
}

/**
 * Adds pages that follow each other: their first cursors, ascending, and the last cursor that is known to belong to the last of
 * them.
 */
export function withPages(places: PagePlaces, starts: readonly number[], end: number): PagePlaces {
  const [first, last] = [starts[0], starts.at(-1)]
  if (first === undefined || last === undefined) return places
  const ends = [...starts.slice(1).map((start) => start - 1), end]
  const from = countUpTo(places.starts, first - 1)
  const to = countUpTo(places.starts, last)
  if (places.starts[to - 1] === last) ends[ends.length - 1] = Math.max(end, places.ends[to - 1]!)
  if (places.starts.length - (to - from) + starts.length > PLACES_MAX)
    return { open: places.open, starts, ends }
  return {
    open: places.open,
    starts: places.starts.toSpliced(from, to - from, ...starts),
    ends: places.ends.toSpliced(from, to - from, ...ends)
  }
}

/** Returns how many numbers of an ascending list are not above a value. */
function countUpTo(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low
}
