import t from 'tap'
import { candleBody } from '../../src/api/candle.ts'
import type { Candle } from '../../src/market/rows.ts'

const prices = { open: 1, high: 1, low: 1, close: 1 }
const unpriced: Candle = {
  ts: 0,
  native: prices,
  usd: null,
  nativeRaw: prices,
  usdRaw: null,
  volumeToken: 10n,
  volumeCash: 10n,
  volumeMicroUsd: 0n,
  trades: 1,
  buys: 1
}
const priced: Candle = { ...unpriced, ts: 60, usdRaw: prices, volumeMicroUsd: 5_000_000n }
const view = {
  currency: 'native',
  decimals: 0,
  cashDecimals: 0,
  intervalSeconds: 60,
  headTime: 0,
  archiveEnd: null
} as const

t.test('a bucket in which no row has a USD price has a volume of null in USD, not of zero', async (t) => {
  t.equal(candleBody(unpriced, prices, view).volume_usd, null)
  t.equal(candleBody(priced, prices, view).volume_usd, 5)
})

t.test('a bucket in which some rows have no value in USD says how many its volume lacks', async (t) => {
  t.notOk('unpriced_trades' in candleBody(priced, prices, view))
  const partial = candleBody({ ...priced, trades: 3, unpriced: 2 }, prices, view)
  t.match(partial, { volume_usd: 5, unpriced_trades: 2 })
})
