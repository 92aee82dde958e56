import fc from 'fast-check'
import t from 'tap'
import { mayBeActive, withActiveHour, type ActiveHours } from '../../src/market/active-hours.ts'
import { randomRuns } from '../random-runs.ts'

const HOUR = 3_600
/** Hours of events: mostly rising, with jumps and falls of up to two days. */
const steps = fc.array(fc.oneof(fc.constantFrom(0, 0, 1, 1, 2), fc.integer({ min: -50, max: 60 })), {
  minLength: 1,
  maxLength: 30
})

function hoursOf(steps: readonly number[]): number[] {
  let hour = 480_000
  return steps.map((step) => (hour += step) * HOUR)
}

t.test(
  'no hour with an event is ruled out, whichever hours come and wherever they begin to be known',
  async () => {
    fc.assert(
      fc.property(steps, fc.nat(5), (steps, unknown) => {
        const hours = hoursOf(steps)
        const first = hours[unknown] ?? Infinity
        fc.pre(hours.slice(0, unknown).every((hour) => hour <= first + HOUR))
        const known = hours
          .slice(unknown)
          .reduce<ActiveHours | undefined>(
            (active, hour, at) => withActiveHour(active, hour, unknown === 0 && at === 0),
            undefined
          )
        return known === undefined || hours.every((hour) => hour > known.newest || mayBeActive(known, hour))
      }),
      randomRuns(2_000)
    )
  }
)

t.test('of the newest day, all hours without an event are ruled out', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }), (steps) => {
      const hours = hoursOf(steps)
      const known = hours.reduce<ActiveHours | undefined>(
        (active, hour, at) => withActiveHour(active, hour, at === 0),
        undefined
      )!
      const newest = hours.at(-1)!
      const day = Array.from({ length: 26 }, (_, ago) => newest + 2 * HOUR - ago * HOUR)
      return day.every((hour) => mayBeActive(known, hour) === hours.includes(hour))
    }),
    randomRuns(500)
  )
})

t.test('hours before the first known one, or beyond the bits, may have an event', async (t) => {
  const known = withActiveHour(undefined, 100 * HOUR, false)
  t.equal(mayBeActive(known, 99 * HOUR), true)
  const later = withActiveHour(known, 110 * HOUR, false)
  t.equal(mayBeActive(later, 101 * HOUR), true, 'block times may have fallen')
  t.equal(mayBeActive(later, 102 * HOUR), false)
  t.equal(mayBeActive(known, 101 * HOUR), false)
  const first = withActiveHour(undefined, 100 * HOUR, true)
  t.equal(mayBeActive(first, 99 * HOUR), false)
  t.equal(mayBeActive(first, 68 * HOUR), true)
  t.equal(withActiveHour(first, 100 * HOUR, false), first, 'a known hour changes nothing')
})
