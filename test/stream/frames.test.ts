import fc from 'fast-check'
import t from 'tap'
import type { EncodedEvent } from '../../src/market/log.ts'
import { eventFrames, mergedFrames, messageFrame, sliceOf, type Frames } from '../../src/stream/frames.ts'
import { textsOf } from './fake-pipe.ts'
import { randomRuns } from '../random-runs.ts'

const anyEvents = fc
  .uniqueArray(
    fc.record({ cursor: fc.nat({ max: 2 ** 52 }), text: fc.string({ unit: 'grapheme', maxLength: 90 }) }),
    {
      selector: ({ cursor }) => cursor,
      maxLength: 12
    }
  )
  .map((events) =>
    events
      .sort((a, b) => a.cursor - b.cursor)
      .map(({ cursor, text }): EncodedEvent & { text: string } => ({
        cursor,
        text,
        body: Buffer.from(`${JSON.stringify({ text }).slice(0, -1)},"cursor":`)
      }))
  )

t.test('frames of any events carry each as its message, keys in order', async () => {
  fc.assert(
    fc.property(anyEvents, fc.boolean(), (events, replay) => {
      const { bytes, cursors, ends } = eventFrames('pool:"x', events, replay)
      const expected = events.map(({ cursor, text }) =>
        JSON.stringify({
          type: 'event',
          channel: 'pool:"x',
          data: { text, cursor },
          cursor,
          ...(replay ? { replay: true } : {})
        })
      )
      const read = textsOf(bytes)
      return (
        JSON.stringify(read) === JSON.stringify(expected) &&
        cursors.every((cursor, index) => cursor === events[index]!.cursor) &&
        (ends.at(-1) ?? 0) === bytes.length
      )
    }),
    randomRuns(100)
  )
})

t.test('a frame of each length form is read as it was written', async (t) => {
  for (const length of [1, 100, 125, 126, 60_000, 70_000]) {
    const message = { type: 'x'.repeat(length) }
    t.same(textsOf(messageFrame(message)), [JSON.stringify(message)])
    const body = Buffer.from(`{"x":"${'y'.repeat(length)}","cursor":`)
    t.equal(textsOf(eventFrames('launches', [{ cursor: 5, body }], false).bytes).length, 1)
  }
})

t.test(
  'merged frames of channels are in cursor order, and slices of them put together are the whole',
  async () => {
    fc.assert(
      fc.property(fc.array(anyEvents, { minLength: 1, maxLength: 4 }), fc.nat(6), (lists, at) => {
        const parts = lists.map((events, index) => eventFrames(`c${index}`, events, false))
        const all = mergedFrames(parts)
        const sorted = [...all.cursors].sort((a, b) => a - b)
        const slices = [sliceOf(all, 0, at), sliceOf(all, at, Infinity)]
        return (
          JSON.stringify(all.cursors) === JSON.stringify(sorted) &&
          all.cursors.length === lists.flat().length &&
          textsOf(all.bytes).every((text, index) => text.includes(`"cursor":${all.cursors[index]}}`)) &&
          Buffer.concat(slices.map(({ bytes }) => bytes)).equals(all.bytes) &&
          slices.every(({ ends, bytes }) => (ends.at(-1) ?? 0) === bytes.length)
        )
      }),
      randomRuns(100)
    )
  }
)

t.test(
  'readers of the same channels share the merged frames of a block; others have their own',
  async (t) => {
    const [one, two, three] = ['c1', 'c2', 'c3'].map((channel, index) =>
      eventFrames(channel, [{ cursor: 9 - index, body: Buffer.from('{"cursor":') }], false)
    ) as [Frames, Frames, Frames]
    const first = mergedFrames([one, two])
    t.equal(mergedFrames([one, two]), first)
    t.same(mergedFrames([one, two, three]).cursors, [7, 8, 9])
    t.same(mergedFrames([one, three]).cursors, [7, 9])
    t.same(mergedFrames([one, two]).cursors, [8, 9])
    t.same(mergedFrames([two, one]).cursors, [8, 9])
    t.equal(mergedFrames([one]), one)
    t.same(mergedFrames([]).cursors, [])
  }
)
