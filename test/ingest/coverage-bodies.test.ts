import t from 'tap'
import fc from 'fast-check'
import { coverageBody } from '../../src/ingest/bodies/coverage.ts'
import type { GapRow } from '../../storage/port.ts'
import { randomRuns } from '../random-runs.ts'

const gap = (from: number, to: number): GapRow => ({
  from,
  to,
  reason: 'missing',
  detail: 'no node has it',
  atMs: 5
})
const rangesOf = (
  first: number | null,
  head: number | null,
  gaps: readonly GapRow[],
  next: number | null = null
) =>
  coverageBody({ genesis: null, first, head, horizon: null, gaps, next, periods: [] }).ranges.map(
    ({ from_slot, to_slot }) => [from_slot, to_slot]
  )

t.test('ranges are what lies between the gaps, up to the head or to where the page ends', async (t) => {
  t.strictSame(rangesOf(null, null, []), [], 'an empty store has none')
  t.strictSame(rangesOf(10, 20, []), [[10, 20]])
  t.strictSame(rangesOf(10, 20, [gap(12, 14), gap(18, 18)]), [
    [10, 11],
    [15, 17],
    [19, 20]
  ])
  t.strictSame(rangesOf(10, 20, [gap(5, 9), gap(21, 30)]), [[10, 20]], 'gaps beside them take nothing')
  t.strictSame(rangesOf(10, 40, [gap(12, 14)], 30), [
    [10, 11],
    [15, 29]
  ])
})

t.test('the horizon of rows is given by slot and time, and null while all are kept', async (t) => {
  const covered = { genesis: null, first: 10, head: 20, gaps: [], next: null, periods: [] }
  const horizon = { cursor: 12 * 2 ** 20, time: 1_700_000_000 }
  t.strictSame(coverageBody({ ...covered, horizon }).rows_from, {
    slot: 12,
    ts: '2023-11-14 22:13:20',
    ts_ms: 1_700_000_000_000
  })
  t.equal(coverageBody({ ...covered, horizon: null }).rows_from, null)
})

t.test('every slot from the first to the head is in one range or in a gap, whatever the gaps', async () => {
  const stretch = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 9 }))
  fc.assert(
    fc.property(fc.uniqueArray(stretch, { selector: ([from]) => from }), (stretches) => {
      const gaps = stretches.map(([from, more]) => gap(from, from + more)).sort((a, b) => a.from - b.from)
      const ranges = rangesOf(10, 50, gaps)
      for (let slot = 10; slot <= 50; slot++) {
        const covered = ranges.filter(([from, to]) => from! <= slot && slot <= to!).length
        const isLost = gaps.some(({ from, to }) => from <= slot && slot <= to)
        if (covered !== (isLost ? 0 : 1)) return false
      }
      return ranges.every(([from, to]) => from! >= 10 && to! <= 50)
    }),
    randomRuns(100)
  )
})
