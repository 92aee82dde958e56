import fc from 'fast-check'
import t from 'tap'
import { WorkWindow } from '../../src/access/work-window.ts'
import { randomRuns } from '../random-runs.ts'

/** 2026-08-24 12:00:00 UTC. */
const NOON = Date.UTC(2026, 7, 24, 12)

t.test('work beyond the quota is a debt that the next minutes begin with', (t) => {
  const window = new WorkWindow(10)
  window.charge('key', 100, 99, NOON)
  t.match(window.look('key', 100, NOON), { allowed: true, left: 1, resetIn: 60 })
  window.charge('key', 100, 151, NOON + 1_000)
  t.match(window.look('key', 100, NOON + 1_000), { allowed: false, left: 0, resetIn: 119 })
  t.match(window.look('key', 100, NOON + 60_000), { allowed: false, left: 0, resetIn: 60 })
  t.match(window.look('key', 100, NOON + 120_000), { allowed: true, left: 50 })
  t.match(
    window.look('key', 100, NOON + 180_000),
    { allowed: true, left: 100 },
    'unused work does not add up'
  )
  t.match(window.look('key', 100, NOON - 60_000), { allowed: true, left: 100 }, 'the clock was set back')
  t.end()
})

t.test('memory is limited to a number of names, and evicts the oldest', (t) => {
  const window = new WorkWindow(3)
  for (let i = 0; i < 10; i++) window.charge(`key ${i}`, 1, 1, NOON)
  t.equal(window.size, 3)
  t.equal(window.look('key 9', 1, NOON).allowed, false)
  t.equal(window.look('key 0', 1, NOON).allowed, true)
  t.end()
})

t.test(
  'a window agrees with a bucket that each minute empties by the quota, whatever is charged when',
  (t) => {
    const work = fc.record({
      name: fc.constantFrom('a', 'b'),
      units: fc.nat(300),
      waitMs: fc.oneof(fc.nat(2_000), fc.nat(200_000))
    })
    fc.assert(
      fc.property(fc.array(work, { maxLength: 100 }), fc.integer({ min: 1, max: 200 }), (all, quota) => {
        const window = new WorkWindow(2)
        const model = new Map<string, number>()
        let minute = Math.floor(NOON / 60_000)
        let nowMs = NOON
        for (const { name, units, waitMs } of all) {
          nowMs += waitMs
          for (; minute < Math.floor(nowMs / 60_000); minute++)
            for (const [each, used] of model) model.set(each, Math.max(0, used - quota))
          const used = model.get(name) ?? 0
          const use = window.look(name, quota, nowMs)
          t.equal(use.allowed, used < quota)
          t.equal(use.left, Math.max(0, quota - used))
          const backMs = use.resetAt * 1_000
          t.ok(use.resetIn >= 1 && nowMs + use.resetIn * 1_000 >= backMs)
          t.equal(window.look(name, quota, backMs).allowed, true, 'the stated wait is enough')
          if (!use.allowed)
            t.equal(window.look(name, quota, backMs - 1).allowed, false, 'and no shorter one is')
          window.charge(name, quota, units, nowMs)
          model.set(name, used + units)
        }
      }),
      randomRuns(100)
    )
    t.end()
  }
)
