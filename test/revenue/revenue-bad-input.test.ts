import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import { ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import { key, NOON } from '../market/world.ts'
import { ALICE, BOB, entry, GRAIN, revenueClient, signatureOf } from './revenue-client.ts'
import { REVENUE_ERRORS } from '../../src/revenue/errors.ts'

const ACCOUNTS = '/v1/revenue/accounts'
const EVENTS = '/v1/revenue/events'
const U64_MAX = 2n ** 64n - 1n
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const SYSTEM_PROGRAM = '1'.repeat(32)

t.test('bodies of any other shape are refused, and nothing is watched', async (t) => {
  const app = await revenueClient(t)
  const shapes = [
    null,
    7,
    'text',
    true,
    [],
    [{ address: ALICE }],
    { address: null },
    { address: { base58: ALICE } },
    { address: [ALICE] },
    { ADDRESS: ALICE },
    { address: ` ${ALICE}` },
    { address: '0'.repeat(44) },
    { address: '1'.repeat(31) },
    { address: '' },
    { address: ALICE, label: {} },
    { address: ALICE, label: ['a'] },
    { address: ALICE, role: 1 },
    { address: ALICE, role: 'größe' },
    { address: ALICE, label: 'x'.repeat(10_000) }
  ]
  for (const shape of shapes) {
    const { status } = await app.send('POST', ACCOUNTS, JSON.stringify(shape))
    t.equal(status, 400, JSON.stringify(shape).slice(0, 80))
  }
  for (const text of [
    '',
    '{"address"',
    '{"__proto__":{"address":"x"}}',
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`
  ])
    t.equal((await app.send('POST', ACCOUNTS, text)).status, 400, text.slice(0, 40))
  t.equal((await app.send('POST', ACCOUNTS, { address: ALICE, label: 'x'.repeat(2 ** 23) })).status, 413)
  t.strictSame((await app.send('GET', ACCOUNTS)).body.data, [])
})

t.test('a label with any control character is refused', async (t) => {
  const app = await revenueClient(t)
  const codes = [...Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, n) => 0x7f + n)]
  for (const code of codes) {
    const { status } = await app.send('POST', ACCOUNTS, {
      address: ALICE,
      label: `a${String.fromCodePoint(code)}b`
    })
    t.equal(status, 400, `U+${code.toString(16)}`)
  }
  t.strictSame((await app.send('GET', ACCOUNTS)).body.data, [])
})

t.test('a label is stored as it was given, whatever else it has', async (t) => {
  const app = await revenueClient(t)
  for (const label of [
    '__proto__',
    '<script>',
    '\u2028',
    "'; drop",
    '\\',
    '"',
    '\ud800',
    '{}',
    ' ',
    'é',
    'e\u0301'
  ]) {
    t.match(await app.send('POST', ACCOUNTS, { address: ALICE, label }), { body: { label } })
    t.match((await app.send('GET', ACCOUNTS)).body.data, [{ label }])
  }
})

t.test('programs and mints are addresses like others', async (t) => {
  const app = await revenueClient(t)
  for (const address of [TOKEN_PROGRAM, SYSTEM_PROGRAM, WSOL, GRAIN]) {
    await app.watch(address, 1)
    await app.ledger(address, [
      { slot: 5, entries: [entry({ account: address, signature: signatureOf(5) })] }
    ])
  }
  await app.blocks(5)
  t.equal((await app.send('GET', EVENTS)).body.data.length, 4)
  for (const path of ['/v1/revenue/totals', '/v1/revenue/coverage', ACCOUNTS])
    t.equal((await app.send('GET', path)).status, 200)
  t.equal((await app.send('DELETE', `${ACCOUNTS}/${SYSTEM_PROGRAM}`)).status, 200)
})

t.test('the largest amounts, decimals and slots are exact as text, and finite as numbers', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 1)
  const slot = 2 ** 33
  const fields = { isNative: false, mint: GRAIN, pre: 0n, post: U64_MAX, decimals: 255 }
  const entries = Array.from({ length: 3 }, (_, n) =>
    entry({ ...fields, txIndex: n, signature: signatureOf(n + 1), valueUsd: n === 2 ? 1e30 : null })
  )
  await app.ledger(ALICE, [{ slot, entries, blockTime: NOON }])
  const { body } = await app.send('GET', EVENTS)
  t.match(body.data, [
    { delta_raw: String(U64_MAX), delta: 1.8446744073709552e-236, decimals: 255, slot, value_usd: 1e30 },
    { delta_raw: String(U64_MAX), value_usd: null },
    {}
  ])
  const after = (body.data[0] as unknown as { cursor: string }).cursor
  t.equal((await app.send('GET', `${EVENTS}?after=${after}`)).body.data.length, 2)
  t.match((await app.send('GET', ACCOUNTS)).body.data, [
    { inflow_usd: 1e30, by_mint: [{ inflow_raw: String(3n * U64_MAX), net_raw: String(3n * U64_MAX) }] }
  ])
})

t.test('a cursor of another tenant is refused, and one of another address is a place', async (t) => {
  const app = await revenueClient(t)
  await app.keys.createTenant('rival', 1)
  const rival = await app.as({ tenant: 'rival' })
  for (const address of [ALICE, BOB]) {
    await app.watch(address, 1)
    await app.ledger(address, [{ slot: 5, entries: [entry({ account: address })] }])
  }
  await app.watch(ALICE, 1, {}, rival)
  const cursorOf = async (address: string): Promise<unknown> =>
    (await app.send('GET', `${EVENTS}?address=${address}`)).body.data[0]?.cursor
  const cursor = String(await cursorOf(BOB))
  t.match(await rival('GET', `${EVENTS}?after=${cursor}`), { status: 400, body: { code: 'invalid_cursor' } })
  t.match(await rival('GET', `${EVENTS}?address=${BOB}`), { status: 404 })
  const behind = `${EVENTS}?after=${cursor}&order=asc`
  const [first] = [ALICE, BOB].sort()
  const expected = first === BOB ? [{ address: ALICE }] : []
  t.match((await app.send('GET', behind)).body.data, expected)
  t.equal((await app.send('GET', `${behind}&address=${ALICE}`)).body.data.length, expected.length)
})

t.test('times and windows before the first block and after the last have no rows', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 1)
  await app.ledger(ALICE, [{ slot: 5, entries: [entry()] }])
  await app.blocks(5)
  for (const [query, count] of [
    ['from=0&to=1', 0],
    [`from=0&to=${NOON}`, 0],
    [`from=${NOON + 3_600}`, 0],
    ['from=0', 1],
    ['to=9007199254', 1]
  ] as const)
    t.equal((await app.send('GET', `${EVENTS}?${query}`)).body.data.length, count, query)
  for (const query of [
    'from=-1',
    'from=1e99',
    'to=NaN',
    'from=2&to=1',
    'limit=1e3',
    'limit=0x10',
    'order=',
    'after='
  ])
    t.equal((await app.send('GET', `${EVENTS}?${query}`)).status, 400, query)
  t.match((await app.send('GET', '/v1/revenue/totals?window=60')).body, { totals: { events: 1 } })
  t.match((await app.send('GET', '/v1/revenue/totals?window=31536000')).body, { totals: { events: 1 } })
})

t.test('rows of a block are listed once those of all addresses are stored', async (t) => {
  const app = await revenueClient(t)
  const { save } = await ledgerProgressIn(app.storage.documents).claim(1)
  await save({ slot: 5, blockhash: null, blockTime: NOON, documentsTo: -1 })
  for (const address of [ALICE, BOB]) await app.watch(address, 1)
  await app.ledger(ALICE, [{ slot: 5, entries: [entry({ txIndex: 3 })] }])
  // The follower has stored the last row of the block, but not the row before.
  await app.ledger(ALICE, [{ slot: 6, entries: [entry({ txIndex: 9, signature: signatureOf(6) })] }])
  const seen = (await app.send('GET', EVENTS)).body.data
  t.match(seen, [{ slot: 5 }])
  await app.ledger(BOB, [{ slot: 6, entries: [entry({ txIndex: 1, account: BOB })] }])
  await save({ slot: 6, blockhash: null, blockTime: NOON, documentsTo: -1 })
  const { body } = await app.send('GET', `${EVENTS}?order=asc&after=${seen[0]?.cursor}`)
  t.match(body.data, [{ address: BOB }, { address: ALICE }])
})

t.test('twenty tenants watch 200 addresses each, and each has its own', async (t) => {
  const app = await revenueClient(t)
  const registry = new WatchedAddresses(app.storage.documents)
  const addressOf = (n: number): string => pubkeyToBase58(key(200_000 + n))
  const tenants = Array.from({ length: 20 }, (_, n) => `tenant-${n}`)
  await Promise.all(
    tenants.map(async (tenant, at) => {
      for (let n = 0; n < 200; n++)
        await registry.watch(tenant, { address: addressOf(at * 100 + n), label: tenant, role: 'other' }, 1)
    })
  )
  t.equal((await registry.all()).length, 4_000)
  for (const [at, tenant] of tenants.entries()) {
    const own = await registry.list(tenant)
    t.strictSame(
      own.map(({ address, label }) => [address, label]),
      Array.from({ length: 200 }, (_, n) => [addressOf(at * 100 + n), tenant]).sort(([a], [b]) =>
        a! < b! ? -1 : 1
      )
    )
    await t.rejects(registry.watch(tenant, { address: ALICE, label: '', role: 'other' }, 1), {
      name: 'ServiceError',
      kind: REVENUE_ERRORS.WATCH_LIMIT_REACHED
    })
  }
})
