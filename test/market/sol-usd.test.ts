import fc from 'fast-check'
import t from 'tap'
import {
  COLD_SOL_USD,
  advanceSolUsd,
  minuteOf,
  restoreSolUsd,
  solPriceAt,
  solTradeOf,
  solUsdAfter
} from '../../src/market/sol-usd.ts'
import type { SolTrade } from '../../src/market/sol-usd.ts'
import type { ChainEvent } from '../../src/chain/events.ts'
import { randomRuns } from '../random-runs.ts'
import { MemoryStore, ingest, ingestAll } from './memory-store.ts'
import { anyChain, block, buy, NOON, OPTIONS, PEGGED, solSale, TETHER, trade } from './world.ts'

const MINUTE = 60

/** Ingests blocks given as [seconds after noon, events]. */
function ingestAt(
  blocks: readonly (readonly [number, readonly ChainEvent[]])[],
  startingSolUsd: number | null = null
) {
  const chain = blocks.map(([seconds, events], i) => block(1_000 + i, NOON + seconds, events))
  return ingestAll(chain, { ...OPTIONS, startingSolUsd }).folds
}

const probe = buy(1_000_000_000n, 1_000_000_000n)
/** Returns the price that each block's probe was valued with. */
function pricesOf(folds: ReturnType<typeof ingestAt>) {
  return folds.map((fold) => fold.trades.findLast((row) => row.pool[0] === 100)?.cashUsd)
}

t.test('SOL trades for USDC and USDT worth at least 1 USD count, others do not', async (t) => {
  t.same(solTradeOf(solSale(200)), { price: 200, lamports: 1_000_000_000n })
  t.same(solTradeOf(solSale(200, 500_000_000n, TETHER)), { price: 200, lamports: 500_000_000n })
  t.same(solTradeOf(solSale(100, 10_000_000n)), { price: 100, lamports: 10_000_000n }, 'exactly 1 USD')
  t.equal(solTradeOf(solSale(99.9999, 10_000_000n)), null, 'less than 1 USD')
  t.equal(solTradeOf(solSale(200, 1_000_000_000n, PEGGED)), null, 'a pegged mint of the operator')
  t.equal(solTradeOf(probe), null)
  t.equal(solTradeOf(trade({ outMint: probe.inMint })), null, 'SOL for SOL')
})

t.test('a minute is priced by the volume-weighted median of the previous minute', async (t) => {
  const sales = [solSale(200, 3_000_000_000n), solSale(100, 1_000_000_000n), solSale(900, 1_500_000_000n)]
  const folds = ingestAt([
    [0, sales],
    [59, [probe]],
    [60, [probe, solSale(500)]],
    [119, [probe]]
  ])
  t.same(pricesOf(folds).slice(2), [200, 200], 'the trades of the minute itself change nothing')
  t.same(folds[2]!.solPrices, [{ minute: NOON + MINUTE, usd: 200, sourceMinute: NOON }])
  t.same(folds[3]!.solPrices, [], 'written once')
})

t.test('the weighted median is the lowest price at or below which half of the volume traded', async (t) => {
  const usdAfter = (trades: SolTrade[]) => advanceSolUsd(COLD_SOL_USD, NOON, trades, null).price!.usd
  t.equal(usdAfter([{ price: 7, lamports: 1n }]), 7)
  const half = [
    { price: 9, lamports: 5n },
    { price: 7, lamports: 2n },
    { price: 8, lamports: 3n }
  ]
  t.equal(usdAfter(half), 8)
  t.equal(usdAfter([...half, { price: 10, lamports: 1n }]), 9)
})

t.test('a quiet minute takes the newest earlier one, at most 60 minutes back', async (t) => {
  const folds = ingestAt([
    [0, [solSale(200)]],
    [60, [solSale(210)]],
    [3 * MINUTE, [probe]],
    [61 * MINUTE + 59, [probe]],
    [62 * MINUTE, [probe]]
  ])
  t.same(pricesOf(folds).slice(2), [210, 210, null])
  t.same(folds[3]!.solPrices, [{ minute: NOON + 61 * MINUTE, usd: 210, sourceMinute: NOON + MINUTE }])
  t.same(folds[4]!.solPrices, [])
  t.equal(folds[4]!.trades[0]!.priceForming, true, 'the price in SOL needs no dollar')
})

t.test('the first block with trades after a hole prices its own minute', async (t) => {
  const folds = ingestAt([
    [0, [solSale(200)]],
    [7_200, [probe]],
    [7_210, [probe, solSale(300), probe]],
    [7_220, [probe, solSale(310)]],
    [7_260, [probe]]
  ])
  t.same(pricesOf(folds).slice(1), [null, 300, 300, 300])
  t.same(
    folds[2]!.trades.map((row) => row.cashUsd),
    [300, 1, 300],
    'rows before its trade as well'
  )
  t.same(folds[2]!.solPrices, [{ minute: NOON + 7_200, usd: 300, sourceMinute: NOON + 7_200 }])
  t.same(folds[4]!.solPrices, [{ minute: NOON + 7_260, usd: 300, sourceMinute: NOON + 7_200 }])
})

t.test('the first block with trades at a cold start prices its own minute', async (t) => {
  const folds = ingestAt([
    [0, [probe]],
    [1, [probe, solSale(250)]]
  ])
  t.same(pricesOf(folds), [null, 250])
})

t.test('a starting value stands in until the chain gives a price, and never after', async (t) => {
  const folds = ingestAt(
    [
      [0, [probe]],
      [60, [probe]],
      [70, [probe, solSale(250)]],
      [80, [probe]],
      [10_000, [probe]]
    ],
    150
  )
  t.same(pricesOf(folds), [150, 150, 250, 250, null])
  t.same(folds[1]!.solPrices, [{ minute: NOON + 60, usd: 150, sourceMinute: null }])
  t.same(folds[2]!.solPrices, [{ minute: NOON + 60, usd: 250, sourceMinute: NOON + 60 }])
})

t.test('USD-pegged cash is worth 1 USD whatever SOL does', async (t) => {
  for (const inMint of [TETHER, PEGGED]) {
    const [fold] = ingestAt([[0, [trade({ inMint, inDecimals: 6, inAmount: 5_000_000n })]]])
    t.equal(fold!.trades[0]!.cashUsd, 1)
    t.equal(fold!.candles[0]!.candle.volumeMicroUsd, 5_000_000n)
  }
})

t.test('a block whose time falls prices nothing, and takes the newest price that is not newer', async (t) => {
  const folds = ingestAt([
    [0, [solSale(200)]],
    [60, [probe, solSale(220)]],
    [30, [probe, solSale(999, 9_000_000_000n)]],
    [120, [probe]]
  ])
  t.same(pricesOf(folds).slice(1), [200, 200, 220])
})

t.test(
  'a row is priced by trades of its own minute at the newest, and 60 minutes back at the oldest',
  async (t) => {
    const folds = ingestAt([
      [0, [solSale(200)]],
      [2 * 7_200, [probe, solSale(300)]],
      [2 * 7_200 - 1, [probe]],
      [7_200, [probe, solSale(999)]],
      [-86_400 * 700, [probe, solSale(7)]],
      [2 * 7_200 + 60, [probe]]
    ])
    t.same(pricesOf(folds).slice(1), [300, null, null, null, 300], 'years older too')

    const row = { minute: NOON + 60, usd: 200, sourceMinute: NOON }
    const times = [NOON - 1, NOON, NOON + 59, NOON + 60, NOON + 60 * MINUTE, NOON + 61 * MINUTE]
    t.same(
      times.map((time) => solPriceAt(row, time)),
      [null, row, row, row, row, null]
    )
    const starting = { minute: NOON, usd: 150, sourceMinute: null }
    t.same(
      [NOON - 86_400, NOON + 59, NOON + 60].map((time) => solPriceAt(starting, time)),
      [starting, starting, null]
    )
    t.equal(solPriceAt(null, NOON), null)
  }
)

t.test('a restart at any block restores the same SOL price state', async (t) => {
  const byPrice = (a: SolTrade, b: SolTrade) => a.price - b.price || Number(a.lamports - b.lamports)
  const sorted = (state: typeof COLD_SOL_USD) => ({ ...state, trades: state.trades.toSorted(byPrice) })
  let prices = 0
  fc.assert(
    fc.property(anyChain, fc.option(fc.constant(150)), (chain, startingSolUsd) => {
      const store = new MemoryStore()
      const warm = store.restart()
      for (const at of chain) {
        const fold = ingest(store, warm, at, { ...OPTIONS, startingSolUsd })
        prices += fold.solPrices.length
        t.strictSame(sorted(store.restoreSolUsd()), sorted(warm.solUsd))
      }
    }),
    randomRuns(60, 3)
  )
  t.ok(prices > 100, 'the chains priced many minutes')
})

t.test(
  'the first block after an archive has the price that it has in one store, also after a restart',
  async (t) => {
    let inherited = 0
    fc.assert(
      fc.property(anyChain, (chain) => {
        const store = new MemoryStore()
        const warm = store.restart()
        for (const at of chain) {
          const end = warm.solUsd
          const fold = ingest(store, warm, at, OPTIONS)
          if (minuteOf(at.blockTime) < end.minute) continue
          const before = solUsdAfter(end, at.blockTime)
          const trades = at.entries.flatMap(({ event }) =>
            event.kind === 'trade' ? (solTradeOf(event) ?? []) : []
          )
          const live = advanceSolUsd(before ?? COLD_SOL_USD, at.blockTime, trades, null)
          t.strictSame(live.price, fold.solUsd.price)
          if (before === null) continue
          inherited++
          t.not(live.price, before.price, 'its minute gets a row of its own')
          const rows = fold.trades
          const restored = restoreSolUsd({ ...fold.slot }, live.price, rows)
          t.same([restored.minute, restored.price, restored.fromChain], [live.minute, live.price, true])
          t.equal(restored.trades.length, live.trades.length)
        }
      }),
      randomRuns(60, 3)
    )
    t.ok(inherited > 20, 'many blocks inherit a price')
  }
)

t.test('an archive that ends more than an hour before leaves no price', async (t) => {
  const end = advanceSolUsd(COLD_SOL_USD, NOON, [{ price: 200, lamports: 1n }], null)
  t.match(solUsdAfter(end, NOON + 60 * MINUTE + 59)?.price, { usd: 200, sourceMinute: NOON })
  t.equal(solUsdAfter(end, NOON + 61 * MINUTE), null)
  t.equal(solUsdAfter(end, NOON - 1), null, 'nor does one that ends later')
  t.equal(solUsdAfter(COLD_SOL_USD, NOON), null)
  const operators = advanceSolUsd(COLD_SOL_USD, NOON, [], 150)
  t.equal(solUsdAfter(operators, NOON), null, 'nor does a starting value of the operator')
})
