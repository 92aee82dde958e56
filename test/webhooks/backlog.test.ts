import fc from 'fast-check'
import t from 'tap'
import { cursorAt, endOfEvents } from '../../src/market/cursor.ts'
import { eventFrames, eventsIn, type EventMembers, type Frames } from '../../src/stream/frames.ts'
import { Backlog, BATCH_EVENTS_MAX, BUFFER_MAX } from '../../src/webhooks/backlog.ts'
import { randomRuns } from '../random-runs.ts'

const CHANNELS = ['launches', 'curves']
const LIMITS = { live: 20, near: 6 }
const PAGE = 7

const channelOf = (cursor: number): string => CHANNELS[cursor % 2]!

const framesOf = (cursors: readonly number[]): Frames[] =>
  CHANNELS.flatMap((channel) => {
    const own = cursors.filter((cursor) => channelOf(cursor) === channel)
    const body = Buffer.from(`{"event":"e","cursor":`)
    return own.length === 0
      ? []
      : [
          eventFrames(
            channel,
            own.map((cursor) => ({ cursor, body })),
            false
          )
        ]
  })

/** Events as the log gives them. */
const eventAt = (cursor: number): EventMembers => eventsIn(framesOf([cursor])[0]!)[0]!

const cursorsOf = (events: readonly EventMembers[] = []): number[] => events.map(({ cursor }) => cursor)

/** The cursors of a slot's first events. */
const block = (slot: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => cursorAt(slot, index))

t.test('live events come out in cursor order, with their channels and bytes', async (t) => {
  const backlog = new Backlog(-1, null, -1)
  backlog.add(framesOf(block(1, 5)), endOfEvents(1))
  backlog.add(framesOf(block(3, 70)), endOfEvents(3))
  t.equal(backlog.ready, 75)
  const first = backlog.take()!
  t.same(
    first.events.map(({ members }) => JSON.parse(`{${String(members)}}`) as unknown),
    [...block(1, 5), ...block(3, 59)].map((cursor) => ({
      channel: channelOf(cursor),
      data: { event: 'e', cursor }
    }))
  )
  t.match(first, { after: -1, last: cursorAt(3, 58) })
  t.equal(backlog.position, -1, 'the position waits for the answer')
  backlog.settleBatch()
  t.equal(backlog.position, cursorAt(3, 58))
  t.same(cursorsOf(backlog.take()?.events), block(3, 70).slice(59))
  backlog.settleBatch()
  t.equal(backlog.take(), null)
  backlog.settle(endOfEvents(9))
  t.equal(backlog.position, endOfEvents(9))
})

t.test(
  'a thousand webhooks of a channel share its events, whose bytes are those of the stream',
  async (t) => {
    const [frames] = framesOf(block(1, 40).filter((cursor) => channelOf(cursor) === 'launches'))
    const backlogs = Array.from({ length: 1_000 }, () => new Backlog(-1, null, -1))
    for (const backlog of backlogs) backlog.add([frames!], endOfEvents(1))
    const [first, ...others] = backlogs.map((backlog) => backlog.take()!.events)
    t.equal(first!.length, frames!.cursors.length)
    t.ok(others.every((events) => events.every((event, at) => event === first![at])))
    t.ok(first!.every(({ members }) => members.buffer === frames!.bytes.buffer))
  }
)

t.test('a full buffer drops its oldest events one by one, and counts them', async (t) => {
  const backlog = new Backlog(-1, null, -1)
  backlog.add(framesOf(block(1, BUFFER_MAX)), endOfEvents(1))
  t.equal(backlog.takeDropped(), 0)
  backlog.add(framesOf(block(2, 3)), endOfEvents(2))
  t.equal(backlog.takeDropped(), 3)
  t.equal(backlog.live, BUFFER_MAX)
  t.equal(backlog.position, cursorAt(1, 2), 'dropped events are passed')
  const { events } = backlog.take()!
  t.equal(events[0]!.cursor, cursorAt(1, 3))
  backlog.add(framesOf(block(3, 70)), endOfEvents(3))
  t.equal(backlog.takeDropped(), 70 - BATCH_EVENTS_MAX)
  t.same(backlog.hole, { from: cursorAt(1, 66), to: cursorAt(1, 66 + 6) }, 'behind the batch in flight')
  backlog.settleBatch()
  t.equal(backlog.position, cursorAt(1, 72))
  t.equal(backlog.hole, null)
})

/** A webhook with a store and a hub: everything that a process does with a backlog, without waiting. */
class Model {
  stored: number[] = []
  head = -1
  slot = 0
  backlog = new Backlog(-1, null, -1, LIMITS)
  /** As the last write of the progress left it. */
  durable: { position: number; hole: Backlog['hole']; dropped: number; batch: number[] | null } = {
    position: -1,
    hole: null,
    dropped: 0,
    batch: null
  }
  dropped = 0
  inFlight: number[] | null = null
  after = -1
  delivered: number[] = []
  faults: string[] = []

  commit(count: number, isGiven: boolean): void {
    this.slot += 2
    const cursors = block(this.slot, count)
    this.stored.push(...cursors)
    this.head = endOfEvents(this.slot)
    if (isGiven) this.backlog.add(framesOf(cursors), this.head)
    else this.backlog.rewind(this.head)
    if (this.backlog.live > LIMITS.live) this.faults.push(`${this.backlog.live} live events`)
  }

  read(isLate: number): void {
    const range = this.backlog.nextRange()
    if (range === null) return
    if (range.until > this.head) this.faults.push('reads beyond the head')
    const all = this.stored.filter((cursor) => cursor > range.after && cursor <= range.until)
    const page = all.slice(0, PAGE)
    for (let n = 0; n < isLate; n++) this.commit(9, n % 2 === 0)
    this.backlog.addRead(range, page.map(eventAt), page.length < all.length ? page.at(-1)! : range.until)
  }

  send(): void {
    if (this.inFlight !== null) return
    const batch = this.backlog.take()
    if (batch === null) return
    this.inFlight = cursorsOf(batch.events)
    this.after = batch.after
    this.write()
  }

  write(): void {
    this.dropped += this.backlog.takeDropped()
    const { position, hole } = this.backlog
    this.durable = { position, hole, dropped: this.dropped, batch: this.inFlight }
  }

  answer(isAccepted: boolean): void {
    if (this.inFlight === null) return
    // A receiver that has a batch accepts its repeat. If it refused it, it would receive a report of drops that it has.
    const last = this.inFlight.at(-1)!
    if (isAccepted || this.delivered.includes(last)) this.delivered.push(...this.inFlight)
    else this.dropped += this.inFlight.length
    this.inFlight = null
    this.backlog.settleBatch()
  }

  /** The process dies, perhaps after the receiver has accepted, and a second process adopts the webhook. */
  crash(isAccepted: boolean): void {
    if (isAccepted && this.inFlight !== null) this.delivered.push(...this.inFlight)
    const { position, hole, dropped, batch } = this.durable
    this.backlog = new Backlog(position, hole, this.head, LIMITS)
    this.dropped = dropped
    this.inFlight = batch
    if (batch === null) return
    this.backlog.restore({ last: batch.at(-1)! })
    const inRange = this.stored.filter((cursor) => cursor > position && cursor <= batch.at(-1)!)
    if (String(inRange) !== String(batch)) this.faults.push('a batch cannot be rebuilt')
  }

  finish(): void {
    for (let turn = 0; turn < 10_000 && (!this.backlog.isEmpty || this.inFlight !== null); turn++) {
      this.answer(true)
      this.read(0)
      this.send()
    }
    this.write()
    const union = new Set(this.delivered)
    const missing = this.stored.length - union.size
    if (missing !== this.dropped) this.faults.push(`${missing} missing, ${this.dropped} counted`)
    if (this.backlog.live !== 0 || !this.backlog.isEmpty) this.faults.push('it never ends')
  }
}

const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('commit' as const), count: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('untold' as const), count: fc.nat(30) }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('read' as const), late: fc.nat(2) }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('send' as const) }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('answer' as const), accepted: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('crash' as const), accepted: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('write' as const) }) }
)
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never

function play(steps: readonly Step[]): Model {
  const model = new Model()
  for (const step of steps) {
    if (step.type === 'commit') model.commit(step.count, true)
    else if (step.type === 'untold') model.commit(step.count, false)
    else if (step.type === 'read') model.read(step.late)
    else if (step.type === 'send') model.send()
    else if (step.type === 'answer') model.answer(step.accepted)
    else if (step.type === 'crash') model.crash(step.accepted)
    else model.write()
  }
  model.finish()
  return model
}

t.test('in any interleaving each event is delivered, or dropped and counted', async (t) => {
  let drops = 0
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const { faults, dropped, delivered } = play(steps)
      drops += dropped
      // A repeat after a crash is a whole batch, the last one before.
      const isOrdered = delivered.every((cursor, n) => n === 0 || cursor > delivered[n - 1]! - 2 ** 40)
      if (!isOrdered) faults.push('out of order')
      if (faults.length > 0) throw new Error(faults.join('\n'))
    }),
    randomRuns(5_000)
  )
  t.ok(drops > 1_000, `${drops} drops`)
})
