import fc from 'fast-check'
import t from 'tap'
import { slicedJson } from '../../src/kernel/http/sliced-json.ts'
import { openSlices, slicesOfTurn, SLICE_ROWS } from '../../src/kernel/work/slices.ts'
import { randomRuns } from '../random-runs.ts'

/** A value that JSON has no text for, or a date, among others. */
const leaf = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(undefined),
  fc.constant(() => 1),
  fc.date({ noInvalidDate: true }),
  fc.constantFrom(NaN, -0, Infinity, '\ud800', '\u2028')
)
const list = fc.array(leaf, { maxLength: 60, size: 'max' })
const body = fc.oneof(
  leaf,
  list,
  fc.dictionary(fc.string(), fc.oneof(leaf, list, fc.dictionary(fc.string(), list))),
  fc.record({ data: list, ['__proto__']: leaf, toJSON: fc.constant(undefined) })
)

t.test('JSON in slices is the text of JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(body, async (value) => (await slicedJson(value, openSlices)) === JSON.stringify(value)),
    randomRuns(1_000)
  )
})

t.test('each slice but the first takes a turn, and has at most as many rows as a slice', async (t) => {
  let turns = 0
  let [rows, most] = [0, 0]
  const turn = {
    again: async () => {
      turns++
      rows = 0
    }
  }
  const slices = slicesOfTurn(turn, new AbortController().signal, () => 0)
  const made = await slices.map(
    Array.from({ length: 1_000 }, (_, at) => at),
    (row, at) => {
      most = Math.max(most, ++rows)
      return row + at
    }
  )
  t.strictSame(
    made,
    Array.from({ length: 1_000 }, (_, at) => 2 * at)
  )
  t.equal(most, SLICE_ROWS)
  t.equal(turns, 1_000 / SLICE_ROWS - 1)
})

t.test('short lists of one answer share slices, also those that are made concurrently', async (t) => {
  let [turns, rows, most] = [0, 0, 0]
  const turn = {
    again: async () => {
      turns++
      rows = 0
    }
  }
  const slices = slicesOfTurn(turn, new AbortController().signal, () => 0)
  const short = Array.from({ length: 20 }, (_, at) => at)
  const make = (row: number): number => {
    most = Math.max(most, ++rows)
    return row
  }
  for (let list = 0; list < 5; list++) await slices.map(short, make)
  t.equal(turns, 0, 'they fit into the first slice')
  const lists = await slices.mapReads(short, () => slices.map(short, make))
  t.strictSame(
    lists,
    Array.from(short, () => short)
  )
  t.equal(most, SLICE_ROWS)
  t.ok(turns >= 4, 'four hundred rows more take as many slices')
})

t.test(
  'a slice of slow rows ends before it has all of them, and a turn that does not come ends the list',
  async (t) => {
    let now = 0
    let turns = 0
    const turn = {
      again: async () => {
        if (++turns === 3) throw new Error('too late')
      }
    }
    const slices = slicesOfTurn(turn, new AbortController().signal, () => now)
    let made = 0
    const slow = slices.map(Array.from({ length: 100 }), () => {
      now += 1
      made++
    })
    await t.rejects(slow, { message: 'too late' })
    t.equal(made, 30, 'ten rows a slice')
  }
)
