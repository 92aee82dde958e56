import assert from 'node:assert/strict'
import t from 'tap'
import type { PhoenixMarket } from '../../../../src/localnet/market/venues/phoenix-market.ts'
import { phoenixMarkets } from '../../../../src/localnet/market/venues/phoenix.ts'
import { PoolBench } from './pool-bench.ts'
import { poolsConform } from './pool-conformance.ts'

poolsConform<PhoenixMarket>(t, {
  venue: phoenixMarkets,
  program: 'PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY',
  feeBps: 2,
  opensWith: 'nothing-shown',
  takesAll: false,
  stated(market, bench) {
    const state = bench.state(market.address)
    const [baseLot, quoteLot] = [state.getBigUint64(112, true), state.getBigUint64(192, true)]
    // Resting orders are covered by the maker's funds.
    const { bids, asks } = market.book
    const asked = asks.reduce((sum, { lots }) => sum + lots, 0n)
    const paid = bids.reduce((sum, { lots, price }) => sum + lots * price, 0n) / market.terms.baseLotsPerUnit
    assert.ok(asked <= market.makerBase && paid <= market.makerQuote)
    return [market.makerBase * baseLot, (market.makerQuote + market.fees) * quoteLot]
  },
  fees(_, market, before) {
    return [{ kind: 'trading', amount: (market.fees - before.fees) * market.terms.quoteLot }]
  },
  feeSide: ({ isBuy }) => (isBuy ? 'in' : 'out')
})

t.test('orders that run out are placed anew by their maker, who signs', async (t) => {
  const bench = new PoolBench('quotes')
  const { given: market } = bench.runFor(bench.creator, (script) =>
    phoenixMarkets.open(script, bench.newPool(), bench)
  )
  const signers: number[] = []
  for (let i = 0; i < 20; i++) {
    const swap = { trader: bench.trader, isBuy: true, amountIn: 700_000_000n }
    const { given, read, events } = bench.runFor(bench.trader, (script) =>
      phoenixMarkets.swap(script, market, swap, bench)
    )
    t.ok(given!.amountOut > 0n)
    t.equal(events.length, 1, 'placing orders is no event')
    signers.push(read.signerCount)
  }
  t.ok(signers.includes(1) && signers.includes(2), 'some trades meet orders, some bring new ones')
})

t.test('a maker does not take its own orders', async (t) => {
  const bench = new PoolBench('own orders')
  const { given: market } = bench.runFor(bench.creator, (script) =>
    phoenixMarkets.open(script, bench.newPool(), bench)
  )
  const swap = { trader: bench.creator, isBuy: true, amountIn: 1_000_000_000n }
  const { given } = bench.runFor(bench.creator, (script) => phoenixMarkets.swap(script, market, swap, bench))
  t.equal(given, null)
})
