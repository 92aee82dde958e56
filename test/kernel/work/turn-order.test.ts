import fc from 'fast-check'
import t from 'tap'
import { TurnOrder } from '../../../src/kernel/work/turn-order.ts'
import { randomRuns } from '../../random-runs.ts'

/** A piece of work of a model: its owner, and the milliseconds that it takes. */
interface Piece {
  readonly owner: string
  readonly ms: number
}

/** Runs work one piece at a time, as long as some waits, and returns the order. */
function runAll(order: TurnOrder<Piece>): Piece[] {
  const ran: Piece[] = []
  for (let piece = order.next(1); piece !== null; piece = order.next(1)) {
    ran.push(piece)
    order.end(piece.owner, piece.ms)
  }
  return ran
}

const owner = fc.constantFrom('a', 'b', 'c', 'd')
const ms = fc.integer({ min: 1, max: 50 })

t.test('whatever owners ask for, all of it runs, and the work of one owner in its order', async () => {
  fc.assert(
    fc.property(fc.array(fc.record({ owner, ms }), { maxLength: 60 }), (pieces) => {
      const order = new TurnOrder<Piece>()
      for (const piece of pieces) order.add(piece.owner, piece)
      const ran = runAll(order)
      if (ran.length !== pieces.length || order.owners !== 0) return false
      return ['a', 'b', 'c', 'd'].every((name) => {
        const own = pieces.filter((each) => each.owner === name)
        return ran.filter((each) => each.owner === name).every((each, at) => each === own[at])
      })
    }),
    randomRuns(1_000)
  )
})

t.test('of owners that always wait, none gets more time than another but for one piece of each', async () => {
  fc.assert(
    fc.property(
      fc.dictionary(owner, fc.array(ms, { minLength: 1, maxLength: 5 }), { minKeys: 2 }),
      fc.integer({ min: 1, max: 200 }),
      (costs, steps) => {
        const order = new TurnOrder<Piece>()
        const names = Object.keys(costs)
        const used = new Map(names.map((name) => [name, 0]))
        const asked = new Map(names.map((name) => [name, 0]))
        const ask = (name: string): void => {
          const at = asked.get(name)!
          asked.set(name, at + 1)
          order.add(name, { owner: name, ms: costs[name]![at % costs[name]!.length]! })
        }
        // Each owner has at least one piece waiting, the first one a thousand times as many.
        for (const name of names) for (let i = 0; i < (name === names[0] ? 1_000 : 2); i++) ask(name)
        for (let step = 0; step < steps; step++) {
          const { owner: name, ms: took } = order.next(1)!
          order.end(name, took)
          used.set(name, used.get(name)! + took)
          ask(name)
          for (const one of names)
            for (const other of names)
              if (used.get(one)! - used.get(other)! > Math.max(...costs[one]!)) return false
        }
        return true
      }
    ),
    randomRuns(1_000)
  )
})

t.test(
  'an owner that comes waits for no more than one piece of another, however much that one has waiting',
  async () => {
    fc.assert(
      fc.property(fc.array(ms, { minLength: 1, maxLength: 100 }), fc.nat(), ms, (costs, after, own) => {
        const order = new TurnOrder<Piece>()
        for (const each of costs) order.add('greedy', { owner: 'greedy', ms: each })
        const ran = after % costs.length
        for (let i = 0; i < ran; i++) order.end('greedy', order.next(1)!.ms)
        order.add('new', { owner: 'new', ms: own })
        const first = order.next(1)!
        if (first.owner === 'new') return true
        order.end('greedy', first.ms)
        return order.next(1)!.owner === 'new'
      }),
      randomRuns(1_000)
    )
  }
)

t.test('an owner that was idle has not saved up time', async (t) => {
  const order = new TurnOrder<Piece>()
  const piece = (name: string): Piece => ({ owner: name, ms: 10 })
  for (let i = 0; i < 100; i++) order.add('busy', piece('busy'))
  for (let i = 0; i < 50; i++) order.end('busy', order.next(1)!.ms)
  for (let i = 0; i < 100; i++) order.add('late', piece('late'))
  const turns = Array.from({ length: 20 }, () => {
    const { owner: name, ms: took } = order.next(1)!
    order.end(name, took)
    return name
  })
  t.ok(
    turns.filter((name) => name === 'late').length <= 11,
    'it gets half of the turns, and not fifty at once'
  )
})

t.test('work that is taken back does not run, and an owner has no more running than it may', async (t) => {
  const order = new TurnOrder<Piece>()
  const [one, two, three] = [1, 2, 3].map((n): Piece => ({ owner: 'a', ms: n }))
  for (const each of [one, two, three]) order.add('a', each!)
  order.remove('a', two!)
  order.remove('b', two!)
  t.equal(order.waiting, 2)
  t.equal(order.next(1), one)
  t.equal(order.next(1), null)
  t.equal(order.runningOf('a'), 1)
  t.equal(order.next(2), three)
})
