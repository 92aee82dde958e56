import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { LateRows } from '../../src/kernel/http/list/late-rows.ts'
import { Rendering } from '../../src/kernel/http/rendering.ts'
import { slicedJson, slicedRendering } from '../../src/kernel/http/sliced-json.ts'
import { openSlices, slicesOfTurn, SLICE_ROWS, type Slices } from '../../src/kernel/work/slices.ts'
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

t.test('rows that are made while they are written have the text of a list that was made before', async () => {
  await fc.assert(
    fc.asyncProperty(list, fc.nat(60), async (rows, count) => {
      const late = LateRows.of(rows, (row) => [row]).map(([row]) => row)
      assert.equal(await slicedJson({ data: late }, openSlices), JSON.stringify({ data: rows }))
      assert.deepEqual(await late.first(count).made(openSlices), rows.slice(0, count))
    }),
    randomRuns(300)
  )
})

t.test('a row is made after the one before it was written', async (t) => {
  let made = 0
  const late = LateRows.of(Array.from({ length: 300 }), () => ++made)
  await late.each(openSlices, (row, at) => {
    t.strictSame([row, made], [at + 1, at + 1])
    return 0
  })
  t.equal(made, 300)
})

t.test('a slice ends once it has written as much as a page of trades', async (t) => {
  let turns = 0
  const turn = { again: async () => void turns++ }
  const slices = slicesOfTurn(turn, new AbortController().signal, () => 0)
  await slices.each(Array.from({ length: 90 }), () => 20_000)
  t.equal(turns, 8, 'each slice has ten rows, the fewest between two readings of the clock')
})

t.test(
  'a rendering in slices has the bytes of JSON.stringify, in the form in which it is sent fastest',
  async () => {
    const rendered = fc.oneof(
      body,
      fc.record({ data: fc.array(fc.string({ unit: 'grapheme' }), { minLength: 25 }) })
    )
    await fc.assert(
      fc.asyncProperty(rendered, async (value) => {
        const text = JSON.stringify(value)
        if (text === undefined) return
        const [made, expected] = [await slicedRendering(value, openSlices), new Rendering(text)]
        assert.deepEqual(made.bytes, expected.bytes)
        assert.deepEqual(
          [made.tag, made.length, made.isText],
          [expected.tag, expected.length, expected.isText]
        )
      }),
      randomRuns(500)
    )
  }
)

t.test('a text longer than the shared memory, and two at a time, are whole', async (t) => {
  const rows = (length: number) => Array.from({ length }, (_, n) => `${n}`.repeat(40))
  const values = [rows(9_000), rows(300), ['é', ...rows(5_000)]]
  const made = await Promise.all(values.map((value) => slicedRendering(value, openSlices)))
  for (const [at, rendering] of made.entries())
    t.equal(rendering.bytes.toString(), JSON.stringify(values[at]))
})

t.test('a list whose turn fails leaves the memory to the next one', async (t) => {
  const list = Array.from({ length: 30 }, (_, n) => n)
  const fails: Slices = {
    map: () => Promise.reject(new Error('no turn')),
    each: () => Promise.reject(new Error('no turn')),
    mapReads: () => Promise.reject(new Error('no turn')),
    pause: openSlices.pause
  }
  await t.rejects(slicedRendering({ data: list }, fails), { message: 'no turn' })
  t.equal(
    (await slicedRendering({ data: list }, openSlices)).bytes.toString(),
    JSON.stringify({ data: list })
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
