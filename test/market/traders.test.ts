import fc from 'fast-check'
import t from 'tap'
import { keyHash } from '../../src/market/hyperloglog.ts'
import {
  addTraders,
  addTradersForever,
  addTradersOfMinutes,
  NO_TRADERS,
  TraderUnion
} from '../../src/market/traders.ts'
import type { TraderSketch } from '../../src/market/traders.ts'
import { randomRuns } from '../random-runs.ts'

interface Sighting {
  readonly hash: number
  readonly minute: number
}

const hashOf = (wallet: number): number =>
  keyHash(Uint8Array.from({ length: 32 }, (_, i) => wallet >> (8 * (i % 3))))

/** Few and many wallets, so that lists remain lists, become registers halfway, or are exceeded. */
const sightings = fc
  .tuple(fc.constantFrom(5, 255, 256, 257, 400, 5_000), fc.integer({ min: 1, max: 600 }), fc.nat())
  .map(([wallets, count, seed]) => seen(wallets, count, seed))

function seen(wallets: number, count: number, seed: number): Sighting[] {
  let state = seed
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return Array.from({ length: count }, () => ({ hash: hashOf(next(wallets)), minute: next(60) }))
}

function sketchOf(list: readonly Sighting[], batch = 1): TraderSketch {
  let sketch = NO_TRADERS
  for (let at = 0; at < list.length; at += batch) {
    const part = list.slice(at, at + batch)
    for (const minute of new Set(part.map((each) => each.minute))) {
      const hashes = part.filter((each) => each.minute === minute).map(({ hash }) => hash)
      sketch = addTraders(sketch, hashes, minute)
    }
  }
  return sketch
}

function countOf(sketch: TraderSketch, fromMinute = 0): number {
  const union = new TraderUnion()
  union.add(sketch, fromMinute)
  return union.count
}

const distinct = (list: readonly Sighting[]): number => new Set(list.map(({ hash }) => hash)).size

t.test(
  'the same traders in the same minutes give the same bytes, in any order and in any batches',
  async (t) => {
    fc.assert(
      fc.property(sightings, fc.integer({ min: 1, max: 300 }), (list, batch) => {
        const sketch = sketchOf(list)
        t.strictSame(sketchOf(list.toReversed(), batch), sketch)
        t.strictSame(
          sketchOf(
            list.toSorted((a, b) => a.minute - b.minute),
            batch
          ),
          sketch
        )
        t.equal(addTraders(sketch, [list[0]!.hash], list[0]!.minute), sketch, 'who is known changes no byte')
      }),
      randomRuns(30, 31)
    )
  }
)

t.test('traders of several minutes added at once give the bytes of one minute after another', async (t) => {
  fc.assert(
    fc.property(sightings, sightings, (before, added) => {
      const sketch = sketchOf(before.slice(0, 300))
      const minutes = [...Map.groupBy(added, ({ minute }) => minute)]
        .sort(([a], [b]) => a - b)
        .map(([minute, each]) => ({ minute, hashes: each.map(({ hash }) => hash) }))
      const oneByOne = minutes.reduce((sum, { minute, hashes }) => addTraders(sum, hashes, minute), sketch)
      t.strictSame(addTradersOfMinutes(sketch, minutes), oneByOne)
      t.equal(addTradersOfMinutes(sketch, []), sketch)
    }),
    randomRuns(30, 33)
  )
})

t.test('up to 256 traders are counted exactly, from any minute of the hour on', async (t) => {
  fc.assert(
    fc.property(sightings, fc.integer({ min: 0, max: 59 }), (list, from) => {
      const few = list.slice(0, 256)
      t.equal(countOf(sketchOf(few), from), distinct(few.filter(({ minute }) => minute >= from)))
    }),
    randomRuns(60, 32)
  )
})

t.test('what is asked from a minute on is what a sketch of those minutes alone would say', async (t) => {
  const list = seen(20_000, 12_000, 7)
  const sketch = sketchOf(list, 500)
  for (const from of [0, 1, 17, 30, 59]) {
    const late = sketchOf(
      list.filter(({ minute }) => minute >= from),
      500
    )
    const padded = addTraders(
      late,
      seen(300, 2_000, 8).map(({ hash }) => hash),
      59
    )
    const both = addTraders(
      sketch,
      seen(300, 2_000, 8).map(({ hash }) => hash),
      59
    )
    t.equal(countOf(both, from), countOf(padded, from))
  }
})

t.test('hours unite to the traders of all of them', async (t) => {
  fc.assert(
    fc.property(fc.array(sightings, { maxLength: 5 }), (hours) => {
      const few = hours.map((list) => list.slice(0, 120))
      const union = new TraderUnion()
      for (const list of few) union.add(sketchOf(list))
      t.equal(union.count, distinct(few.flat()), 'exact while every hour is')
      const all = hours.flat()
      const estimate = new TraderUnion()
      for (const list of hours) estimate.add(sketchOf(list, 100))
      const error = Math.abs(estimate.count - distinct(all)) / Math.max(distinct(all), 1)
      t.ok(error < 0.115, `five standard errors: ${error}`)
    }),
    randomRuns(30, 33)
  )
})

t.test('a list and registers unite as one set', async (t) => {
  const many = seen(1_000_000, 4_000, 1)
  const few = many.slice(0, 100)
  const union = new TraderUnion()
  union.add(sketchOf(few))
  union.add(sketchOf(many, 500))
  t.equal(union.count, countOf(sketchOf(many, 500)))
})

t.test('sketches of hours and of all time do not mix', async (t) => {
  const hashes = Array.from({ length: 300 }, (_, i) => hashOf(i))
  const union = new TraderUnion()
  union.add(addTraders(NO_TRADERS, hashes, 0))
  union.add(addTradersForever(NO_TRADERS, hashes))
  t.throws(() => union.count, RangeError)
})

t.test(
  'a hundred thousand traders are estimated within five standard errors, by the hour and for all time',
  async (t) => {
    for (const [seed, wallets] of [300, 3_000, 5_000, 10_000, 100_000].entries()) {
      const hashes = Array.from({ length: wallets }, (_, i) => hashOf(i + seed * 1_000_000))
      t.equal(new Set(hashes).size, wallets)
      let hour = NO_TRADERS
      let ever = NO_TRADERS
      for (let at = 0; at < wallets; at += 1_000) {
        hour = addTraders(hour, hashes.slice(at, at + 1_000), Math.floor((at / wallets) * 60))
        ever = addTradersForever(ever, hashes.slice(at, at + 1_000))
      }
      t.ok(Math.abs(countOf(hour) / wallets - 1) < 5 * 0.023, `${countOf(hour)} of ${wallets}`)
      t.ok(Math.abs(countOf(ever) / wallets - 1) < 5 * 0.0163, `${countOf(ever)} of ${wallets}`)
      t.ok(hour.length < 20_000 && ever.length === 4_097, `${hour.length} bytes`)
    }
  }
)

t.test('a sketch grows to a stated size', async (t) => {
  const hashes = Array.from({ length: 257 }, (_, i) => hashOf(i))
  t.equal(addTraders(NO_TRADERS, [], 3).length, 0)
  t.equal(addTraders(NO_TRADERS, hashes.slice(0, 1), 3).length, 8)
  t.equal(addTraders(NO_TRADERS, hashes.slice(0, 256), 3).length, 1 + 256 * 7)
  const registers = addTraders(NO_TRADERS, hashes, 3)
  t.equal(registers[0], 2)
  t.ok(registers.length <= 1 + 2_048 + 2 * 257)
})

t.test('the mean error of many estimates is near none: the estimator has no bias', async (t) => {
  const errors = Array.from({ length: 60 }, (_, run) => {
    const wallets = 5_000
    const hashes = Array.from({ length: wallets }, (_, i) => hashOf(i + run * wallets))
    return countOf(addTraders(NO_TRADERS, hashes, 0)) / wallets - 1
  })
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length
  const deviation = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length)
  t.ok(Math.abs(mean) < 0.012, `mean ${mean}`)
  t.ok(deviation > 0.012 && deviation < 0.033, `standard error ${deviation}, stated 0.023`)
})
