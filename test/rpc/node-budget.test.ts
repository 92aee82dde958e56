import fc from 'fast-check'
import t from 'tap'
import { NodeBudget } from '../../src/rpc/node-budget.ts'
import { randomRuns } from '../random-runs.ts'

t.test('a node without a limit is sent everything, until it refuses', async (t) => {
  const budget = new NodeBudget(null, 0)
  t.ok(budget.admits(1e9, 0))
  budget.spend(1e9, 0)
  t.ok(budget.admits(1e9, 0))
  t.strictSame(budget.state(0), { limit: null, learned: null, left: null })
})

t.test('a limit admits the requests of one second at once, and the rest as time passes', async (t) => {
  const budget = new NodeBudget(10, 0)
  for (let sent = 0; sent < 10; sent++) {
    t.ok(budget.admits(1, 0))
    budget.spend(1, 0)
  }
  t.notOk(budget.admits(1, 0))
  t.equal(budget.waitMs(1, 0), 100)
  t.notOk(budget.admits(1, 99))
  t.ok(budget.admits(1, 100))
  t.notOk(budget.admits(2, 100))
})

t.test('a request above the limit needs a full budget, and leaves a debt', async (t) => {
  const budget = new NodeBudget(10, 0)
  budget.spend(1, 0)
  t.notOk(budget.admits(25, 0))
  t.equal(budget.waitMs(25, 0), 100)
  t.ok(budget.admits(25, 100))
  budget.spend(25, 100)
  t.equal(budget.state(100).left, -15)
  t.equal(budget.waitMs(1, 100), 1_600)
})

t.test(
  'a refusal lowers the rate below the one that was sent, and the rate rises evenly again',
  async (t) => {
    const budget = new NodeBudget(null, 0)
    // 100 requests a second for three seconds, measured each second.
    for (let atMs = 0; atMs < 3_000; atMs += 10) {
      if (atMs % 1_000 === 0) budget.measure(atMs)
      budget.spend(1, atMs)
    }
    budget.refused(3_000)
    budget.refused(3_500)
    const { learned, left } = budget.state(3_500)
    t.ok(learned! >= 70 && learned! < 71, `the second refusal has the same cause: ${learned}`)
    t.ok(left! > 34 && left! < 36, `half a second of the rate is left: ${left}`)
    const at = (seconds: number): number => budget.state(3_000 + seconds * 1_000).learned!
    t.ok(Math.abs(at(30) - 85) < 0.5, 'half of the loss is back after half a minute')
    t.ok(Math.abs(at(60) - 100) < 0.5)
    budget.refused(63_000)
    const again = budget.state(63_000).learned!
    t.ok(again < 100, `a refusal while few requests are sent: ${again}`)
    t.equal(budget.state(1_000_000).learned, null, 'without refusals the learned rate ends')
    t.ok(budget.admits(1e9, 1_000_000))
  }
)

t.test('a learned rate never exceeds the limit of the operator', async (t) => {
  const budget = new NodeBudget(20, 0)
  for (let sent = 0; sent < 20; sent++) budget.spend(1, 0)
  budget.refused(500)
  t.equal(budget.state(500).learned, 14)
  t.strictSame(budget.state(1_000_000), { limit: 20, learned: null, left: 14 })
  t.equal(budget.state(1_001_000).left, 20)
})

t.test('requests that are admitted never exceed rate × time + burst in any interval', async () => {
  const step = fc.record({
    afterMs: fc.nat(400),
    cost: fc.integer({ min: 1, max: 30 }),
    isRefused: fc.boolean()
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.array(step, { maxLength: 120 }), (rate, steps) => {
      const budget = new NodeBudget(rate, 0)
      const sent: { readonly atMs: number; readonly cost: number }[] = []
      let nowMs = 0
      for (const { afterMs, cost, isRefused } of steps) {
        nowMs += afterMs
        if (budget.admits(cost, nowMs)) {
          budget.spend(cost, nowMs)
          sent.push({ atMs: nowMs, cost })
        } else if (budget.waitMs(cost, nowMs) <= 0) return false
        if (isRefused) budget.refused(nowMs)
      }
      return sent.every((first, from) => {
        let sum = 0
        return sent.slice(from).every(({ atMs, cost }) => {
          sum += cost
          // The last request may leave a debt.
          const debt = Math.max(0, cost - rate)
          return sum <= (rate * (atMs - first.atMs)) / 1_000 + rate + debt + 1e-6
        })
      })
    }),
    randomRuns(100)
  )
})
