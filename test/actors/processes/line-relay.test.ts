import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { LINE_LENGTH_MAX, relayLines } from '../../../actors/processes/line-relay.ts'
import { randomRuns } from '../../random-runs.ts'

/** Relays bytes that arrive in pieces. */
async function relayed(pieces: readonly Uint8Array[]): Promise<string[]> {
  const stream = new PassThrough()
  const lines: string[] = []
  relayLines(stream, (line) => lines.push(line))
  for (const piece of pieces) stream.write(piece)
  stream.end()
  await new Promise((resolve) => stream.on('close', resolve))
  return lines
}

t.test('lines arrive whole, however their bytes do', async (t) => {
  const text = fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll(/[\n\r]/g, ''))
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { maxLength: 20 }),
      fc.integer({ min: 1, max: 7 }),
      async (lines, size) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size)
        )
        t.strictSame(await relayed(pieces), lines)
      }
    ),
    randomRuns(50)
  )
})

t.test('a last line without an end is passed on, and a line that is too long in pieces', async (t) => {
  t.strictSame(await relayed([Buffer.from('a\nb')]), ['a', 'b'])
  const long = 'x'.repeat(LINE_LENGTH_MAX + 3)
  t.strictSame(await relayed([Buffer.from(`${long}\ny\n`)]), ['x'.repeat(LINE_LENGTH_MAX), 'xxx', 'y'])
})
