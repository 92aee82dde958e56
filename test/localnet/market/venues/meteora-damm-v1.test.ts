import assert from 'node:assert/strict'
import t from 'tap'
import {
  meteoraDammV1Pools,
  type DammV1Pool
} from '../../../../src/localnet/market/venues/meteora-damm-v1.ts'
import { poolsConform, vaultsOf } from './pool-conformance.ts'

poolsConform<DammV1Pool>(t, {
  venue: meteoraDammV1Pools,
  program: 'Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB',
  feeBps: 25,
  opensWith: 'amounts',
  stated(pool, bench) {
    const held = ([0, 1] as const).map((side) => {
      const { address, lpMint } = pool.stores[side]
      const total = bench.state(address).getBigUint64(11, true)
      const { supply } = bench.ledger.mint(lpMint)
      assert.ok(supply > 0n, 'the vault has shares')
      // Value of the pool's shares of the vault.
      return (total * bench.ledger.tokens(pool.shares[side])) / supply
    })
    return [held[0]!, held[1]!]
  },
  product(pool, bench) {
    const [a, b] = vaultsOf(bench, pool)
    return a * b
  },
  fees({ amountIn }) {
    const fee = (amountIn * 25n) / 10_000n
    const protocol = fee / 5n
    return [
      { kind: 'lp', amount: fee - protocol },
      { kind: 'protocol', amount: protocol }
    ]
  }
})
