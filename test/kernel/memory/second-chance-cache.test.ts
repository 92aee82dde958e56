import fc from 'fast-check'
import t from 'tap'
import { SecondChanceCache } from '../../../src/kernel/memory/second-chance-cache.ts'
import { randomRuns } from '../../random-runs.ts'

t.test('memory holds the values used last, within its cap', (t) => {
  const hot = new SecondChanceCache<number>(3_000)
  for (let n = 0; n < 10; n++) {
    hot.set(String(n), n, 800)
    hot.get('0')
    t.ok(hot.bytes <= 3_000)
  }
  t.equal(hot.get('0'), 0)
  t.equal(hot.get('9'), 9)
  t.equal(hot.get('5'), undefined)
  hot.set('big', 1, 5_000)
  t.equal(hot.get('big'), undefined, 'a value above the cap is not kept')
  t.equal(hot.get('0'), 0, 'and what is used stays')
  t.ok(hot.bytes <= 3_000)
  t.end()
})

// INVARIANTS 10
t.test(
  'after any sets, reads and deletions, the cache answers as a map or not at all, and counts its bytes',
  async (t) => {
    const key = fc.integer({ min: 0, max: 12 }).map(String)
    const step = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), key, bytes: fc.integer({ min: 0, max: 900 }) }),
      fc.record({ kind: fc.constant('get' as const), key }),
      fc.record({ kind: fc.constant('delete' as const), key })
    )
    let gone = 0
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const memory = new SecondChanceCache<number>(2_000)
        const model = new Map<string, { value: number; bytes: number }>()
        for (const [i, at] of steps.entries()) {
          if (at.kind === 'set') {
            memory.set(at.key, i, at.bytes)
            model.set(at.key, { value: i, bytes: at.bytes + 200 })
          } else if (at.kind === 'delete') {
            memory.delete(at.key)
            model.delete(at.key)
          } else {
            const value = memory.get(at.key)
            if (value !== undefined) t.equal(value, model.get(at.key)?.value)
          }
          const held = [...model].filter(([name]) => memory.get(name) !== undefined)
          t.equal(memory.size, held.length)
          gone += model.size - held.length
          t.equal(
            memory.bytes,
            held.reduce((sum, [, { bytes }]) => sum + bytes, 0)
          )
          t.ok(memory.bytes <= 2_000)
        }
      }),
      randomRuns(60, 5)
    )
    t.ok(gone > 0, 'some had to go')
  }
)
