import t, { type Test } from 'tap'
import type { ChainEvent } from '../../../src/chain/events.ts'
import { samePubkey, type Pubkey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import type { Executed } from '../../../src/localnet/market/venue.ts'
import { pumpswapPools } from '../../../src/localnet/market/venues/pumpswap.ts'
import type { PumpswapPool } from '../../../src/localnet/market/venues/pumpswap-pool.ts'
import { SOL } from './launch-stage.ts'
import { MarketWorld, type DecodedScript } from './market-world.ts'

const TOKENS = 400_000_000_000_000n

/** A pool of a token and wrapped SOL, with a trader. */
class PoolStage {
  readonly world
  readonly creator
  readonly trader
  readonly base
  readonly opened: DecodedScript
  readonly pool: PumpswapPool

  constructor(seed: string) {
    const world = (this.world = new MarketWorld(seed))
    const [creator, trader] = [(this.creator = world.person()), (this.trader = world.person())]
    const base = (this.base = world.mint(6))
    for (const person of [creator, trader]) {
      world.give(person, base, 2n * TOKENS)
      world.give(person, NATIVE_MINT, 5_000n * SOL)
    }
    let pool: PumpswapPool | null = null
    const amounts = { baseAmount: TOKENS, quoteAmount: 80n * SOL }
    this.opened = world.run(creator, (script) => {
      pool = pumpswapPools.open(script, { creator, base, quote: NATIVE_MINT, ...amounts }, world)
    })
    this.pool = pool!
  }

  held(owner: Pubkey): readonly [bigint, bigint] {
    const { ledger } = this.world
    const tokens = (mint: Pubkey): bigint => ledger.tokens(ledger.tokenAccountOf(owner, mint))
    return [tokens(this.base), tokens(NATIVE_MINT)]
  }

  trades(t: Test, isBuy: boolean, amountIn: bigint): boolean {
    const { world, trader, pool } = this
    const [base, quote] = this.held(trader)
    const product = this.product()
    let executed = null as Executed | null
    const { events, notes } = world.run(trader, (script) => {
      executed = pumpswapPools.swap(script, pool, { trader, isBuy, amountIn }, world)
    })
    t.same(notes, [])
    if (executed === null) {
      t.same(events, [])
      return false
    }
    const [trade] = events
    if (trade?.kind !== 'trade') {
      t.fail('no trade')
      return false
    }
    const [baseAfter, quoteAfter] = this.held(trader)
    const moved = isBuy ? [quote - quoteAfter, baseAfter - base] : [base - baseAfter, quoteAfter - quote]
    t.same([trade.traderIn, trade.traderOut], [executed.amountIn, executed.amountOut])
    t.same(moved, [executed.amountIn, executed.amountOut], 'as the accounts say')
    t.ok(samePubkey(trade.inMint, isBuy ? NATIVE_MINT : this.base) && samePubkey(trade.pool, pool.address))
    const vaults = pool.vaults.map((vault) => world.ledger.tokens(vault))
    const reserves = isBuy ? { in: vaults[1], out: vaults[0] } : { in: vaults[0], out: vaults[1] }
    t.same(trade.reserves, reserves)
    t.ok(executed.amountIn <= amountIn)
    t.ok(this.product() >= product, 'the product does not fall')
    return true
  }

  product(): bigint {
    const [base, quote] = this.pool.vaults.map((vault) => this.world.ledger.tokens(vault))
    return base! * quote!
  }
}

t.test('a pool opens with what its creator puts in, and its account says so', async (t) => {
  const stage = new PoolStage('opening')
  const { opened, pool, world } = stage
  t.same(opened.notes, [])
  t.match(opened.events, [{ kind: 'pool', event: 'create', initialBase: TOKENS, initialQuote: 80n * SOL }])
  const [created] = opened.events
  if (created?.kind !== 'pool') return
  t.ok(samePubkey(created.pool, pool.address) && samePubkey(created.user, stage.creator))
  t.ok(samePubkey(created.baseVault!, pool.vaults[0]) && samePubkey(created.quoteVault!, pool.vaults[1]))
  t.equal(world.ledger.tokens(pool.vaults[0]), TOKENS)
  const state = world.ledger.data(pool.address)!
  t.equal(state.length, 287)
  t.ok(samePubkey(state.subarray(43, 75), stage.base))
  t.ok(opened.transaction.wire.length <= 1232)
})

t.test('trades of all sizes are read as they happened, and the product never falls', async (t) => {
  const stage = new PoolStage('trading')
  let done = 0
  for (let i = 0; i < 80; i++) {
    const isBuy = stage.world.random.next() < 0.5
    const size = stage.world.random.next()
    const amountIn = BigInt(Math.floor(10 ** (isBuy ? 2 + size * 9 : 2 + size * 12)))
    if (stage.trades(t, isBuy, amountIn)) done++
  }
  t.ok(done > 60, `${done} trades`)
})

t.test('liquidity comes and goes by shares', async (t) => {
  const stage = new PoolStage('liquidity')
  const changes: ChainEvent[] = []
  for (const thousandths of [100, 25, -50, -900]) {
    const before = stage.held(stage.trader)
    const { events, notes } = stage.world.run(stage.trader, (script) =>
      pumpswapPools.changeLiquidity(script, stage.pool, stage.trader, thousandths, stage.world)
    )
    const after = stage.held(stage.trader)
    t.same(notes, [])
    const sign = thousandths > 0 ? 1n : -1n
    t.match(events, [
      {
        kind: 'liquidity',
        event: thousandths > 0 ? 'add' : 'remove',
        baseAmount: sign * (before[0] - after[0]),
        quoteAmount: sign * (before[1] - after[1])
      }
    ])
    changes.push(...events)
    const { lpSupply, lpMint, address } = stage.pool
    t.equal(stage.world.ledger.mint(lpMint).supply + 100n, lpSupply)
    const state = stage.world.ledger.data(address)!
    t.equal(new DataView(state.buffer, state.byteOffset).getBigUint64(203, true), lpSupply)
  }
  t.equal(changes.length, 4)
  const nobody = stage.world.person()
  const none = stage.world.run(nobody, (script) =>
    pumpswapPools.changeLiquidity(script, stage.pool, nobody, 10, stage.world)
  )
  t.same(none.events, [], 'who has nothing adds nothing')
})
