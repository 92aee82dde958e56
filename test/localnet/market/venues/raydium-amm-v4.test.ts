import assert from 'node:assert/strict'
import t from 'tap'
import { raydiumAmmV4Pools, type AmmV4Pool } from '../../../../src/localnet/market/venues/raydium-amm-v4.ts'
import { poolsConform, vaultsOf } from './pool-conformance.ts'

poolsConform<AmmV4Pool>(t, {
  venue: raydiumAmmV4Pools,
  program: '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8',
  feeBps: null,
  opensWith: 'amounts',
  product(pool, bench) {
    const state = bench.state(pool.address)
    const [coin, pc] = vaultsOf(bench, pool)
    const locked = 10n ** state.getBigUint64(32, true)
    assert.equal(state.getBigUint64(720, true), bench.ledger.mint(pool.lpMint).supply + locked)
    // Live reserves are the vaults minus the profit that is not yet taken.
    return (coin - state.getBigUint64(192, true)) * (pc - state.getBigUint64(200, true))
  }
})
