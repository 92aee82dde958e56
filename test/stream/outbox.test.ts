import fc from 'fast-check'
import t from 'tap'
import { eventFrames, messageFrame, type Frames } from '../../src/stream/frames.ts'
import { eventsDropped } from '../../src/stream/messages.ts'
import { CHUNK_BYTES, Outbox, type Room } from '../../src/stream/outbox.ts'
import { textsOf, type Message } from './fake-pipe.ts'
import { randomRuns } from '../random-runs.ts'

/** An outbox with one room for everything that is added. */
class BoundedOutbox extends Outbox {
  readonly #room: Room

  constructor(room: Room) {
    super((hole) => messageFrame(eventsDropped(hole)))
    this.#room = room
  }

  override add(frames: Frames): number {
    return super.add(frames, this.#room)
  }
}

const outboxOf = (events: number, bytes = 2 ** 20) => new BoundedOutbox({ events, bytes })

const framesOf = (cursors: readonly number[], bodyBytes = 4) =>
  eventFrames(
    'launches',
    cursors.map((cursor) => ({ cursor, body: Buffer.from(`{"x":"${'y'.repeat(bodyBytes)}","cursor":`) })),
    false
  )

const takeAll = (outbox: Outbox): Message[] => {
  const taken: Message[] = []
  while (!outbox.isEmpty)
    for (const bytes of outbox.take())
      for (const text of textsOf(bytes)) taken.push(JSON.parse(text) as Message)
  return taken
}

const shown = ({ type, cursor, code, ...others }: Message) =>
  code === 'events_dropped'
    ? [others['dropped'], others['from_cursor'], others['to_cursor']]
    : (cursor ?? type)

t.test('an outbox that is full drops the oldest, and says so exactly where they were', async (t) => {
  const outbox = outboxOf(4)
  t.equal(outbox.add(framesOf([1, 2, 3])), 0)
  outbox.message(messageFrame({ type: 'pong' }))
  t.equal(outbox.add(framesOf([4, 5, 6])), 2)
  t.equal(outbox.events, 4)
  t.same(takeAll(outbox).map(shown), [[2, 0, 2], 3, 'pong', 4, 5, 6])
  t.equal(outbox.add(framesOf([7])), 1, 'those with the socket count')
  outbox.sent()
  t.equal(outbox.add(framesOf([8])), 0)
  t.same(takeAll(outbox).map(shown), [[1, 6, 7], 8])
  t.equal(outbox.dropped, 3)
})

t.test('a hole grows while nothing is taken, also over messages, which stay', async (t) => {
  const outbox = outboxOf(2)
  outbox.add(framesOf([1]))
  outbox.message(messageFrame({ type: 'pong' }))
  for (const cursor of [2, 3, 4, 5]) outbox.add(framesOf([cursor]))
  t.same(takeAll(outbox).map(shown), [[1, 0, 1], 'pong', [2, 1, 3], 4, 5])
})

t.test('bytes are bounded too, and a chunk is no longer than it needs to be', async (t) => {
  const outbox = outboxOf(1_000, 10_000)
  outbox.add(framesOf([1, 2, 3, 4, 5, 6], 3_000))
  t.ok(outbox.bytes <= 10_000)
  t.same(takeAll(outbox).map(shown), [[3, 0, 3], 4, 5, 6])
  const large = outboxOf(1_000, 2 ** 24)
  large.add(
    framesOf(
      Array.from({ length: 400 }, (_, cursor) => cursor),
      3_000
    )
  )
  t.ok(large.take().reduce((sum, { length }) => sum + length, 0) <= CHUNK_BYTES)
})

t.test(
  'whatever is added and taken: every event comes once in order, or is in a hole that is there',
  async () => {
    const anyStep = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ take: fc.boolean() }),
      fc.record({ message: fc.constant(true) })
    )
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
        const outbox = outboxOf(12, 700)
        let next = 1
        const taken: Message[] = []
        for (const step of steps) {
          if ('add' in step) {
            outbox.add(framesOf(Array.from({ length: step.add }, () => next++)))
            if (outbox.events > 12) return false
          } else if ('take' in step) {
            for (const bytes of outbox.take())
              for (const text of textsOf(bytes)) taken.push(JSON.parse(text) as Message)
            if (step.take) outbox.sent()
          } else outbox.message(messageFrame({ type: 'pong' }))
        }
        taken.push(...takeAll(outbox))
        let expected = 1
        for (const message of taken) {
          if (message.type === 'pong') continue
          if (message.code === 'events_dropped') {
            if (message['from_cursor'] !== expected - 1) return false
            if ((message['to_cursor'] as number) - expected + 1 !== message['dropped']) return false
            expected = (message['to_cursor'] as number) + 1
          } else if (message.cursor !== expected++) return false
        }
        return expected === next
      }),
      randomRuns(100)
    )
  }
)
