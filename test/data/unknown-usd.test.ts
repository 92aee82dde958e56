import t from 'tap'
import { candleBody } from '../../src/data/bodies/candle.ts'
import { sumsBody } from '../../src/revenue/bodies/revenue-sums.ts'
import { statsBody } from '../../src/data/bodies/stats.ts'
import { addTotals } from '../../src/market/totals.ts'
import { windowOf } from '../../src/market/windows.ts'
import { NO_SUMS } from '../../src/revenue/sums.ts'
import type { TotalsRow } from '../../src/market/activity-rows.ts'
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

const minute = {
  ...{ minute: 0, events: 5, trades: 5, buys: 5, sells: 0, liquidity: 0, launches: 0, priced: 3 },
  ...{
    volumeMicroUsd: 5_000_000n,
    buyMicroUsd: 5_000_000n,
    sellMicroUsd: 0n,
    volumeCash: 0n,
    volumeToken: 0n
  },
  ...{ openUsd: null, closeUsd: null }
}
const nothing = { now: windowOf([], 0, 60), before: null, activeTokens: 0 }
const totalsOf = (totals: TotalsRow) =>
  statsBody({ head: null, solPrice: null, windows: { '1h': nothing, '24h': nothing }, totals }, []).totals

t.test(
  'totals say how many trades their volume lacks; null if a part of them was never counted',
  async (t) => {
    const counted = addTotals(null, [{ sums: minute, traders: [] }], 1)!
    t.match(totalsOf(counted), { trades: 5, volume_usd: 5, unpriced_trades: 2 })
    const whole = addTotals(null, [{ sums: { ...minute, priced: 5 }, traders: [] }], 1)!
    t.notOk('unpriced_trades' in totalsOf(whole))
    const { unpriced: _, ...earlier } = counted
    const continued = addTotals(earlier, [{ sums: minute, traders: [] }], 1)!
    t.match(totalsOf(continued), { trades: 10, volume_usd: 10, unpriced_trades: null })
  }
)

t.test('sums of the ledger say how many rows they lack; null if some were never counted', async (t) => {
  const sums = { ...NO_SUMS, entries: 3, inflow: 9n, inflowMicroUsd: 1_000_000n, counted: 3 }
  t.notOk('unpriced_events' in sumsBody(sums))
  t.match(sumsBody({ ...sums, unpriced: 2 }), { inflow_usd: 1, unpriced_events: 2 })
  t.match(sumsBody({ ...sums, counted: 2 }), { unpriced_events: null })
})
