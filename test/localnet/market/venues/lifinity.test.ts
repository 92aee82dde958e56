import assert from 'node:assert/strict'
import t from 'tap'
import { lifinityPools, type LifinityPool } from '../../../../src/localnet/market/venues/lifinity.ts'
import { PoolBench } from './pool-bench.ts'
import { poolsConform, vaultsOf } from './pool-conformance.ts'

poolsConform<LifinityPool>(t, {
  venue: lifinityPools,
  program: '2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c',
  feeBps: null,
  opensWith: 'liquidity-only',
  stated(pool, bench) {
    const state = Buffer.from(bench.ledger.data(pool.address)!)
    for (const [at, key] of [
      [158, pool.vaults[0]],
      [190, pool.vaults[1]],
      [222, pool.poolMint],
      [254, pool.mints[0]],
      [286, pool.mints[1]],
      [318, pool.feeAccount]
    ] as const) {
      assert.ok(state.subarray(at, at + 32).equals(key))
    }
    return vaultsOf(bench, pool)
  }
})

t.test('a trade is at the price of the oracle less the spread, whatever its size', async (t) => {
  const bench = new PoolBench('oracle')
  const { given: pool } = bench.runFor(bench.creator, (script) =>
    lifinityPools.open(script, bench.newPool(), bench)
  )
  const rates = [1_000_000n, 20_000_000_000n].map((amountIn) => {
    const before = lifinityPools.price(pool)
    const swap = { trader: bench.trader, isBuy: true, amountIn }
    const { given } = bench.runFor(bench.trader, (script) => lifinityPools.swap(script, pool, swap, bench))
    return (Number(given!.amountOut) / Number(amountIn)) * before
  })
  for (const rate of rates) t.ok(Math.abs(rate - 0.999) < 0.0001, `${rate} of the oracle's price`)
  t.equal(
    bench.runFor(bench.trader, (script) => {
      const tooMuch = { trader: bench.trader, isBuy: true, amountIn: 50_000_000_000n }
      return lifinityPools.swap(script, pool, tooMuch, bench)
    }).given,
    null
  )
})
