import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'
import { randomRuns } from '../random-runs.ts'

/** Texts around the longest one whose length takes one byte, of one and of several bytes a character. */
const anyText = fc.oneof(
  fc.string({ maxLength: 140 }),
  fc.string({ minLength: 120, maxLength: 135 }),
  fc.string({ unit: 'binary', maxLength: 140 }),
  fc
    .tuple(fc.string({ maxLength: 126 }), fc.constantFrom('\u007f', '\u0080', 'é', '😀'))
    .map((both) => both.join(''))
)

t.test('texts of any characters are written as their UTF-8 after its length', (t) => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 5 }), (texts) => {
      const out = new ByteWriter()
      const expected = new ByteWriter()
      for (const text of texts) {
        out.text(text)
        expected.bytes(Buffer.from(text, 'utf8'))
      }
      const written = out.take()
      assert.deepStrictEqual(written, expected.take())
      const source = new ByteReader(written)
      for (const text of texts) assert.equal(source.text(), text.toWellFormed())
    }),
    randomRuns(300)
  )
  t.end()
})
