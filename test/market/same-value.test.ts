import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { sameValue } from '../../src/market/same-value.ts'
import { randomRuns } from '../random-runs.ts'

const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom(null, undefined, true, 0, -0, NaN, 1.5, 7n, 'text', ''),
    fc.uint8Array({ maxLength: 3 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3, noNullPrototype: true })
  )
})).value

t.test('values are alike where all that they hold is, and a copy is', async (t) => {
  let alike = 0
  fc.assert(
    fc.property(anyValue, anyValue, (a, b) => {
      t.equal(sameValue(a, b), isDeepStrictEqual(a, b))
      t.equal(sameValue(a, structuredClone(a)), true)
      if (sameValue(a, b)) alike++
    }),
    randomRuns(300, 41)
  )
  t.ok(alike > 0, `${alike} pairs were alike`)
})

t.test('a buffer is like an array of the same bytes', async (t) => {
  t.equal(sameValue({ key: Buffer.of(1, 2) }, { key: Uint8Array.of(1, 2) }), true)
  t.equal(sameValue({ key: Buffer.of(1, 2) }, { key: Uint8Array.of(1, 3) }), false)
})
