import fc from 'fast-check'
import t from 'tap'
import {
  isTooDeep,
  JSON_DEPTH_MAX,
  JSON_VALUES_MAX,
  JsonBounds,
  jsonExcess,
  type JsonExcess
} from '../../src/kernel/json-depth.ts'
import { randomRuns } from '../random-runs.ts'

/** Counts the levels of a value. */
function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf))
}

const wrapped = (value: unknown, levels: number, isObject: (level: number) => boolean): unknown => {
  let whole = value
  for (let level = 0; level < levels; level++) whole = isObject(level) ? { '"[{\\': whole } : ['[{', whole]
  return whole
}

t.test(
  'the text of any JSON value is too deep exactly where the value has more levels than the limit',
  async (t) => {
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.integer({ min: 0, max: JSON_DEPTH_MAX + 3 }),
        fc.integer(),
        fc.constantFrom(0, 2),
        (inner, levels, kinds, space) => {
          const value = wrapped(inner, levels, (level) => ((kinds >> (level % 31)) & 1) === 1)
          const isDeep = levelsOf(value) > JSON_DEPTH_MAX
          seen.add(isDeep)
          return isTooDeep(Buffer.from(JSON.stringify(value, null, space))) === isDeep
        }
      ),
      randomRuns(2_000)
    )
    t.same([...seen].toSorted(), [false, true], 'both came up')
  }
)

t.test('text that is not JSON is judged by the levels that it opens', async (t) => {
  t.equal(isTooDeep(Buffer.from('['.repeat(JSON_DEPTH_MAX))), false)
  t.equal(isTooDeep(Buffer.from('['.repeat(JSON_DEPTH_MAX + 1))), true)
  t.equal(isTooDeep(Buffer.from('{"a":'.repeat(JSON_DEPTH_MAX + 1))), true)
  t.equal(isTooDeep(Buffer.from(`"${'['.repeat(200)}`)), false, 'a string that does not end')
  t.equal(isTooDeep(Buffer.from(']'.repeat(200))), false)
})

t.test('text that arrives in pieces is judged as a whole one, wherever it is cut', async () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(wrapped(value, 63, () => false))),
        fc.string({
          unit: fc.constantFrom('[', '{', ']', '}', '"', '\\', ',', 'é', 'x'.repeat(30)),
          maxLength: 200
        })
      ),
      fc.array(fc.nat({ max: 60 }), { maxLength: 20 }),
      (text, cuts) => {
        const bytes = Buffer.from(text)
        const whole = new JsonBounds(40).take(bytes)
        const pieces = new JsonBounds(40)
        let at = 0
        let excess: JsonExcess | null = null
        for (const cut of [...cuts, bytes.length]) {
          excess ??= pieces.take(bytes.subarray(at, at + cut))
          at += cut
        }
        return whole === excess
      }
    ),
    randomRuns(2_000)
  )
})

t.test('JSON of too many elements and members is named as such', async (t) => {
  t.equal(jsonExcess(Buffer.from(`[${'0,'.repeat(JSON_VALUES_MAX - 1)}0]`)), null)
  t.equal(jsonExcess(Buffer.from(`[${'0,'.repeat(JSON_VALUES_MAX)}0]`)), 'values')
  t.equal(jsonExcess(Buffer.from(`["${','.repeat(2 * JSON_VALUES_MAX)}"]`)), null, 'commas in a string')
})
