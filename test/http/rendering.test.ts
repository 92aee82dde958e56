import { hash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { Rendering } from '../../src/kernel/http/rendering.ts'
import { randomRuns } from '../random-runs.ts'

t.test(
  'a text gives the bytes, the tag and the gzip form of its UTF-8, in whichever form it is sent',
  async (t) => {
    const text = fc.oneof(
      fc.string({ maxLength: 50 }),
      fc.string({ unit: 'grapheme', maxLength: 50 }),
      fc.nat(2000).map((n) => 'é'.repeat(n)),
      fc.integer({ min: 4000, max: 5000 }).map((n) => 'a'.repeat(n))
    )
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const bytes = Buffer.from(content)
        for (const rendering of [new Rendering(content), new Rendering(bytes)]) {
          t.strictSame(Buffer.from(rendering.payload), bytes)
          t.strictSame(rendering.bytes, bytes)
          t.equal(rendering.tag, hash('sha1', bytes, 'base64url'))
          t.equal(rendering.size, bytes.length)
          const packed = await rendering.pack()
          t.strictSame(gunzipSync(packed), bytes)
          t.equal(rendering.size, bytes.length + packed.length)
        }
      }),
      randomRuns(100)
    )
  }
)

t.test('a long answer has one tag as text and as bytes, and another one if a byte differs', async (t) => {
  const text = Array.from({ length: 40_000 }, (_, i) => String.fromCharCode(32 + (i % 95))).join('')
  fc.assert(
    fc.property(fc.integer({ min: 15_361, max: 40_000 }), fc.nat(), (length, at) => {
      const content = text.slice(0, length)
      const bytes = Buffer.from(content)
      const { tag } = new Rendering(content)
      t.match(tag, /^[\w-]{22}$/)
      t.equal(new Rendering(bytes).tag, tag)
      const other = Buffer.from(bytes)
      other[at % length]! ^= 1
      t.not(new Rendering(other).tag, tag)
      t.not(new Rendering(bytes.subarray(0, -1)).tag, tag)
    }),
    randomRuns(20)
  )
})

t.test('only a small text of ASCII is kept as text', async (t) => {
  t.type(new Rendering('a'.repeat(15 * 1024)).payload, 'string')
  t.type(new Rendering('a'.repeat(15 * 1024 + 1)).payload, Buffer)
  t.type(new Rendering('é').payload, Buffer)
})

t.test('a gzip form holds no more memory than its bytes', async (t) => {
  const texts = ['a', 'a'.repeat(100_000), Array.from({ length: 9_000 }, (_, i) => i ** 7).join()]
  for (const text of texts) {
    const packed = await new Rendering(text).pack()
    t.equal(packed.buffer.byteLength, packed.length, `${packed.length} bytes`)
  }
})
