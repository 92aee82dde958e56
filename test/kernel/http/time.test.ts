import fc from 'fast-check'
import t from 'tap'
import { millisecondsText, secondsText } from '../../../src/kernel/http/time.ts'
import { randomRuns } from '../../random-runs.ts'

/** From 1970 to the end of 9999, in seconds. */
const seconds = fc.oneof(
  fc.integer({ min: 0, max: 253_402_300_799 }),
  fc.integer({ min: 1_787_572_790, max: 1_787_572_810 }),
  fc.integer({ min: 0, max: 3_000_000 }).map((day) => Math.min(day * 86_400, 253_402_300_799))
)
const expected = (ms: number, digits: number): string =>
  new Date(ms).toISOString().slice(0, digits).replace('T', ' ')

t.test('times are formatted by the calendar, in any order of calls', (t) => {
  fc.assert(
    fc.property(fc.array(seconds, { minLength: 1, maxLength: 8 }), (times) =>
      times.every((time) => secondsText(time) === expected(time * 1000, 19))
    ),
    randomRuns(500, 6)
  )
  fc.assert(
    fc.property(seconds, fc.nat(999), seconds, (time, ms, between) => {
      const isSame = millisecondsText(time * 1000 + ms) === expected(time * 1000 + ms, 23)
      return isSame && secondsText(between) === expected(between * 1000, 19)
    }),
    randomRuns(500, 6)
  )
  t.end()
})
