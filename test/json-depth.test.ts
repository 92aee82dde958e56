import fc from 'fast-check'
import t from 'tap'
import { isTooDeep, JSON_DEPTH_MAX } from '../src/json-depth.ts'
import { randomRuns } from './random-runs.ts'

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
