import fc from 'fast-check'
import t from 'tap'
import { mergeTraders } from '../../src/market/merged-traders.ts'
import { addTraders, addTradersForever, NO_TRADERS, type TraderSketch } from '../../src/market/traders.ts'
import { randomRuns } from '../random-runs.ts'

interface Trades {
  readonly minute: number
  readonly hashes: readonly number[]
}

const sketchOf = (trades: readonly Trades[]): TraderSketch =>
  trades.reduce((sketch, { minute, hashes }) => addTraders(sketch, hashes, minute), NO_TRADERS)

/** Traders of a few minutes, of whom some trade in both halves; many enough for an estimate, or few. */
const anyHalf = fc.array(
  fc.record({
    minute: fc.integer({ min: 0, max: 59 }),
    hashes: fc.oneof(
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 5 }),
      fc
        .record({ start: fc.integer({ min: 0, max: 300 }), count: fc.integer({ min: 100, max: 400 }) })
        .map(({ start, count }) => Array.from({ length: count }, (_, at) => start + at))
    )
  }),
  { maxLength: 6 }
)
/** Spreads numbers over the hashes of 48 bits. */
const spread = (trades: readonly Trades[]): Trades[] =>
  trades.map(({ minute, hashes }) => ({
    minute,
    hashes: hashes.map((n) => Number((BigInt(n + 1) * 0x9e37_79b9_7f4a_7c15n) % 2n ** 48n))
  }))

t.test(
  'merged traders have the bytes of one sketch of all, in either order, also of minutes of both',
  async (t) => {
    let estimated = 0
    fc.assert(
      fc.property(anyHalf, anyHalf, (first, second) => {
        const [a, b] = [spread(first), spread(second)]
        const all = sketchOf([...a, ...b])
        if (all[0] === 2) estimated++
        t.strictSame(mergeTraders(sketchOf(a), sketchOf(b)), all)
        t.strictSame(mergeTraders(sketchOf(b), sketchOf(a)), all)
      }),
      randomRuns(200)
    )
    t.ok(estimated > 20, `${estimated} unions are estimated`)
  }
)

t.test('traders of all time are refused, because they have no minutes', async (t) => {
  const many = Array.from({ length: 300 }, (_, at) => (at + 1) * 2 ** 33)
  const forever = addTradersForever(NO_TRADERS, many)
  const hour = addTraders(NO_TRADERS, many, 7)
  t.throws(() => mergeTraders(hour, forever), RangeError)
  t.throws(() => mergeTraders(forever, hour), RangeError)
})
