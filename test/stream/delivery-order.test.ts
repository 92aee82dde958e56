import fc from 'fast-check'
import t from 'tap'
import { cursorAt, endOfEvents, EVENT_POSITIONS } from '../../src/market/cursor.ts'
import { DeliveryOrder, moveAsLogEntry, movesIn, type Move } from '../../src/stream/delivery-order.ts'
import { randomRuns } from '../random-runs.ts'

/** How often the chain leaves the stored course, how far back, and the content of the new blocks. */
const anyCourse = fc.array(
  fc.record({
    blocks: fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }),
    back: fc.nat(8),
    above: fc.integer({ min: 1, max: 3 })
  }),
  { minLength: 1, maxLength: 5 }
)

interface Told {
  readonly cursor: number
  readonly slot: number
  readonly position: number
}

/** A chain published as by the stream: `told` has every event and retraction of its blocks, oldest first. */
function toldOf(course: typeof anyCourse extends fc.Arbitrary<infer T> ? T : never) {
  let stored = new Map<number, number>()
  let head = 0
  let told: Told[] = []
  const moves: Move[] = []
  const events = (slot: number, from: number): Told[] =>
    Array.from({ length: stored.get(slot)! }, (_, position) => ({ cursor: from + position, slot, position }))
  for (const { blocks, back, above } of course) {
    for (const count of blocks) {
      stored.set(++head, count)
      told.push(...events(head, cursorAt(head, 0)))
    }
    if (back === 0) continue
    const after = Math.max(0, head - back)
    const lostHead = head
    stored = new Map([...stored].filter(([slot]) => slot <= after))
    told = told.filter(({ slot }) => slot <= after)
    head = lostHead + above
    let next = cursorAt(lostHead, EVENT_POSITIONS) + 7
    const slots: [number, number][] = []
    for (let slot = after + 1; slot < head; slot += 2) {
      stored.set(slot, (slot * 7) % 4)
      slots.push([slot, next])
      told.push(...events(slot, next))
      next += stored.get(slot)!
    }
    moves.push({ first: after + 1, last: head - 1, slots })
    stored.set(head, 2)
    told.push(...events(head, cursorAt(head, 0)))
  }
  return { told, moves, end: endOfEvents(head), stored }
}

t.test(
  'from any cursor on all that is told follows in order, each once, whatever was put back how often',
  async (t) => {
    fc.assert(
      fc.property(anyCourse, fc.nat(10_000), (course, seed) => {
        const { told, moves, end, stored } = toldOf(course)
        const order = new DeliveryOrder(movesIn(moves.map(moveAsLogEntry)))
        const own = [...stored].flatMap(([slot, count]) =>
          Array.from({ length: count }, (_, position) => cursorAt(slot, position))
        )
        const starts = [-1, ...told.map(({ cursor }) => cursor), ...told.map(({ slot }) => cursorAt(slot, 1))]
        const since = starts[seed % starts.length]!
        const heard: number[] = []
        for (let from = since; from < end;) {
          const stretch = order.stretchAfter(from, end)
          const inside = own.filter((cursor) => cursor > stretch.after && cursor <= stretch.until)
          heard.push(...inside.sort((a, b) => a - b).map((cursor) => stretch.toldAt(cursor)))
          if (stretch.end <= from) throw new Error(`no way on after ${from}`)
          from = stretch.end
        }
        t.strictSame(
          heard,
          told.map(({ cursor }) => cursor).filter((cursor) => cursor > since)
        )
        for (const { cursor, slot, position } of told) t.equal(order.toldAt(cursorAt(slot, position)), cursor)
      }),
      randomRuns(300)
    )
  }
)

t.test('without a move each event is told at its own cursor', async (t) => {
  const order = new DeliveryOrder([])
  const { after, until, end, toldAt } = order.stretchAfter(5, 900)
  t.strictSame([after, until, end, toldAt(77)], [5, 900, 900, 77])
})
