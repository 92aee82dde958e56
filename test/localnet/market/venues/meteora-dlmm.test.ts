import assert from 'node:assert/strict'
import t from 'tap'
import type { DlmmPool } from '../../../../src/localnet/market/venues/meteora-dlmm-pool.ts'
import { meteoraDlmmPools } from '../../../../src/localnet/market/venues/meteora-dlmm.ts'
import { poolsConform } from './pool-conformance.ts'

const feesTaken = ({ protocolFees, lpFees }: DlmmPool, side: 0 | 1) => ({
  protocol: protocolFees[side],
  lp: lpFees[side]
})

poolsConform<DlmmPool>(t, {
  venue: meteoraDlmmPools,
  program: 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo',
  feeBps: 25,
  opensWith: 'liquidity',
  stated(pool, bench) {
    const pair = bench.state(pool.address)
    assert.equal(pair.getInt32(76, true), pool.activeId)
    const held = [0, 1].map((side) => pair.getBigUint64(216 + 8 * side, true) + pool.lpFees[side as 0 | 1])
    for (const { address } of pool.arrays) {
      const bins = bench.state(address)
      for (let at = 56; at < 10_136; at += 144) {
        held[0]! += bins.getBigUint64(at, true)
        held[1]! += bins.getBigUint64(at + 8, true)
      }
    }
    return [held[0]!, held[1]!]
  },
  fees({ amountIn, firstIn }, pool, before) {
    const side = firstIn ? 0 : 1
    const lp = feesTaken(pool, side).lp - feesTaken(before, side).lp
    const protocol = feesTaken(pool, side).protocol - feesTaken(before, side).protocol
    const bins = BigInt(Math.abs(pool.activeId - before.activeId) + 1)
    const exact = (amountIn * 25n) / 10_000n
    assert.ok(lp + protocol >= exact && lp + protocol <= exact + 2n * bins, 'a quarter of a percent')
    return [
      { kind: 'lp', amount: lp },
      { kind: 'protocol', amount: protocol }
    ]
  }
})
