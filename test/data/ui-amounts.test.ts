import t, { type Test } from 'tap'
import { CLOCK_BYTES, CLOCK_SYSVAR, SYSVAR_OWNER } from '../../src/accounts/clock.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import {
  holderMintsIn,
  HOLDER_MINTS_PARTITION,
  holderProgressIn,
  NO_LIST
} from '../../src/holders/holder-mint.ts'
import { wholeList } from '../../src/holders/list-rows.ts'
import { extended, key, mintData, tokenAccountData } from '../accounts/account-data.ts'
import { fakeAccounts } from '../accounts/fake-account-node.ts'
import { block, NOON } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

const MODERN = TOKEN_PROGRAM_KEYS['token-2022']
const MINT = key(1)
const WALLET = key(50)
const TOKEN = pubkeyToBase58(MINT)
const [INTEREST, SCALED] = [10, 25]

function clockData(seconds: number): Uint8Array {
  const data = new Uint8Array(CLOCK_BYTES)
  new DataView(data.buffer).setBigInt64(32, BigInt(seconds), true)
  return data
}

/** A multiplier of 1.5, and of 3 from a time on. */
function multiplier(nextAt: number): Uint8Array {
  const value = new Uint8Array(56)
  const view = new DataView(value.buffer)
  view.setFloat64(32, 1.5, true)
  view.setBigInt64(40, BigInt(nextAt), true)
  view.setFloat64(48, 3, true)
  return value
}

/** Serves a token of 10.00 units, 4.01 of them in the wallet, at the chain's noon. */
async function world(t: Test, extension: readonly [number, Uint8Array]) {
  const accounts = fakeAccounts()
  const app = await marketApp(t, undefined, { accounts })
  const { node } = accounts
  app.nowMs = NOON * 1000
  await app.commit(block(10, NOON, []))
  node.put(CLOCK_SYSVAR, { owner: SYSVAR_OWNER, data: clockData(NOON) })
  node.put(MINT, {
    owner: MODERN,
    data: extended(mintData({ supply: 1_000n, decimals: 2 }), 'mint', [extension])
  })
  const held = tokenAccountData({ mint: MINT, owner: WALLET, amount: 401n })
  node.put(key(60), { owner: MODERN, data: extended(held, 'account', []) })
  return { app, node }
}

t.test('amounts of the account side are multiplied as a node does, and raw amounts are not', async (t) => {
  const { app } = await world(t, [SCALED, multiplier(NOON + 60)])
  const { documents, holders } = app.storage
  const metadata = await app.get(`/v1/metadata/${TOKEN}`)
  t.match(metadata.body, {
    supply: 15,
    supply_raw: '1000',
    ui_multiplier: 1.5,
    ui_multiplier_since: null,
    ui_multiplier_next: { value: 3 },
    interest: null
  })
  const wallet = `/v1/wallets/${pubkeyToBase58(WALLET)}`
  // 4.01 × 1.5 is cut to whole base units.
  const balance = { amount: 6.01, amount_raw: '401', ui_multiplier: 1.5 }
  t.match((await app.get(`${wallet}/token-accounts`)).body.data, [balance])
  t.match((await app.get(`${wallet}/holdings`)).body.data, [{ ...balance, mint: TOKEN }])
  const mint = { mint: TOKEN, decimals: 2, tokenProgram: 'token-2022', askedAtMs: Date.now() } as const
  await holderMintsIn(documents).insert(mint)
  const rows = wholeList([[key(60), { owner: WALLET, amount: 401n }]], 10, 7)
  for (const each of rows) await holders.put({ mint: MINT, reading: 1 }, each)
  const { save } = await holderProgressIn(documents).claim(1)
  await save({ slot: 10, oldestSlot: 10, atMs: app.nowMs, rollbacks: 0 })
  const stored = await holderMintsIn(documents).get(HOLDER_MINTS_PARTITION, [TOKEN])
  await holderMintsIn(documents).putHot(stored!, 1, { ...NO_LIST, state: 'live', reading: 1, fromSlot: 10 })
  t.match((await app.get(`/v1/tokens/${TOKEN}/holders`)).body, {
    held: 6.01,
    held_raw: '401',
    supply: 6.01,
    supply_slot: 10,
    withheld: 0,
    ui_multiplier: 1.5,
    data: [{ amount: 6.01, amount_raw: '401', pct: 100 }]
  })
  t.match((await app.get(`/v1/tokens/${TOKEN}`)).body, { supply: 15, metadata: { ui_multiplier: 1.5 } })
})

t.test('a multiplier whose time has come states since when, and none is pending', async (t) => {
  const { app } = await world(t, [SCALED, multiplier(NOON)])
  const { body } = await app.get(`/v1/metadata/${TOKEN}`)
  t.match(body, { supply: 30, ui_multiplier: 3, ui_multiplier_next: null })
  t.match(body['ui_multiplier_since'], / 12:00:00$/)
})

const YEAR = 31_556_736

/** Interest of 10 % for a year, and of −5 % for the next one, which ends at noon. */
function interest(): Uint8Array {
  const value = new Uint8Array(52)
  const view = new DataView(value.buffer)
  view.setBigInt64(32, BigInt(NOON - 2 * YEAR), true)
  view.setInt16(40, 1_000, true)
  view.setBigInt64(42, BigInt(NOON - YEAR), true)
  view.setInt16(50, -500, true)
  return value
}

t.test('interest counts up to the time of the chain, and its rates are stated', async (t) => {
  const { app } = await world(t, [INTEREST, interest()])
  t.match((await app.get(`/v1/metadata/${TOKEN}`)).body, {
    supply: 10.51,
    supply_raw: '1000',
    ui_multiplier: Math.exp(0.1) * Math.exp(-0.05),
    ui_multiplier_next: null,
    interest: { rate_bps: -500, average_rate_bps: 1_000, initialized_at: String, updated_at: String }
  })
})

t.test('without the time of the chain no scaled amount is guessed', async (t) => {
  const { app, node } = await world(t, [INTEREST, interest()])
  node.remove(CLOCK_SYSVAR)
  t.match((await app.get(`/v1/metadata/${TOKEN}`)).body, {
    supply: null,
    supply_raw: '1000',
    ui_multiplier: null,
    interest: { rate_bps: -500 }
  })
})
