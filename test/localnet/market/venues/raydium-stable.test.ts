import assert from 'node:assert/strict'
import t from 'tap'
import { invariantOf } from '../../../../src/localnet/market/curves/stable-swap.ts'
import { raydiumStablePools, type StablePool } from '../../../../src/localnet/market/venues/raydium-stable.ts'
import { PoolBench } from './pool-bench.ts'
import { poolsConform, vaultsOf } from './pool-conformance.ts'

poolsConform<StablePool>(t, {
  venue: raydiumStablePools,
  program: '5quBtoiQqxF9Jv6KYKctB59NT3gtJD2Y65kdnB1Uev3h',
  feeBps: null,
  opensWith: 'nothing-shown',
  product(pool, bench) {
    const state = Buffer.from(bench.ledger.data(pool.address)!)
    for (const [at, key] of [
      [368, pool.vaults[0]],
      [400, pool.vaults[1]],
      [432, pool.mints[0]],
      [464, pool.mints[1]],
      [496, pool.lpMint]
    ] as const) {
      assert.ok(state.subarray(at, at + 32).equals(key))
    }
    const [coin, pc] = vaultsOf(bench, pool)
    return invariantOf([coin * pool.weights[0], pc * pool.weights[1]])
  }
})

t.test(
  'around its first price a stable pool gives nearly that price, where a product would not',
  async (t) => {
    const bench = new PoolBench('flat')
    const { given: pool } = bench.runFor(bench.creator, (script) =>
      raydiumStablePools.open(script, bench.newPool(1_000_000_000_000n, 1_000_000_000_000n), bench)
    )
    const swap = { trader: bench.trader, isBuy: true, amountIn: 200_000_000_000n }
    const { given } = bench.runFor(bench.trader, (script) =>
      raydiumStablePools.swap(script, pool, swap, bench)
    )
    t.ok(given!.amountOut > 199_000_000_000n, `${given!.amountOut} for a fifth of the pool`)
    t.ok(given!.amountOut < 200_000_000_000n)
  }
)
