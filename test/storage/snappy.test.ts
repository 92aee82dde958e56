import { snappyUncompress } from 'hyparquet'
import fc from 'fast-check'
import t from 'tap'
import { snappyDecompressed } from '../../storage/embedded/engine-files/snappy.ts'
import { randomRuns } from '../random-runs.ts'

const MAX = 2 ** 20

t.test('literals and copies of every kind are decompressed', async (t) => {
  const literal = (text: string) => Buffer.concat([Buffer.of((text.length - 1) << 2), Buffer.from(text)])
  const stream = (length: number, ...elements: Buffer[]) => Buffer.concat([Buffer.of(length), ...elements])
  const near = Buffer.of(1 | (2 << 2), 4)
  const copy = Buffer.of(2 | (5 << 2), 3, 0)
  const far = Buffer.of(3 | (1 << 2), 4, 0, 0, 0)
  t.equal(
    snappyDecompressed(stream(18, literal('abcd'), near, copy, far), MAX).toString(),
    'abcdabcdabdabdabbd'
  )
  const long = 'x'.repeat(61)
  const longLiteral = Buffer.concat([Buffer.of(60 << 2, 60), Buffer.from(long)])
  t.equal(snappyDecompressed(stream(61, longLiteral), MAX).toString(), long)
  t.equal(snappyDecompressed(stream(0), MAX).length, 0)
})

t.test('bytes that do not follow the format are a RangeError', async (t) => {
  const wrong = {
    'fewer bytes than stated': [3, 0, 97],
    'more bytes than stated': [1, 1 << 2, 97, 98],
    'a copy before the first byte': [8, 0, 97, 1, 2],
    'a copy at distance 0': [8, 0, 97, 1, 0],
    'an end within a literal': [4, 3 << 2, 97],
    'no byte': []
  }
  for (const [name, bytes] of Object.entries(wrong))
    t.throws(() => snappyDecompressed(Buffer.from(bytes), MAX), RangeError, name)
  t.throws(() => snappyDecompressed(Buffer.of(255, 255, 127, 0), 1_000), /the limit is 1000/)
})

const anyElement = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 70 }).map((bytes) => ({
    size: bytes.length,
    stored: Buffer.concat([
      bytes.length <= 60 ? Buffer.of((bytes.length - 1) << 2) : Buffer.of(60 << 2, bytes.length - 1),
      bytes
    ])
  })),
  fc
    .record({ size: fc.integer({ min: 4, max: 11 }), distance: fc.integer({ min: 0, max: 300 }) })
    .map(({ size, distance }) => ({
      size,
      stored: Buffer.of(1 | ((size - 4) << 2) | ((distance >> 8) << 5), distance & 255)
    })),
  fc
    .record({ size: fc.integer({ min: 1, max: 64 }), distance: fc.integer({ min: 0, max: 300 }) })
    .map(({ size, distance }) => ({
      size,
      stored: Buffer.of(2 | ((size - 1) << 2), distance & 255, distance >> 8)
    }))
)

t.test('any elements are decompressed as by another decoder, or refused', async (t) => {
  let [read, refused] = [0, 0]
  fc.assert(
    fc.property(
      fc.array(anyElement, { maxLength: 12 }),
      fc.constantFrom(0, 0, 0, 1, -1),
      (elements, wrong) => {
        const length = Math.max(0, elements.reduce((sum, { size }) => sum + size, 0) + wrong)
        const head = length < 128 ? Buffer.of(length) : Buffer.of((length & 127) | 128, length >> 7)
        const stored = Buffer.concat([head, ...elements.map((element) => element.stored)])
        let own: Buffer
        try {
          own = snappyDecompressed(stored, MAX)
        } catch (error) {
          refused++
          t.type(error, RangeError)
          return
        }
        read++
        const other = new Uint8Array(length)
        snappyUncompress(stored, other)
        t.strictSame(new Uint8Array(own), other)
      }
    ),
    randomRuns(500)
  )
  t.ok(read > 50 && refused > 50, `${read} are read, ${refused} refused`)
})
