import fc from 'fast-check'
import t from 'tap'
import { randomRuns } from '../../random-runs.ts'
import { anySchedule, Play, type Reached, type Step } from './delivery-schedule.ts'

const SCHEDULES = 500

/** Schedules that showed a fault once. */
const FOUND: readonly Step[][] = [
  // A range that no batch could report before the webhook was deactivated again.
  [
    { type: 'flow', events: [0] },
    { type: 'revive', events: [0] },
    { type: 'flow', events: [0] },
    { type: 'answer', answer: 410 }
  ],
  // A process that repeats a POST after another has taken over.
  [
    { type: 'flow', events: [0] },
    { type: 'takeover', answer: 'too_many_posts', events: [], ms: 2_000 }
  ],
  // A process that deactivates a webhook after another has taken over.
  [
    { type: 'flow', events: [0] },
    { type: 'takeover', answer: 410, events: [], ms: 2_000 },
    { type: 'kill', answer: null }
  ]
]

t.test(
  'in any interleaving a receiver has every event in order, but exactly those that are announced as dropped or missed',
  async (t) => {
    const reached: Reached = { dropped: 0, missed: 0, rebuilt: 0, outranked: 0, repeated: 0 }
    await fc.assert(
      fc.asyncProperty(anySchedule, async (steps) => {
        const faults = await new Play(reached).run(steps)
        if (faults.length > 0) throw new Error(faults.join('\n'))
      }),
      { ...randomRuns(SCHEDULES), examples: FOUND.map((steps): [Step[]] => [steps]) }
    )
    for (const [name, count] of Object.entries(reached)) t.ok(count > 0, `${name}: ${count}`)
  }
)
