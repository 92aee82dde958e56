import fc from 'fast-check'
import t from 'tap'
import { humanAmount, microUsd, ratio } from '../../src/market/amount.ts'
import { isDust, judgePrice, priceOf } from '../../src/market/price.ts'
import type { PriceLevel } from '../../src/market/price.ts'
import { randomRuns } from '../random-runs.ts'
import { SOL, TOKEN, USD_COIN } from './world.ts'

const sol = (amount: bigint) => ({ mint: SOL, decimals: 9, amount })
const usdc = (amount: bigint) => ({ mint: USD_COIN, decimals: 6, amount })
const token = (amount: bigint, decimals = 6) => ({ mint: TOKEN, decimals, amount })

t.test('a price is cash over token in human units', async (t) => {
  t.equal(priceOf(sol(1_500_000_000n), token(3_000_000n)), 0.5)
  t.equal(priceOf(usdc(187_250_000n), sol(1_000_000_000n)), 187.25)
  t.equal(priceOf(sol(1n), token(1n, 0)), 1e-9)
  t.equal(priceOf(sol(1n), token(10n ** 15n, 18)), 1e-6)
  t.equal(priceOf(sol(5n), token(0n)), null, 'no token moved')
})

t.test('a price comes from the raw integers, not from rounded amounts', async (t) => {
  // The quotient of the rounded amounts ends in 4426e-8.
  t.equal(priceOf(sol(1_234_567_926n), token(35_000_123_456_854n)), 3.527324489360443e-8)
})

t.test('a ratio is the nearest double to the true quotient', async (t) => {
  const big = fc.oneof(fc.bigInt(1n, 2n ** 64n - 1n), fc.bigInt(1n, 10n ** 40n), fc.bigInt(1n, 5_000n))
  fc.assert(
    fc.property(big, big, (n, d) => {
      const error = distance(ratio(n, d), n, d)
      return [-1, 1].every((ulp) => error.isAtMost(distance(neighbour(ratio(n, d), ulp), n, d)))
    }),
    randomRuns(2_000, 2)
  )
  t.equal(ratio(0n, 10n ** 30n), 0)
  const halfway = (2n ** 53n + 1n) * 10n ** 18n
  t.equal(ratio(halfway, 10n ** 18n), 2 ** 53, 'a tie goes to the even neighbour')
  t.equal(ratio(halfway + 1n, 10n ** 18n), 2 ** 53 + 2, 'a hair above a tie goes up')
  t.equal(ratio(10n ** 274n, 1n), 1e274, 'the largest a u64 and a byte of decimals can give')
  t.equal(ratio(1n, 10n ** 274n), 1e-274)
})

t.test('amounts in human units are the nearest doubles', async (t) => {
  t.equal(humanAmount(18_446_744_073_709_551_615n, 9), 18446744073.709551615)
  t.equal(humanAmount(1n, 9), 1e-9)
  t.equal(humanAmount(123n, 0), 123)
  const nearSafe = fc.bigInt(-9n, 9n).map((more) => 2n ** 53n + more)
  fc.assert(
    fc.property(fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), nearSafe), fc.nat(255), (amount, decimals) =>
      Object.is(humanAmount(amount, decimals), ratio(amount, 10n ** BigInt(decimals)))
    ),
    randomRuns(1_000)
  )
})

t.test('the USD worth of a cash leg is rounded to a millionth', async (t) => {
  t.equal(microUsd(usdc(1_234_567n), 1), 1_234_567n)
  t.equal(microUsd({ ...usdc(1_234_567n), decimals: 9 }, 1), 1_235n)
  t.equal(microUsd({ ...usdc(12n), decimals: 2 }, 1), 120_000n)
  t.equal(microUsd(usdc(2n ** 60n + 1n), 1), 2n ** 60n + 1n, 'pegged amounts are exact')
  t.equal(microUsd(sol(2_000_000_000n), 187.5), 375_000_000n)
})

t.test('a leg below 1,000 base units is dust', async (t) => {
  t.equal(isDust(sol(10n ** 9n), token(999n), 100), true)
  t.equal(isDust(sol(10n ** 9n), token(1_000n), 100), false)
  t.equal(isDust({ mint: USD_COIN, decimals: 2, amount: 999n }, token(1_000n), 1), true)
  t.equal(isDust({ mint: USD_COIN, decimals: 2, amount: 1_000n }, token(1_000n), 1), false)
})

t.test('cash worth less than 0.01 USD is dust', async (t) => {
  t.equal(isDust(usdc(9_999n), token(1_000n), 1), true)
  t.equal(isDust(usdc(10_000n), token(1_000n), 1), false)
  t.equal(isDust(sol(99_999n), token(1_000n), 100), true)
  t.equal(isDust(sol(100_000n), token(1_000n), 100), false)
})

t.test('without a USD price, less than 0.0001 SOL is dust', async (t) => {
  t.equal(isDust(sol(99_999n), token(1_000n), null), true)
  t.equal(isDust(sol(100_000n), token(1_000n), null), false)
})

const EMPTY: PriceLevel = { recent: [], excluded: [] }

/** Judges prices one after another. */
function judgeAll(prices: readonly number[], start = EMPTY) {
  let level = start
  const forming = prices.map((price) => {
    const judged = judgePrice(level, price)
    level = judged.level
    return judged.forming
  })
  return { forming, level }
}

t.test('the first price of a pair forms', async (t) => {
  t.same(judgePrice(EMPTY, 3), { forming: true, level: { recent: [3], excluded: [] } })
})

t.test('a price forms up to 10 times above and below the median, and not beyond', async (t) => {
  const level = { recent: [1, 2, 4], excluded: [] }
  t.equal(judgePrice(level, 20).forming, true)
  t.equal(judgePrice(level, 20.001).forming, false)
  t.equal(judgePrice(level, 0.2).forming, true)
  t.equal(judgePrice(level, 0.1999).forming, false)
})

t.test('the median of an even number of prices is the mean of the middle two', async (t) => {
  const level = { recent: [100, 1, 2, 4], excluded: [] }
  t.equal(judgePrice(level, 30).forming, true)
  t.equal(judgePrice(level, 30.001).forming, false)
})

t.test('only the last 20 price-forming prices count', async (t) => {
  const climb = [...Array.from({ length: 20 }, () => 1), ...Array.from({ length: 20 }, () => 9)]
  const { level } = judgeAll(climb)
  t.same(
    level.recent,
    Array.from({ length: 20 }, () => 9)
  )
  t.equal(judgePrice(level, 90).forming, true, '90 is far from 1, within reach of 9')
})

t.test('an excluded price leaves the level as it was', async (t) => {
  const { forming, level } = judgeAll([1, 1, 50, 1])
  t.same(forming, [true, true, false, true])
  t.same(level, { recent: [1, 1, 1], excluded: [] })
})

t.test('the third excluded price in a row that agrees within 25 % moves the level', async (t) => {
  const { forming, level } = judgeAll([1, 1, 100, 125, 110, 104, 1])
  t.same(forming, [true, true, false, false, true, true, false], 'the old level is excluded from there on')
  t.same(level, { recent: [100, 125, 110, 104], excluded: [1] })
})

t.test('three excluded prices further apart than 25 % do not move the level', async (t) => {
  const { forming, level } = judgeAll([1, 100, 125.1, 110])
  t.same(forming, [true, false, false, false])
  t.same(level, { recent: [1], excluded: [100, 125.1, 110] })
  t.equal(judgePrice(level, 120).forming, true, 'only the three newest need to agree')
})

t.test('a price at the old level starts the count of agreeing ones anew', async (t) => {
  t.same(judgeAll([1, 100, 100, 1, 100, 100, 100]).forming, [true, false, false, true, false, false, true])
})

function neighbour(value: number, ulps: number): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(ulps))
  return view.getFloat64(0)
}

/** |value − n/d| as an exact fraction. */
function distance(value: number, n: bigint, d: bigint) {
  let exponent = 0
  while (!Number.isInteger(value)) {
    value *= 2
    exponent++
  }
  const scale = 2n ** BigInt(exponent)
  const difference = BigInt(value) * d - n * scale
  const numerator = difference < 0n ? -difference : difference
  const denominator = scale * d
  return {
    numerator,
    denominator,
    isAtMost: (other: { numerator: bigint; denominator: bigint }) =>
      numerator * other.denominator <= other.numerator * denominator
  }
}
