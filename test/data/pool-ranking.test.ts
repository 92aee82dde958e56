import t from 'tap'
import { writeWordsCursor } from '../../src/kernel/http/page-cursor.ts'
import { rankPlaces, readRankingCursor, writeRankingCursor } from '../../src/data/routes/pool-ranking.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

t.test('values are in order, unknown ones last, equals as they were', async (t) => {
  const values = [3, null, 9, 3, null, 0]
  t.strictSame(rankPlaces(values, 'desc'), [2, 0, 3, 5, 1, 4])
  t.strictSame(rankPlaces(values, 'asc'), [5, 0, 3, 2, 1, 4])
})

t.test('a place comes back as it was, and one that was not written is refused', async (t) => {
  for (const left of [[], [0], [499, 0, 256, 7], Array.from({ length: 499 }, (_, n) => n)]) {
    const place = { before: 2 ** 52, left, sum: 4_000_000_000 }
    t.strictSame(readRankingCursor('list', writeRankingCursor('list', place)), place)
  }
  for (const words of [
    [],
    ['1'],
    ['1', '2'],
    ['1', 'x', ''],
    ['x', '2', ''],
    ['1', '2', 'AA'],
    ['1', '2', '', '']
  ])
    t.throws(
      () => readRankingCursor('list', writeWordsCursor('list', words)),
      { name: 'ServiceError', kind: ERRORS.CURSOR_INVALID },
      words.join()
    )
})
