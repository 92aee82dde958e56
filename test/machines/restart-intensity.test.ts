import fc from 'fast-check'
import t from 'tap'
import { RestartIntensity } from '../../machines/restart-intensity.ts'
import { randomRuns } from '../random-runs.ts'

const PERIOD_MS = 1_000

t.test('restarts within the intensity come when they are asked for', async (t) => {
  const intensity = new RestartIntensity({ crashes: 2, periodMs: PERIOD_MS })
  t.same(
    [0, 10, 1_000, 1_010].map((atMs) => intensity.next(atMs)),
    [0, 10, 1_000, 1_010]
  )
})

t.test('a restart beyond the intensity waits until an earlier one is a period ago', async (t) => {
  const intensity = new RestartIntensity({ crashes: 2, periodMs: PERIOD_MS })
  t.same(
    [0, 10, 20, 30, 40].map((atMs) => intensity.next(atMs)),
    [0, 10, 1_000, 1_010, 2_000]
  )
})

t.test('no period has more restarts than the intensity, and none comes before it is asked for', async () => {
  const times = fc.array(fc.nat(5 * PERIOD_MS), { maxLength: 60 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), times, (crashes, asked) => {
      const intensity = new RestartIntensity({ crashes, periodMs: PERIOD_MS })
      const due = asked.map((atMs) => intensity.next(atMs))
      const sorted = due.toSorted((a, b) => a - b)
      return (
        due.every((dueMs, at) => dueMs >= asked[at]!) &&
        sorted.every((dueMs, at) => at < crashes || dueMs - sorted[at - crashes]! >= PERIOD_MS)
      )
    }),
    randomRuns(100)
  )
})
