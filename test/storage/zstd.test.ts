import assert from 'node:assert/strict'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { compressed, uncompressed } from '../../storage/codec/zstd.ts'
import { randomRuns } from '../random-runs.ts'

/** Bytes of any length up to several of the chunks that a context is fed with, some of them similar. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.integer({ min: 1, max: 1_500 }))
    .map(([piece, times]) => new Uint8Array(Buffer.alloc(piece.length * times, piece))),
  fc.integer({ min: 0, max: 200_000 }).map((length) => new Uint8Array(length).map((_, i) => (i * i) % 251))
)

t.test('frames of one context, one after another, read back exactly here and by Node alone', async () => {
  fc.assert(
    fc.property(fc.array(anyBytes, { minLength: 1, maxLength: 4 }), (all) => {
      for (const bytes of all) {
        const frame = Uint8Array.from(compressed(bytes))
        assert.ok(Buffer.from(bytes).equals(zstdDecompressSync(frame)))
        assert.ok(Buffer.from(bytes).equals(uncompressed(frame, bytes.length)))
        assert.ok(Buffer.from(bytes).equals(uncompressed(zstdCompressSync(bytes), bytes.length)))
      }
    }),
    randomRuns(100, 12)
  )
})

t.test('an answer stays as it is while others are given', async (t) => {
  const frames = ['one', 'two'].map((text) => zstdCompressSync(Buffer.from(text.repeat(900))))
  const [one, two] = frames.map((frame) => uncompressed(frame, 2_700))
  t.equal(Buffer.from(one!).toString(), 'one'.repeat(900))
  t.equal(Buffer.from(two!).toString(), 'two'.repeat(900))
  t.not(one!.buffer, two!.buffer)
})

t.test(
  'what is no frame, cut short, too long or of another length is refused, and the next one is read',
  async (t) => {
    const bytes = Buffer.from('a trade '.repeat(500))
    const frame = zstdCompressSync(bytes)
    const refused: [string, Uint8Array, number][] = [
      ['no frame', Buffer.from('not compressed at all'), 21],
      ['cut short', frame.subarray(0, frame.length - 3), bytes.length],
      ['without bytes', new Uint8Array(0), bytes.length],
      ['two frames', Buffer.concat([frame, frame]), bytes.length],
      ['shorter than said', frame, bytes.length + 1],
      ['longer than said', frame, bytes.length - 1]
    ]
    for (const [what, given, length] of refused) {
      t.throws(() => uncompressed(given, length), what)
      t.ok(bytes.equals(uncompressed(frame, bytes.length)), `after what is ${what}`)
      // An uncaught error is reported once more.
      await yieldToEventLoop()
    }
  }
)
