import fc from 'fast-check'
import t from 'tap'
import { covers, leadersOf } from '../../../src/transactions/tpu/leader-schedule.ts'
import { SlotEstimate } from '../../../src/transactions/tpu/slot-estimate.ts'
import { randomRuns } from '../../random-runs.ts'

const schedule = { fromSlot: 100, leaders: [...'aaaabbbbaaaacccc'] }

t.test('leaders are those of the slots asked for, each once, in the order of their slots', async (t) => {
  const of = (slot: number, slots: number, max = 9): string =>
    leadersOf(schedule, slot, { slots, max }).join('')
  t.equal(of(100, 8), 'ab')
  t.equal(of(103, 8), 'ab')
  t.equal(of(104, 8), 'ba')
  t.equal(of(108, 8), 'ac')
  t.equal(of(100, 16, 2), 'ab', 'no more than asked for')
  t.equal(of(100, 16), 'abc')
})

t.test('slots outside the schedule have no leader', async (t) => {
  const of = (slot: number): string => leadersOf(schedule, slot, { slots: 4, max: 9 }).join('')
  t.equal(of(96), '')
  t.equal(of(98), 'a')
  t.equal(of(114), 'c')
  t.equal(of(116), '')
  t.equal(leadersOf({ fromSlot: 0, leaders: [] }, 7, { slots: 4, max: 9 }).length, 0)
})

t.test('a range is covered if each of its slots has a leader', async () => {
  fc.assert(
    fc.property(fc.nat(300), fc.integer({ min: 1, max: 40 }), (from, count) => {
      const slots = Array.from({ length: count }, (_, index) => from + index)
      const isNamed = (slot: number): boolean => leadersOf(schedule, slot, { slots: 1, max: 1 }).length === 1
      return covers(schedule, from, from + count) === slots.every(isNamed)
    }),
    randomRuns(100)
  )
})

t.test('the slot is estimated from the last one named, at the pace measured', async (t) => {
  const estimate = new SlotEstimate()
  t.equal(estimate.at(0), null, 'nothing is known')
  estimate.observe(1_000, 0)
  t.equal(estimate.at(0), 1_000)
  t.equal(estimate.at(2_000), 1_005, '400 ms a slot until measured')
  estimate.observe(1_040, 10_000)
  t.equal(estimate.slotMs, 250)
  t.equal(estimate.at(12_000), 1_048)
  estimate.observe(1_041, 10_100)
  t.equal(estimate.slotMs, 250, 'a short span says nothing of the pace')
})

t.test('a slot that was named long ago gives no estimate', async (t) => {
  const estimate = new SlotEstimate()
  estimate.observe(1_000, 0)
  t.equal(estimate.at(30_000), 1_075)
  t.equal(estimate.at(30_001), null)
})

t.test('a slot below the last one starts the measurement again', async (t) => {
  const estimate = new SlotEstimate()
  estimate.observe(1_000, 0)
  estimate.observe(10, 5_000)
  t.equal(estimate.at(5_000), 10)
  t.equal(estimate.slotMs, 400)
  estimate.observe(30, 15_000)
  t.equal(estimate.slotMs, 500)
})

t.test(
  'with steady slots and observations, the estimate is off by no more than the slots that the measurement can miss',
  async () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 50, max: 800 }),
        fc.array(fc.integer({ min: 400, max: 10_000 }), { minLength: 10, maxLength: 40 }),
        fc.integer({ min: 0, max: 5_000 }),
        (slotMs, waits, laterMs) => {
          const estimate = new SlotEstimate()
          let now = 0
          for (const ms of waits) estimate.observe(Math.floor((now += ms) / slotMs), now)
          // The pace is measured over 4 s or more, in which one slot more or less counts.
          const slots = laterMs / slotMs
          const allowed = 2 + slots * ((2 * slotMs) / 4_000)
          return Math.abs(estimate.at(now + laterMs)! - (now + laterMs) / slotMs) <= allowed
        }
      ),
      randomRuns(100)
    )
  }
)
