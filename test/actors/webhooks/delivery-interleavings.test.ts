import fc from 'fast-check'
import t from 'tap'
import { randomRuns } from '../../random-runs.ts'
import { anySchedule, Play, type Reached } from './delivery-schedule.ts'

const SCHEDULES = 300

t.test(
  'in any interleaving a receiver has every event in order, but exactly those that are announced as dropped or missed',
  async (t) => {
    const reached: Reached = { dropped: 0, missed: 0, rebuilt: 0, outranked: 0, repeated: 0 }
    await fc.assert(
      fc.asyncProperty(anySchedule, async (steps) => {
        const faults = await new Play(reached).run(steps)
        if (faults.length > 0) throw new Error(faults.join('\n'))
      }),
      randomRuns(SCHEDULES)
    )
    for (const [name, count] of Object.entries(reached)) t.ok(count > 0, `${name}: ${count}`)
  }
)
