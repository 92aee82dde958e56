import assert from 'node:assert/strict'
import t from 'tap'
import { raydiumCpmmPools, type CpmmPool } from '../../../../src/localnet/market/venues/raydium-cpmm.ts'
import { poolsConform } from './pool-conformance.ts'

poolsConform<CpmmPool>(t, {
  venue: raydiumCpmmPools,
  program: 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C',
  feeBps: null,
  opensWith: 'amounts',
  product(pool, bench) {
    const state = bench.state(pool.address)
    const [reserve0, reserve1] = [0, 1].map((side) => {
      const owed = state.getBigUint64(341 + 8 * side, true) + state.getBigUint64(357 + 8 * side, true)
      return bench.ledger.tokens(pool.vaults[side as 0 | 1]) - owed
    })
    const unlocked = bench.ledger.mint(pool.lpMint).supply
    assert.equal(state.getBigUint64(333, true), unlocked + 100n)
    return reserve0! * reserve1!
  },
  fees: ({ amountIn }) => [{ kind: 'trading', amount: (amountIn * 2500n + 999_999n) / 1_000_000n }]
})
