import fc from 'fast-check'
import t from 'tap'
import { readLines, type Line } from '../../src/recorded/lines.ts'
import { randomRuns } from '../random-runs.ts'

t.test('lines are the same however the bytes arrive', async (t) => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '\u{1F600}', ' ', '\r', '{'), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (lines, sizes) => {
        const text = lines.join('\n')
        const read = await linesOf(chunksOf(Buffer.from(text), sizes), 1000)
        const expected = lines.flatMap((each, i) => (each.trim() === '' ? [] : [[i + 1, each]]))
        t.same(
          read.map((each) => [each.number, each.text]),
          expected
        )
        const bytes = Buffer.from(text)
        for (const { start, length, text } of read) {
          t.equal(bytes.subarray(start, start + length).toString(), text, 'start and length address the line')
        }
      }
    ),
    randomRuns(60, 7)
  )
})

t.test('a line that is too long is passed over without being kept, and the next is whole', async (t) => {
  const bytes = Buffer.from(`ab\n${'x'.repeat(50)}\ncd`)
  const read = await linesOf(chunksOf(bytes, [7]), 10)
  t.same(read, [
    { number: 1, start: 0, length: 2, text: 'ab' },
    { number: 2, start: 3, length: 50, text: null },
    { number: 3, start: 54, length: 2, text: 'cd' }
  ])
})

t.test('a fault comes after the lines before it', async (t) => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('a\nb')
    throw new Error('cut')
  }
  const seen: (string | null)[] = []
  await t.rejects(async () => {
    for await (const { text } of readLines(broken(), 10)) seen.push(text)
  }, new Error('cut'))
  t.same(seen, ['a'])
})

async function* chunksOf(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!
    yield bytes.subarray(at, at + size)
    at += size
  }
}

async function linesOf(bytes: AsyncIterable<Buffer>, bytesMax: number): Promise<Line[]> {
  const lines: Line[] = []
  for await (const line of readLines(bytes, bytesMax)) lines.push(line)
  return lines
}
