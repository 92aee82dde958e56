import fc from 'fast-check'
import t from 'tap'
import { RateWindow } from '../../src/access/rate-window.ts'
import { randomRuns } from '../random-runs.ts'

/** 2026-08-24 12:00:00 UTC. */
const NOON = Date.UTC(2026, 7, 24, 12)

t.test('a quota is taken call by call, refused beyond, and back with the next minute of the clock', (t) => {
  const window = new RateWindow(10)
  const at = (seconds: number) => window.take('key', 3, NOON + seconds * 1000)
  const resetAt = NOON / 1000 + 60
  t.strictSame(at(0), { allowed: true, left: 2, resetAt, resetIn: 60 })
  t.strictSame(at(30.001), { allowed: true, left: 1, resetAt, resetIn: 30 })
  t.strictSame(at(59), { allowed: true, left: 0, resetAt, resetIn: 1 })
  t.strictSame(at(59.999), { allowed: false, left: 0, resetAt, resetIn: 1 })
  t.strictSame(at(60), { allowed: true, left: 2, resetAt: resetAt + 60, resetIn: 60 })
  t.end()
})

t.test('reading a quota takes nothing from it', (t) => {
  const window = new RateWindow(10)
  window.take('key', 2, NOON)
  for (let i = 0; i < 5; i++) t.match(window.look('key', 2, NOON), { allowed: true, left: 1 })
  window.take('key', 2, NOON)
  t.match(window.look('key', 2, NOON), { allowed: false, left: 0 })
  t.match(window.look('key', 2, NOON + 60_000), { allowed: true, left: 2 })
  t.match(window.look('key', 1, NOON), { left: 1 }, 'the minute was turned back')
  t.end()
})

t.test('a clock that is set back opens a window instead of shutting callers out', (t) => {
  const window = new RateWindow(10)
  window.take('key', 1, NOON)
  t.match(window.take('key', 1, NOON - 3_600_000), { allowed: true, resetIn: 60 })
  t.match(window.take('key', 1, NOON - 3_600_000), { allowed: false })
  t.end()
})

t.test('memory is limited to one window and a number of names, and evicts the oldest name', (t) => {
  const window = new RateWindow(100)
  for (let i = 0; i < 1000; i++) {
    window.take(`client ${i}`, 1, NOON)
    t.ok(window.size <= 100)
  }
  t.equal(window.take('client 999', 1, NOON).allowed, false, 'the newest is remembered')
  t.equal(window.take('client 0', 1, NOON).allowed, true, 'the first is not')
  window.take('client 0', 1, NOON + 60_000)
  t.equal(window.size, 1)
  t.end()
})

t.test('each name has its quota in each minute, no more and no less, whatever others do', (t) => {
  const call = fc.record({ name: fc.constantFrom('a', 'b', 'c'), waitMs: fc.nat(5_000) })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 200 }), fc.integer({ min: 1, max: 8 }), (calls, quota) => {
      const window = new RateWindow(3)
      const allowed = new Map<string, number>()
      const asked = new Map<string, number>()
      let nowMs = NOON
      for (const { name, waitMs } of calls) {
        nowMs += waitMs
        const minute = `${name} ${Math.floor(nowMs / 60_000)}`
        asked.set(minute, (asked.get(minute) ?? 0) + 1)
        const use = window.take(name, quota, nowMs)
        if (use.allowed) allowed.set(minute, (allowed.get(minute) ?? 0) + 1)
        t.equal(use.left, quota - (allowed.get(minute) ?? 0))
        t.equal(use.resetAt * 1000, (Math.floor(nowMs / 60_000) + 1) * 60_000)
        t.ok(use.resetIn >= 1 && use.resetIn <= 60 && nowMs + use.resetIn * 1000 >= use.resetAt * 1000)
      }
      for (const [minute, count] of asked) t.equal(allowed.get(minute), Math.min(count, quota))
    }),
    randomRuns(100)
  )
  t.end()
})
