import fc from 'fast-check'
import t from 'tap'
import { anySchedule, play, type Step } from './interleaving.ts'

/** Thousands in the quick run; more with `MILLRACE_SCHEDULES=100000 [MILLRACE_SEED=…] node test/stream/interleavings.test.ts`. */
const SCHEDULES = Number(process.env['MILLRACE_SCHEDULES'] ?? 3_000)
const SEED = Number(process.env['MILLRACE_SEED'] ?? Date.now() % 2 ** 31)

/** Every schedule that once failed. */
const PAST: readonly (readonly [readonly Step[]])[] = []

t.setTimeout(280_000)

t.test(`any interleaving (seed ${SEED}): each event once, in order, none missing`, async (t) => {
  let events = 0
  await fc.assert(
    fc.asyncProperty(anySchedule, async (schedule) => {
      const faults = await play(schedule)
      events += schedule.length
      if (faults.length > 0) throw new Error(faults.join('\n'))
    }),
    { numRuns: SCHEDULES, seed: SEED, examples: [...PAST] as [Step[]][] }
  )
  t.ok(events > SCHEDULES)
})
