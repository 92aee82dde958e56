import assert from 'node:assert/strict'
import t from 'tap'
import { liquidityWorth } from '../../../../src/localnet/market/curves/concentrated.ts'
import { fullRange, sqrtPriceAtTick } from '../../../../src/localnet/market/curves/ticks.ts'
import { orcaWhirlpoolPools, type Whirlpool } from '../../../../src/localnet/market/venues/orca-whirlpool.ts'
import { assertCovered, poolsConform, vaultsOf } from './pool-conformance.ts'

poolsConform<Whirlpool>(t, {
  venue: orcaWhirlpoolPools,
  program: 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc',
  feeBps: null,
  opensWith: 'liquidity',
  stated(pool, bench) {
    const state = bench.state(pool.address)
    const read = (at: number): bigint =>
      state.getBigUint64(at, true) | (state.getBigUint64(at + 8, true) << 64n)
    const tick = state.getInt32(81, true)
    if (sqrtPriceAtTick(tick) > read(65) || sqrtPriceAtTick(tick + 1) <= read(65))
      throw new Error('wrong tick')
    const held = vaultsOf(bench, pool)
    const owed = ([0, 1] as const).map((side) => state.getBigUint64(85 + 8 * side, true) + pool.lpFees[side])
    const worth = liquidityWorth(read(49), read(65), fullRange(64), 0n, 'down')
    assertCovered([held[0] - owed[0]!, held[1] - owed[1]!], worth)
    return held
  },
  fees({ amountIn, firstIn }, pool, before) {
    const side = firstIn ? 0 : 1
    const protocol = pool.protocolFees[side] - before.protocolFees[side]
    const lp = pool.lpFees[side] - before.lpFees[side]
    const fee = protocol + lp
    assert.ok(fee >= (amountIn * 3n) / 1000n, 'at least 0.3 %')
    assert.equal(protocol, (fee * 13n) / 100n)
    return [
      { kind: 'lp', amount: lp },
      { kind: 'protocol', amount: protocol }
    ]
  }
})
