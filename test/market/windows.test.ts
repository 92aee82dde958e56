import fc from 'fast-check'
import t from 'tap'
import { foldRows } from '../../src/market/candles.ts'
import type { Candle } from '../../src/market/rows.ts'
import { windowParts, windowStats } from '../../src/market/windows.ts'
import { ingestAll } from './memory-store.ts'
import { anyChain, NOON, OPTIONS } from './world.ts'

const DAY = 86_400

function candle(ts: number, price: number | null, cash = 10n): Candle {
  const ohlc = price === null ? null : { open: price, high: price, low: price, close: price }
  const usd = price === null ? null : { open: price * 2, high: price * 2, low: price * 2, close: price * 2 }
  const prices = { native: ohlc, usd, nativeRaw: ohlc, usdRaw: usd }
  return { ts, ...prices, volumeToken: 1n, volumeCash: cash, volumeMicroUsd: cash * 2n, trades: 3, buys: 2 }
}

t.test('a day that ends within an hour takes its edges from minutes and the rest from hours', async (t) => {
  t.same(windowParts(NOON + 1_845, DAY), [
    { interval: '1m', from: NOON + 1_860 - DAY, to: NOON + 3_600 - DAY },
    { interval: '1h', from: NOON + 3_600 - DAY, to: NOON },
    { interval: '1m', from: NOON, to: NOON + 1_860 }
  ])
})

t.test('a window within an hour, and one of whole hours, need one interval', async (t) => {
  t.same(windowParts(NOON + 1_845, 300), [{ interval: '1m', from: NOON + 1_560, to: NOON + 1_860 }])
  t.same(windowParts(NOON + 3_599, 3_600), [{ interval: '1h', from: NOON, to: NOON + 3_600 }])
})

t.test('the parts of a window cover it once, in order', async (t) => {
  const minutes = fc.integer({ min: 1, max: 3_000 })
  fc.assert(
    fc.property(fc.integer({ min: NOON, max: NOON + 2 * DAY }), minutes, (end, count) => {
      const parts = windowParts(end, count * 60)
      const to = Math.floor(end / 60) * 60 + 60
      t.equal(parts[0]!.from, to - count * 60)
      t.equal(parts.at(-1)!.to, to)
      for (const [i, part] of parts.entries()) {
        t.ok(part.from < part.to)
        if (i > 0) t.equal(part.from, parts[i - 1]!.to)
        if (part.interval === '1h') t.same([part.from % 3_600, part.to % 3_600], [0, 0])
      }
    }),
    { seed: 7, numRuns: 60 }
  )
})

t.test('a window sums its candles', async (t) => {
  t.match(windowStats([candle(NOON, 4), candle(NOON + 60, null, 5n)]), {
    trades: 6,
    buys: 4,
    volumeToken: 2n,
    volumeCash: 15n,
    volumeMicroUsd: 30n
  })
})

t.test('the change is counted from the last price before the window', async (t) => {
  const stats = windowStats(
    [candle(NOON, 4), candle(NOON + 60, 5)],
    [candle(NOON - DAY, 10), candle(NOON - 60, null)]
  )
  t.equal(stats.changePct, -50)
  t.equal(stats.changeUsdPct, -50)
})

t.test('without an earlier price the change is counted from the first of the window', async (t) => {
  t.equal(windowStats([candle(NOON, 4), candle(NOON + 60, 5)]).changePct, 25)
})

t.test('a window without trades has no change of a known price, and none of an unknown one', async (t) => {
  t.match(windowStats([], [candle(NOON, 4)]), { trades: 0, volumeCash: 0n, changePct: 0 })
  t.match(windowStats([candle(NOON, null)]), { trades: 3, changePct: null, changeUsdPct: null })
})

t.test('hours and minutes give the same window as the rows', async (t) => {
  fc.assert(
    fc.property(anyChain, fc.integer({ min: 1, max: 3_000 }), (chain, minutes) => {
      const { store } = ingestAll(chain, OPTIONS)
      const rows = store.trades.filter((row) => row.cashSide !== null && row.mint[0] === 1)
      const end = store.head!.blockTime
      const parts = windowParts(end, minutes * 60)
      const within = ({ from, to }: { from: number; to: number }, ts: number) => ts >= from && ts < to
      const candles = parts.flatMap((part) =>
        foldRows(rows, part.interval).filter(({ ts }) => within(part, ts))
      )
      const span = { from: parts[0]!.from, to: parts.at(-1)!.to }
      const plain = foldRows(rows, '1m').filter(({ ts }) => within(span, ts))
      t.strictSame(windowStats(candles), windowStats(plain))
    }),
    { seed: 8, numRuns: 40 }
  )
})
