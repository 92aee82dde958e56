import t from 'tap'
import { liquidityWorth } from '../../../../src/localnet/market/curves/concentrated.ts'
import {
  meteoraDammV2Pools,
  type DammV2Pool
} from '../../../../src/localnet/market/venues/meteora-damm-v2.ts'
import { assertCovered, poolsConform } from './pool-conformance.ts'
import { POSITION_LIMIT } from '../../../../src/localnet/market/venues/positions.ts'
import { PoolBench } from './pool-bench.ts'

const reserve = (pool: DammV2Pool, bench: PoolBench, side: 0 | 1): bigint =>
  bench.state(pool.address).getBigUint64(680 + 8 * side, true)

poolsConform<DammV2Pool>(t, {
  venue: meteoraDammV2Pools,
  program: 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG',
  feeBps: 25,
  opensWith: 'amounts',
  stated(pool, bench) {
    const state = bench.state(pool.address)
    const read = (at: number): bigint =>
      state.getBigUint64(at, true) | (state.getBigUint64(at + 8, true) << 64n)
    const range = { lower: read(424), upper: read(440) }
    const worth = liquidityWorth(read(360), read(456), range, 64n, 'down')
    assertCovered([reserve(pool, bench, 0), reserve(pool, bench, 1)], worth)
    const held = ([0, 1] as const).map(
      (side) => reserve(pool, bench, side) + state.getBigUint64(392 + 8 * side, true) + pool.lpFees[side]
    )
    return [held[0]!, held[1]!]
  },
  fees(swap, pool) {
    const side = feeSideOf(swap, pool)
    const { amountIn, amountOut } = swap
    // A fee on the output is charged on the amount before the fee: the smallest one that leaves this amount.
    let fee = (amountIn * 25n + 9_999n) / 10_000n
    if (side === 'out') {
      fee = (amountOut * 25n) / 9_975n
      while (((amountOut + fee) * 25n + 9_999n) / 10_000n > fee) fee++
    }
    const protocol = fee / 5n
    return [
      { kind: 'lp', amount: fee - protocol },
      { kind: 'protocol', amount: protocol }
    ]
  },
  feeSide: feeSideOf,
  reserves(swap, pool, bench) {
    const [a, b] = [reserve(pool, bench, 0), reserve(pool, bench, 1)]
    return swap.firstIn ? { in: a, out: b } : { in: b, out: a }
  }
})

function feeSideOf({ firstIn }: { readonly firstIn: boolean }, pool: DammV2Pool): 'in' | 'out' {
  return pool.collectFeeMode === 1 && !firstIn ? 'in' : 'out'
}

t.test('a pool remembers providers up to the limit; one more changes nothing', async (t) => {
  const bench = new PoolBench('crowded')
  const { given: pool } = bench.runFor(bench.creator, (script) =>
    meteoraDammV2Pools.open(script, bench.newPool(), bench)
  )
  const addsAs = (provider: Uint8Array): number =>
    bench.run(provider, (script) => meteoraDammV2Pools.changeLiquidity(script, pool, provider, 1, bench))
      .events.length
  for (let count = 1; count < POSITION_LIMIT; count++) t.equal(addsAs(bench.newProvider()), 1)
  t.equal(pool.positions.length, POSITION_LIMIT)
  t.equal(addsAs(bench.newProvider()), 0)
  t.equal(addsAs(bench.creator), 1, 'those who are known go on')
})
