import t, { type Test } from 'tap'
import { POOL_WAIT_MS } from '../../src/accounts/pools/pool-directory.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { account } from '../../src/localnet/market/venues/record.ts'
import { fakeAccounts } from '../accounts/fake-account-node.ts'
import { key, tokenAccountData } from '../accounts/account-data.ts'
import { block, buy, curve, launch, NOON, OTHER, POOL, sell, SOL, solSale, TOKEN } from '../market/world.ts'
import { settle, virtualClock } from '../virtual-time.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const WHIRLPOOL = pubkeyFromBase58('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc')
const PUMP = pubkeyFromBase58('6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P')
const [VAULT_A, VAULT_B] = [key(201), key(202)]

const whirlpool = account(
  653,
  '3f95d10ce1806309',
  'protocolFees:u64[2]@85 mintA:pubkey@101 vaultA:pubkey@133 mintB:pubkey@181 vaultB:pubkey@213'
)
const pumpCurve = account(
  166,
  '17b7f83760d8ac60',
  'virtualTokens:u64@8 virtualLamports:u64@16 realTokens:u64@24 realLamports:u64@32 complete:bool@48'
)

type Accounts = ReturnType<typeof fakeAccounts>

function putPool({ node }: Accounts, sol: bigint, tokens: bigint, [a, b] = [SOL, TOKEN]): void {
  node.put(POOL, {
    owner: WHIRLPOOL,
    data: whirlpool({ protocolFees: [1_000n, 20n], mintA: a, vaultA: VAULT_A, mintB: b, vaultB: VAULT_B })
  })
  const put = (vault: Pubkey, mint: Pubkey, amount: bigint): void =>
    node.put(vault, {
      owner: TOKEN_PROGRAM_KEYS['spl-token'],
      data: tokenAccountData({ mint, owner: POOL, amount })
    })
  put(VAULT_A, a, sol)
  put(VAULT_B, b, tokens)
}

/** A trade of the token for SOL in a pool that states no reserves. */
const trade = (more = {}) => buy(10n ** 9n, 10n ** 6n, { venue: 'orca-whirlpool' as const, ...more })

async function world(test: Test) {
  const clock = virtualClock()
  const accounts = fakeAccounts(clock)
  const app = await marketApp(test, undefined, { accounts })
  return { clock, accounts, app }
}
const poolOf = (app: MarketApp) => app.get(`/v1/tokens/${MINT}/pools`).then(({ body }) => body.data[0]!)
t.test('a pool has the reserves of its vaults without what they owe, with slot and age', async (t) => {
  const { accounts, app } = await world(t)
  putPool(accounts, 5_000_001_000n, 8_000_020n)
  await app.commit(block(1, NOON - 60, [solSale(100)]), block(2, NOON, [trade()]))
  const live = {
    base_reserve: 8,
    base_reserve_raw: '8000000',
    quote_reserve: 5,
    quote_reserve_raw: '5000000000',
    reserves_from: 'account',
    reserves_slot: 1_000,
    reserves_age_seconds: 0,
    reserves_reason: null,
    base_vault: pubkeyToBase58(VAULT_B),
    quote_vault: pubkeyToBase58(VAULT_A),
    liquidity_usd: (8 + 5) * 100
  }
  t.match(await poolOf(app), live)
  t.match((await app.get(`/v1/pools/${pubkeyToBase58(POOL)}`)).body, live)
  const overview = (await app.get(`/v1/tokens/${MINT}`)).body
  t.match(overview, { liquidity_usd: 1300, liquidity_slot: 1_000 })
  t.match((await app.get(`/v1/tokens/${MINT}/price`)).body, { liquidity_usd: 1300 })
  const { data } = (await app.get('/v1/trending?limit=10')).body
  t.equal(data.find(({ mint }) => mint === MINT)?.['liquidity_usd'], 1300)
})

t.test('overview and trending wait for no node: they have the liquidity once it is read', async (t) => {
  const { accounts, app } = await world(t)
  putPool(accounts, 5_000_001_000n, 8_000_020n)
  await app.commit(block(1, NOON - 60, [solSale(100)]), block(2, NOON, [trade()]))
  const gate = Promise.withResolvers<void>()
  accounts.node.gate = gate.promise
  t.match((await app.get(`/v1/tokens/${MINT}`)).body, { liquidity_usd: null, liquidity_slot: null })
  gate.resolve()
  await accounts.pools.within([{ pool: POOL, venue: 'orca-whirlpool' }])
  app.nowMs += 1_001
  t.match((await app.get(`/v1/tokens/${MINT}`)).body, { liquidity_usd: 1300, liquidity_slot: 1_000 })
})

t.test('the newer of account and trade counts, by slot', async (t) => {
  const { accounts, app } = await world(t)
  putPool(accounts, 5_000_001_000n, 8_000_020n)
  const reserves = { in: 3_000_000n, out: 7_000_000_000n }
  const stated = (slot: number) =>
    block(slot, NOON + slot, [sell(1_000_000n, 10n ** 9n, { venue: 'orca-whirlpool', reserves })])
  await app.commit(block(1, NOON - 60, [solSale(100)]), stated(1_000))
  t.match(await poolOf(app), { reserves_from: 'account', reserves_slot: 1_000, base_reserve: 8 })
  await app.commit(stated(1_001))
  t.match(await poolOf(app), {
    reserves_from: 'trade',
    reserves_slot: 1_001,
    reserves_age_seconds: null,
    reserves_reason: null,
    base_reserve: 3,
    quote_reserve: 7
  })
})

t.test('a node that does not answer holds an answer up for its wait alone', async (t) => {
  const { clock, accounts, app } = await world(t)
  await app.commit(block(1, NOON - 60, [solSale(100)]), block(2, NOON, [trade()]))
  accounts.node.gate = new Promise(() => undefined)
  const asked = poolOf(app)
  while (accounts.node.calls === 0) await settle()
  clock.increment(POOL_WAIT_MS)
  t.match(await asked, {
    base_reserve: null,
    reserves_from: null,
    reserves_slot: null,
    reserves_reason: `the node did not answer within ${POOL_WAIT_MS} ms`,
    liquidity_usd: null
  })
})

t.test('while the node fails, what is cached is served with its age and the reason', async (t) => {
  const { clock, accounts, app } = await world(t)
  putPool(accounts, 5_000_001_000n, 8_000_020n)
  await app.commit(block(1, NOON - 60, [solSale(100)]), block(2, NOON, [trade()]))
  t.match(await poolOf(app), { reserves_reason: null })
  accounts.node.fault = { kind: 'unreachable', detail: 'gone' }
  clock.increment(9_000)
  app.nowMs += 9_000
  const old = { base_reserve: 8, reserves_slot: 1_000, reserves_reason: 'the node failed: unreachable: gone' }
  t.match(await poolOf(app), old)
  const { calls } = accounts.node
  t.match(await poolOf(app), old)
  t.match((await app.get(`/v1/pools/${pubkeyToBase58(POOL)}`)).body, old)
  t.equal(accounts.node.calls, calls, 'a failed node is not asked again at once')
})

t.test('accounts of something else give no reserves, and the reason', async (t) => {
  const { accounts, app } = await world(t)
  await app.commit(block(1, NOON - 60, [solSale(100)]), block(2, NOON, [trade()]))
  putPool(accounts, 5_000_001_000n, 8_000_020n, [SOL, OTHER])
  t.match(await poolOf(app), { base_reserve: null, reserves_reason: 'the account is of other mints' })
})

t.test('a curve is as its account states it, or as a newer event does', async (t) => {
  const clock = virtualClock()
  const accounts = fakeAccounts(clock)
  const app = await marketApp(t, undefined, { accounts })
  const about = { venue: 'pumpfun' as const, pool: key(90), curve: key(90) }
  const stated = {
    in: 5_000_000_000n,
    out: 700_000_000_000_000n,
    virtualIn: 35_000_000_000n,
    virtualOut: 919_714_285_714_286n
  }
  await app.commit(
    block(1, NOON - 60, [solSale(100)]),
    block(2, NOON, [launch(about), buy(5_000_000_000n, 10n ** 9n, { ...about, reserves: stated })])
  )
  const path = `/v1/tokens/${MINT}/bonding-curve`
  t.match((await app.get(path)).body, {
    state_from: 'event',
    state_slot: 2,
    state_reason: 'the account does not exist',
    reserves: { real_cash_raw: '5000000000' }
  })
  const now = {
    virtualTokens: 804_750_000_000_000n,
    virtualLamports: 40_000_000_000n,
    realTokens: 524_850_000_000_000n,
    realLamports: 10_000_000_000n
  }
  accounts.node.put(key(90), { owner: PUMP, data: pumpCurve({ ...now, complete: false }) })
  clock.increment(2_000)
  app.nowMs += 2_000
  const { body } = await app.get(path)
  t.match(body, {
    state_from: 'account',
    state_slot: 1_000,
    state_age_seconds: 0,
    state_reason: null,
    slot: 2,
    status: 'bonding',
    reserves: {
      virtual_cash_raw: '40000000000',
      virtual_token_raw: '804750000000000',
      real_cash_raw: '10000000000',
      real_token_raw: '524850000000000'
    }
  })
  const progress = body['progress_pct'] as number
  t.ok(Math.abs(progress - (100 * (793.1 - 524.85)) / 793.1) < 1e-3, `${progress} % are sold`)
  accounts.node.put(key(90), { owner: PUMP, data: pumpCurve({ ...now, complete: true }) })
  clock.increment(2_000)
  app.nowMs += 2_000
  t.match((await app.get(path)).body, { status: 'graduating', progress_pct: 100 })
  await app.commit(block(1_001, NOON + 1, [curve('complete', about), curve('migrate', about)]))
  t.match((await app.get(path)).body, {
    status: 'graduated',
    state_from: 'event',
    state_slot: 1_001,
    state_reason: null
  })
})
