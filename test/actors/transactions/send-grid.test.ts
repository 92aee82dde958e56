import t from 'tap'
import { SendGrid, type Periodic } from '../../../actors/transactions/send-grid.ts'
import { virtualClock } from '../../virtual-time.ts'

/** An item whose instants are `anchorMs` + n × 2 s. */
class Item implements Periodic {
  readonly anchorMs: number
  dueAtMs: number

  constructor(anchorMs: number) {
    this.anchorMs = anchorMs
    this.dueAtMs = this.instantAfter(anchorMs)
  }

  instantAfter(nowMs: number): number {
    return this.anchorMs + (Math.floor((nowMs - this.anchorMs) / 2_000) + 1) * 2_000
  }
}

function gridWorld() {
  const clock = virtualClock()
  const fired: { readonly due: readonly Item[]; readonly atMs: number }[] = []
  const grid = new SendGrid<Item>(clock, (due, atMs) => fired.push({ due: [...due], atMs }))
  /** Passes time in steps: a step is how late a timer of a busy process can be. */
  const pass = (ms: number, stepMs = 1): void => {
    for (let passed = 0; passed < ms; passed += stepMs) clock.increment(stepMs)
  }
  const begin = (): Item => {
    const item = new Item(clock.now())
    grid.add(item)
    return item
  }
  return { clock, grid, fired, pass, begin }
}

t.test(
  'an item is due less than 10 ms after each instant, and does not drift in ten minutes of late timers',
  (t) => {
    const { fired, pass, begin } = gridWorld()
    pass(1_237)
    begin()
    pass(600_000, 7)
    t.equal(fired.length, 300)
    for (const [at, { atMs }] of fired.entries()) {
      const lateMs = atMs - (1_237 + (at + 1) * 2_000)
      if (lateMs < 0 || lateMs >= 10 + 7) t.fail(`send ${at} is ${lateMs} ms late`)
    }
    t.end()
  }
)

t.test('10,000 items at once are due together, each once an instant, and the deleted ones no more', (t) => {
  const { grid, fired, pass, begin } = gridWorld()
  const items = Array.from({ length: 10_000 }, begin)
  t.equal(grid.size, 10_000)
  pass(2_000)
  t.same(
    fired.map(({ due, atMs }) => [new Set(due).size, due.length, atMs]),
    [[10_000, 10_000, 2_000]]
  )
  for (const item of items.slice(1)) grid.delete(item)
  pass(2_000)
  t.same(fired[1], { due: [items[0]], atMs: 4_000 })
  grid.delete(items[0]!)
  grid.delete(items[0]!)
  t.equal(grid.size, 0)
  pass(4_000)
  t.equal(fired.length, 2)
  t.end()
})

t.test('a process that stood still makes up for no instant: each item is due once, then in its grid', (t) => {
  const { fired, pass, begin } = gridWorld()
  begin()
  pass(500)
  begin()
  pass(1_000)
  pass(61_000, 61_000)
  t.same(
    fired.map(({ due }) => due.map(({ anchorMs }) => anchorMs).toSorted((a, b) => a - b)),
    [[0, 500]]
  )
  t.same(
    fired[0]!.due.map(({ dueAtMs }) => dueAtMs % 2_000).toSorted((a, b) => a - b),
    [0, 500]
  )
  pass(4_000)
  t.same(
    fired.slice(1).map(({ due, atMs }) => [due[0]!.anchorMs, atMs]),
    [
      [0, 64_000],
      [500, 64_500],
      [0, 66_000],
      [500, 66_500]
    ]
  )
  t.end()
})

t.test('an item that is added after a pause without items is due at its instant', (t) => {
  const { grid, fired, pass, begin } = gridWorld()
  grid.delete(begin())
  pass(123_455, 5)
  const item = begin()
  pass(2_010)
  t.equal(fired.length, 1)
  t.ok(fired[0]!.atMs - (item.anchorMs + 2_000) < 10)
  grid.end()
  pass(4_000)
  t.equal(fired.length, 1, 'an ended grid has no timer')
  t.end()
})
