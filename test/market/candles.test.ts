import fc from 'fast-check'
import t from 'tap'
import { samePubkey } from '../../src/chain/pubkey.ts'
import { bucketStart, intervalSeconds } from '../../src/market/buckets.ts'
import { foldCandles, foldRows, mergeCandles } from '../../src/market/candles.ts'
import { legOf } from '../../src/market/legs.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type { Candle, Ohlc, TradeRow } from '../../src/market/rows.ts'
import { randomRuns } from '../random-runs.ts'
import { ingestAll } from './memory-store.ts'
import { anyChain, anyChainWithFallingTimes, block, buy, NOON, OPTIONS, sell, SOL, solSale } from './world.ts'

const at = (text: string) => Date.parse(`${text}Z`) / 1000

t.test('buckets start on their multiples, in UTC', async (t) => {
  const time = at('2026-08-27T13:47:31')
  const starts = INTERVALS.map((interval) => bucketStart(interval, time))
  t.same(
    starts,
    [
      '2026-08-27T13:47:00',
      '2026-08-27T13:45:00',
      '2026-08-27T13:45:00',
      '2026-08-27T13:30:00',
      '2026-08-27T13:00:00',
      '2026-08-27T12:00:00',
      '2026-08-27T00:00:00',
      '2026-08-24T00:00:00'
    ].map(at)
  )
})

t.test('a week starts on Monday at midnight', async (t) => {
  const monday = at('2026-08-24T00:00:00')
  t.equal(bucketStart('1w', monday), monday)
  t.equal(bucketStart('1w', monday - 1), monday - intervalSeconds('1w'))
  t.equal(bucketStart('1w', monday + intervalSeconds('1w') - 1), monday)
  t.equal(bucketStart('1w', 0), at('1969-12-29T00:00:00'))
})

t.test('every smaller bucket lies within one larger bucket', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e9 }), (time) =>
      INTERVALS.every(
        (interval) => bucketStart(interval, bucketStart('1m', time)) === bucketStart(interval, time)
      )
    ),
    { seed: 4 }
  )
  t.pass()
})

t.test('a candle holds prices of price-forming rows, and volumes and counts of all rows', async (t) => {
  const warmUp = block(1, NOON - 60, [solSale(200)])
  const rows = [
    buy(1_000_000_000n, 1_000_000n), // 1 SOL each
    buy(4_000_000_000n, 2_000_000n), // 2
    sell(1_000_000n, 500_000_000n), // 0.5
    buy(50_000_000_000n, 1_000_000n), // 50: an outlier
    sell(999n, 1_000_000n), // dust
    buy(1_500_000_000n, 1_000_000n) // 1.5
  ]
  const { folds } = ingestAll([warmUp, block(2, NOON, rows)], OPTIONS)
  const minute = folds[1]!.candles.find(({ interval }) => interval === '1m')!.candle
  t.same(
    folds[1]!.trades.map((row) => row.priceForming),
    [true, true, true, false, false, true]
  )
  t.same(minute, {
    ts: NOON,
    native: { open: 1, high: 2, low: 0.5, close: 1.5 },
    usd: { open: 200, high: 400, low: 100, close: 300 },
    nativeRaw: { open: 1, high: 50, low: 0.5, close: 1.5 },
    usdRaw: { open: 200, high: 10_000, low: 100, close: 300 },
    volumeToken: 6_000_999n,
    volumeCash: 57_001_000_000n,
    volumeMicroUsd: 11_400_200_000n,
    trades: 6,
    buys: 4
  })
})

t.test('a bucket with no price-forming row has no price but its raw ones', async (t) => {
  const { folds } = ingestAll([block(2, NOON, [sell(999n, 999_000n)])], OPTIONS)
  const { candle } = folds[0]!.candles[0]!
  t.equal(candle.native, null)
  t.equal(candle.usd, null)
  t.same(candle.nativeRaw, { open: 1, high: 1, low: 1, close: 1 })
  t.equal(candle.usdRaw, null, 'the price of SOL is not known')
  t.equal(candle.trades, 1)
})

t.test('a row without a USD price adds to volumes in cash, not in USD', async (t) => {
  const chain = [
    block(1, NOON, [buy(1_000_000_000n, 1_000_000n)]),
    block(2, NOON + 1, [solSale(200), buy(2_000_000_000n, 1_000_000n)])
  ]
  const { folds } = ingestAll(chain, OPTIONS)
  const { candle } = folds[1]!.candles.findLast(({ interval }) => interval === '1m')!
  t.same(candle.native, { open: 1, high: 2, low: 1, close: 2 })
  t.same(candle.usd, { open: 400, high: 400, low: 400, close: 400 })
  t.equal(candle.volumeCash, 3_000_000_000n)
  t.equal(candle.volumeMicroUsd, 400_000_000n)
})

const anyOhlc = fc.option(
  fc.record({ open: fc.double(), high: fc.double(), low: fc.double(), close: fc.double() })
) as fc.Arbitrary<Ohlc | null>
const anyCandle: fc.Arbitrary<Candle> = fc.record({
  ts: fc.constant(NOON),
  native: anyOhlc,
  usd: anyOhlc,
  nativeRaw: anyOhlc,
  usdRaw: anyOhlc,
  volumeToken: fc.bigInt(0n, 2n ** 70n),
  volumeCash: fc.bigInt(0n, 2n ** 70n),
  volumeMicroUsd: fc.bigInt(0n, 2n ** 70n),
  trades: fc.nat(),
  buys: fc.nat()
})

t.test('merging candles is associative', async (t) => {
  fc.assert(
    fc.property(anyCandle, anyCandle, anyCandle, (a, b, c) => {
      t.strictSame(mergeCandles(mergeCandles(a, b), c), mergeCandles(a, mergeCandles(b, c)))
    }),
    { seed: 5 }
  )
})

for (const [name, chains] of [
  ['times that never fall', anyChain],
  ['times that may fall', anyChainWithFallingTimes]
] as const) {
  // INVARIANTS 7
  t.test(`with ${name}, stored buckets equal the fold of 1m buckets and of rows, to the bit`, async (t) => {
    let buckets = 0
    fc.assert(
      fc.property(chains, (chain) => {
        const { store } = ingestAll(chain, OPTIONS)
        const groups = Map.groupBy(
          store.trades.filter((row) => row.cashSide !== null),
          pairName
        )
        const stored = Map.groupBy(store.rows.maps.candles, ([address]) => address.slice(0, 64))
        t.equal(stored.size, groups.size)
        for (const [pair, rows] of groups) {
          const minutes = foldRows(rows, '1m')
          for (const interval of INTERVALS) {
            const ours = [...store.rows.maps.candles]
              .filter(([address]) => address.startsWith(`${pair}${interval}`))
              .map(([, { candle }]) => candle)
              .sort((a, b) => a.ts - b.ts)
            t.strictSame(ours, foldRows(rows, interval))
            if (chains === anyChain) t.strictSame(ours, foldCandles(minutes, interval))
            buckets += ours.length
          }
        }
      }),
      randomRuns(30, 6)
    )
    t.ok(buckets > 500)
  })
}

t.test('the token of a pair of two cash mints is SOL, so that it has candles in dollars', async (t) => {
  const { folds } = ingestAll([block(2, NOON, [solSale(187.25)])], OPTIONS)
  const { mint, candle } = folds[0]!.candles[0]!
  t.ok(samePubkey(mint, SOL))
  t.equal(candle.native!.close, 187.25)
  t.equal(candle.usd!.close, 187.25)
  t.equal(candle.buys, 0)
})

function pairName(row: TradeRow): string {
  const side = row.cashSide!
  return String.fromCharCode(...row.mint) + String.fromCharCode(...legOf(row, side).mint)
}
