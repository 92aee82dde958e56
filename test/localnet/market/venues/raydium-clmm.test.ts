import assert from 'node:assert/strict'
import t from 'tap'
import { liquidityWorth } from '../../../../src/localnet/market/curves/concentrated.ts'
import { fullRange, sqrtPriceAtTick } from '../../../../src/localnet/market/curves/ticks.ts'
import type { ClmmPool } from '../../../../src/localnet/market/venues/raydium-clmm-pool.ts'
import { raydiumClmmPools } from '../../../../src/localnet/market/venues/raydium-clmm.ts'
import type { LiquidityChange } from '../../../../src/chain/events.ts'
import { PoolBench } from './pool-bench.ts'
import { assertCovered, poolsConform, vaultsOf } from './pool-conformance.ts'

poolsConform<ClmmPool>(t, {
  venue: raydiumClmmPools,
  program: 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK',
  feeBps: null,
  opensWith: 'liquidity',
  stated(pool, bench) {
    const state = bench.state(pool.address)
    const read = (at: number): bigint =>
      state.getBigUint64(at, true) | (state.getBigUint64(at + 8, true) << 64n)
    const tick = state.getInt32(269, true)
    assert.ok(sqrtPriceAtTick(tick) <= read(253) && sqrtPriceAtTick(tick + 1) > read(253))
    const held = vaultsOf(bench, pool)
    const owed = ([0, 1] as const).map((side) => state.getBigUint64(309 + 8 * side, true) + pool.lpFees[side])
    const worth = liquidityWorth(read(237), read(253), fullRange(60), 0n, 'down')
    assertCovered([held[0] - owed[0]!, held[1] - owed[1]!], worth)
    return held
  },
  fees({ amountIn, firstIn }, pool, before) {
    const side = firstIn ? 0 : 1
    const fee = pool.protocolFees[side] - before.protocolFees[side] + pool.lpFees[side] - before.lpFees[side]
    assert.ok(fee >= (amountIn * 25n) / 10_000n, 'at least 0.25 %')
    return [{ kind: 'trading', amount: fee }]
  }
})

t.test('what a position earned leaves with its liquidity, and only that is no liquidity', async (t) => {
  const bench = new PoolBench('earned')
  const { given: pool } = bench.runFor(bench.creator, (script) =>
    raydiumClmmPools.open(script, bench.newPool(), bench)
  )
  const side = pool.baseSide === 0 ? 1 : 0
  const removal = (by: Uint8Array): readonly [bigint, bigint] => {
    const before = vaultsOf(bench, pool)
    const { events, notes } = bench.run(by, (script) =>
      raydiumClmmPools.changeLiquidity(script, pool, by, -10, bench)
    )
    t.same(notes, [])
    const [removed] = events as LiquidityChange[]
    const paid = before[side] - vaultsOf(bench, pool)[side]
    return [side === 0 ? removed!.baseAmount : removed!.quoteAmount, paid]
  }
  const buy = { trader: bench.trader, isBuy: true, amountIn: 4_000_000_000n }
  bench.run(bench.trader, (script) => raydiumClmmPools.swap(script, pool, buy, bench))
  bench.run(bench.provider, (script) =>
    raydiumClmmPools.changeLiquidity(script, pool, bench.provider, 500, bench)
  )
  const [late, paidLate] = removal(bench.provider)
  t.equal(paidLate, late, 'who came after the trade earned nothing')
  const [liquidity, paid] = removal(bench.creator)
  // 0.25 % of the trade, minus the protocol's 12 % of it.
  const earned = 8_800_000n
  t.ok(paid - liquidity <= earned && paid - liquidity >= earned - 10n, `${paid - liquidity} earned`)
})
