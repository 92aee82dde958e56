import t from 'tap'
import { RecentKeys } from '../../../src/kernel/memory/recent-keys.ts'

t.test('the last keys are remembered, and at most twice as many', async (t) => {
  const keys = new RecentKeys(10)
  for (let n = 0; n < 95; n++) {
    t.equal(keys.has(String(n)), false)
    keys.add(String(n))
    const known = Array.from({ length: n + 1 }, (_, each) => each).filter((each) => keys.has(String(each)))
    t.ok(known.length >= Math.min(n + 1, 10) && known.length < 20, `${known.length} after ${n}`)
    t.equal(known.at(-1), n)
    t.equal(known[0], n + 1 - known.length)
  }
})
