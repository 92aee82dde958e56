import fc from 'fast-check'
import t from 'tap'
import { windowParts } from '../../src/market/windows.ts'
import { randomRuns } from '../random-runs.ts'
import { NOON } from './world.ts'

const DAY = 86_400

t.test('a day that ends within an hour takes its edges from minutes and the rest from hours', async (t) => {
  t.same(windowParts(NOON + 1_845, DAY), [
    { interval: '1m', from: NOON + 1_860 - DAY, to: NOON + 3_600 - DAY },
    { interval: '1h', from: NOON + 3_600 - DAY, to: NOON },
    { interval: '1m', from: NOON, to: NOON + 1_860 }
  ])
})

t.test('a window within an hour, and one of whole hours, need one interval', async (t) => {
  t.same(windowParts(NOON + 1_845, 300), [{ interval: '1m', from: NOON + 1_560, to: NOON + 1_860 }])
  t.same(windowParts(NOON + 3_599, 3_600), [{ interval: '1h', from: NOON, to: NOON + 3_600 }])
})

t.test('the parts of a window cover it once, in order', async (t) => {
  const minutes = fc.integer({ min: 1, max: 3_000 })
  fc.assert(
    fc.property(fc.integer({ min: NOON, max: NOON + 2 * DAY }), minutes, (end, count) => {
      const parts = windowParts(end, count * 60)
      const to = Math.floor(end / 60) * 60 + 60
      t.equal(parts[0]!.from, to - count * 60)
      t.equal(parts.at(-1)!.to, to)
      for (const [i, part] of parts.entries()) {
        t.ok(part.from < part.to)
        if (i > 0) t.equal(part.from, parts[i - 1]!.to)
        if (part.interval === '1h') t.same([part.from % 3_600, part.to % 3_600], [0, 0])
      }
    }),
    randomRuns(60, 7)
  )
})
