import fc from 'fast-check'
import t from 'tap'
import { randomRuns } from '../random-runs.ts'
import { anySchedule, play, type Happening, type Step } from './interleaving.ts'

const SCHEDULES = 3_000

/** Every schedule that once failed. */
const PAST: readonly (readonly [readonly Step[]])[] = [
  // The end of a replay named a channel that had been unsubscribed meanwhile, and was then replayed again.
  [
    [
      { type: 'stall' },
      { type: 'subscribe', names: [3, 0], since: 0 },
      { type: 'unsubscribe', names: [3, 1] },
      { type: 'commit', events: [], gap: 0 },
      { type: 'subscribe', names: [1], since: null },
      { type: 'jump', blocks: [[]] },
      { type: 'subscribe', names: [3, 1], since: 0 }
    ].map((happening, n) => ({ happening: happening as Happening, turns: n === 4 ? 1 : 0 }))
  ]
]

t.test('any interleaving: each event once, in order, none missing', async (t) => {
  let events = 0
  await fc.assert(
    fc.asyncProperty(anySchedule, async (schedule) => {
      const faults = await play(schedule)
      events += schedule.length
      if (faults.length > 0) throw new Error(faults.join('\n'))
    }),
    { ...randomRuns(SCHEDULES), examples: [...PAST] as [Step[]][] }
  )
  t.ok(events > SCHEDULES)
})
