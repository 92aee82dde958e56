import fc from 'fast-check'
import t from 'tap'
import {
  cursorAt,
  endOfEvents,
  EVENT_POSITIONS,
  SIDE_BY_SIDE_POSITIONS,
  TRADE_POSITIONS,
  walletPositions
} from '../../src/market/cursor.ts'
import { DeliveryOrder, moveAsLogEntry, movesIn, type Move } from '../../src/stream/delivery-order.ts'
import { randomRuns } from '../random-runs.ts'

/**
 * The number and depth of forks of the stored chain, and the content of the new blocks: the positions of the events of each.
 */
const anyCourse = fc.array(
  fc.record({
    blocks: fc.array(fc.nat(11), { minLength: 1, maxLength: 6 }),
    back: fc.nat(8),
    above: fc.integer({ min: 1, max: 3 }),
    /** Whether the move was stored before there were channels of wallets. */
    isOld: fc.boolean()
  }),
  { minLength: 1, maxLength: 5 }
)

interface SentEvent {
  readonly cursor: number
  readonly slot: number
  readonly position: number
}

const isOfWallet = ({ position }: Pick<SentEvent, 'position'>): boolean => position >= SIDE_BY_SIDE_POSITIONS

/** Returns the positions of a block: as if it had trades alone, and their copies for wallets. */
const positionsIn = (count: number): number[] => [
  ...Array.from({ length: count }, (_, position) => position),
  ...Array.from({ length: walletPositions(count) }, (_, nth) => SIDE_BY_SIDE_POSITIONS + nth)
]

/** A chain published as by the stream: `sent` has every event of its blocks, oldest first. */
function sentBy(course: typeof anyCourse extends fc.Arbitrary<infer T> ? T : never) {
  let stored = new Map<number, number>()
  let head = 0
  let sent: SentEvent[] = []
  const moves: Move[] = []
  const tell = (slot: number, sentCursor = (position: number) => cursorAt(slot, position)): void => {
    const positions = positionsIn(stored.get(slot)!)
    sent.push(...positions.map((position) => ({ cursor: sentCursor(position), slot, position })))
  }
  for (const { blocks, back, above, isOld } of course) {
    for (const count of blocks) {
      stored.set(++head, count)
      tell(head)
    }
    if (back === 0) continue
    const after = Math.max(0, head - back)
    const lostHead = head
    stored = new Map([...stored].filter(([slot]) => slot <= after))
    sent = sent.filter(({ slot }) => slot <= after)
    head = lostHead + above
    let next = cursorAt(lostHead, EVENT_POSITIONS) + 7
    const slots: [number, number][] = []
    const walletsFrom: number[] = []
    for (let slot = after + 1; slot < head; slot += 2) {
      const count = (slot * 7) % 12
      const [from, wallets] = [next, next + count]
      stored.set(slot, count)
      slots.push([slot, from])
      walletsFrom.push(wallets)
      tell(slot, (position) => {
        const nth = position - SIDE_BY_SIDE_POSITIONS
        if (nth < 0) return from + position
        return isOld ? from + TRADE_POSITIONS * nth + 3 : wallets + nth
      })
      next += isOld ? count : count + walletPositions(count)
    }
    moves.push({ first: after + 1, last: head - 1, slots, ...(isOld ? {} : { walletsFrom }) })
    stored.set(head, 2)
    tell(head)
  }
  return { sent, moves, end: endOfEvents(head), stored }
}

t.test(
  'from any cursor on everything sent follows in order, each once, whatever was rolled back how often',
  async (t) => {
    fc.assert(
      fc.property(anyCourse, fc.nat(10_000), (course, seed) => {
        const { sent, moves, end, stored } = sentBy(course)
        const order = new DeliveryOrder(movesIn(moves.map(moveAsLogEntry)))
        const own = [...stored].flatMap(([slot, count]) =>
          positionsIn(count).map((position) => ({ cursor: cursorAt(slot, position), position }))
        )
        const starts = [-1, ...sent.map(({ cursor }) => cursor), ...sent.map(({ slot }) => cursorAt(slot, 1))]
        const since = starts[seed % starts.length]!
        for (const ofWallet of [false, true]) {
          const heard: number[] = []
          for (let from = since; from < end;) {
            const section = order.sectionAfter(from, end, ofWallet)
            const inside = own
              .filter((event) => isOfWallet(event) === ofWallet)
              .filter(({ cursor }) => cursor > section.after && cursor <= section.until)
            const cursors = inside.map(({ cursor }) => cursor).sort((a, b) => a - b)
            heard.push(...cursors.map((cursor) => section.sentCursor(cursor)))
            if (section.end <= from) throw new Error(`no way on after ${from}`)
            from = section.end
          }
          t.strictSame(
            heard,
            sent
              .filter((event) => isOfWallet(event) === ofWallet)
              .map(({ cursor }) => cursor)
              .filter((cursor) => cursor > since)
          )
        }
        for (const { cursor, slot, position } of sent)
          t.equal(order.sentCursor(cursorAt(slot, position)), cursor)
        if (course.every(({ isOld }) => !isOld))
          t.equal(new Set(sent.map(({ cursor }) => cursor)).size, sent.length, 'each has a cursor of its own')
      }),
      randomRuns(300)
    )
  }
)

t.test('without a move each event is sent at its own cursor', async (t) => {
  const order = new DeliveryOrder([])
  const { after, until, end, sentCursor } = order.sectionAfter(5, 900, false)
  t.strictSame([after, until, end, sentCursor(77)], [5, 900, 900, 77])
})

t.test('a move that was stored before there were channels of wallets is read', async (t) => {
  const body = Buffer.from('{"first":5,"last":6,"slots":[[5,4718592]]}')
  const [move] = movesIn([{ channel: 'moves', slot: 7, events: [{ cursor: cursorAt(7, 0), body }] }])
  const order = new DeliveryOrder([move!])
  t.equal(order.sentCursor(cursorAt(5, 8)), 4718592 + 8)
  t.equal(order.sentCursor(cursorAt(5, SIDE_BY_SIDE_POSITIONS + 2)), 4718592 + 11, 'a position of its trade')
})
