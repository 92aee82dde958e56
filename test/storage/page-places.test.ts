import fc from 'fast-check'
import t from 'tap'
import { PLACES_MAX, placeOf, withPages, type PagePlaces } from '../../storage/embedded/page-places.ts'
import { randomRuns } from '../random-runs.ts'

/** Returns the place of a cursor in a list whose pages are all known. */
function pageOf(starts: readonly number[], open: number, cursor: number): number | null {
  return cursor >= open ? open : (starts.findLast((start) => start <= cursor) ?? null)
}

t.test('places that searches have shown are those of the whole list, or not known', (t) => {
  let known = 0
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { minLength: 2, maxLength: 60 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 420 }), fc.integer({ min: 1, max: 8 })), { maxLength: 30 }),
      (firsts, searches) => {
        const ascending = firsts.sort((a, b) => a - b)
        const open = ascending.at(-1)!
        const starts = ascending.slice(0, -1)
        let places: PagePlaces = { open, starts: [], ends: [] }
        for (const [cursor, limit] of searches) {
          const before = starts.filter((start) => start <= cursor).slice(-limit)
          places = withPages(places, before, Math.min(cursor, open - 1))
          if (before.length > 0 && cursor < open && placeOf(places, cursor) !== before.at(-1)) return false
          for (let at = 0; at < 420; at++) {
            const place = placeOf(places, at)
            if (place === null) continue
            known++
            if (place !== pageOf(starts, open, at)) return false
          }
        }
        return places.starts.length === places.ends.length
      }
    ),
    randomRuns(100)
  )
  t.ok(known > 1_000, `${known} places are known`)
  t.end()
})

t.test('a list with more pages than the limit has the places of the last search', (t) => {
  let places: PagePlaces = { open: 10 ** 9, starts: [], ends: [] }
  for (let first = 0; places.starts.length + 16 <= PLACES_MAX; first += 1_000)
    places = withPages(
      places,
      Array.from({ length: 16 }, (_, at) => first + at),
      first + 20
    )
  t.equal(placeOf(places, 7), 7)
  places = withPages(places, [5 * 10 ** 8, 5 * 10 ** 8 + 3], 5 * 10 ** 8 + 9)
  t.strictSame(places.starts, [5 * 10 ** 8, 5 * 10 ** 8 + 3])
  t.equal(placeOf(places, 7), null)
  t.end()
})
