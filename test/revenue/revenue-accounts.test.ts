import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { USDC, WSOL } from '../../src/market/cash.ts'
import { MINTS_SHOWN } from '../../src/revenue/bodies/revenue-sums.ts'
import { block, key, launch, NOON } from '../market/world.ts'
import { ALICE, BOB, CAROL, entry, GRAIN, revenueClient, signatureOf } from './revenue-client.ts'

const PATH = '/v1/revenue/accounts'
const CREATED = '2026-08-24T12:00:00.000Z'

t.test('an address is watched with its label and role, and other fields are ignored', async (t) => {
  const app = await revenueClient(t)
  const body = { address: ALICE, label: 'Fees', role: 'fee_wallet', url_unused: 7, more: { a: [null] } }
  const made = await app.send('POST', PATH, body)
  t.equal(made.status, 201)
  t.strictSame(made.body, {
    address: ALICE,
    label: 'Fees',
    role: 'fee_wallet',
    created_at: CREATED,
    capture_starts_within_seconds: 30,
    status: 'starting'
  })
  t.equal(app.announced, 1)
  t.strictSame((await app.send('GET', PATH)).body, {
    tenant: 'acme',
    data: [
      {
        address: ALICE,
        label: 'Fees',
        role: 'fee_wallet',
        status: 'starting',
        created_at: CREATED,
        capture_from: null,
        progress: null,
        inflow_usd: 0,
        outflow_usd: 0,
        net_usd: 0,
        inflow_sol: 0,
        outflow_sol: 0,
        net_sol: 0,
        events: 0,
        by_mint: [],
        mints_left_out: 0,
        mints_without_price: 0,
        last_event_at: null,
        last_event_at_ms: null
      }
    ],
    nextCursor: null,
    complete_to: null,
    limits: { max: 200 }
  })
})

t.test('a label is by default the address, and a role is by default other', async (t) => {
  const app = await revenueClient(t)
  t.match((await app.send('POST', PATH, { address: ALICE })).body, { label: ALICE, role: 'other' })
})

t.test('a watched address that is posted again gets the new label and role, with 200', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 5, { label: 'First', role: 'tip' })
  app.nowMs += 60_000
  const again = await app.send('POST', PATH, { address: ALICE, label: 'Second' })
  t.match(again, {
    status: 200,
    body: { label: 'Second', role: 'other', created_at: CREATED, status: 'active' }
  })
  const { body } = await app.send('GET', PATH)
  t.equal(body.data.length, 1)
  t.match(body.data[0], {
    label: 'Second',
    role: 'other',
    status: 'active',
    capture_from: { slot: 5, ts: '2026-08-24 12:00:04', ts_ms: (NOON + 4) * 1_000 }
  })
})

t.test(
  'a hundred addresses posted at once are all watched, and their watches can all be ended at once',
  async (t) => {
    const app = await revenueClient(t)
    const addresses = Array.from({ length: 100 }, (_, n) => pubkeyToBase58(key(300_000 + n)))
    const made = await Promise.all(addresses.map((address) => app.send('POST', PATH, { address })))
    t.same(new Set(made.map(({ status }) => status)), new Set([201]))
    t.equal((await app.send('GET', PATH)).body.data.length, 100)
    const ended = await Promise.all(addresses.map((address) => app.send('DELETE', `${PATH}/${address}`)))
    t.same(new Set(ended.map(({ status }) => status)), new Set([200]))
    t.same((await app.send('GET', PATH)).body.data, [])
  }
)

t.test('a bad body is refused with the name of its field', async (t) => {
  const app = await revenueClient(t)
  const cases: [body: unknown, code: string, detail: RegExp][] = [
    [{}, 'invalid_parameter', /^address must be given/],
    [{ address: 7 }, 'invalid_parameter', /^address must be given as string/],
    [{ address: 'x' }, 'invalid_address', /^address must be a base58 address/],
    [{ address: `${ALICE}1` }, 'invalid_address', /^address /],
    [{ address: ALICE, label: '' }, 'invalid_parameter', /^label must be 1 to 64/],
    [{ address: ALICE, label: 'x'.repeat(65) }, 'invalid_parameter', /^label must be 1 to 64/],
    [{ address: ALICE, label: 'a\nb' }, 'invalid_parameter', /^label .*control/],
    [{ address: ALICE, role: 'x'.repeat(33) }, 'invalid_parameter', /^role must be 1 to 32/],
    [{ address: ALICE, role: 'Fees' }, 'invalid_parameter', /^role /],
    [{ address: ALICE, role: '1st' }, 'invalid_parameter', /^role /],
    [{ address: ALICE, role: 'a-b' }, 'invalid_parameter', /^role /],
    [{ address: ALICE, role: '' }, 'invalid_parameter', /^role /],
    [{ address: ALICE, role: 'tip\n' }, 'invalid_parameter', /^role /],
    [[], 'invalid_parameter', /^body /],
    ['{', 'malformed_json', /./]
  ]
  for (const [body, code, detail] of cases)
    t.match(await app.send('POST', PATH, body), { status: 400, body: { code, detail } }, JSON.stringify(body))
  t.match(await app.send('DELETE', `${PATH}/x`), { status: 400, body: { code: 'invalid_address' } })
  t.match(await app.send('GET', `${PATH}?limit=1`), { status: 400, body: { detail: /^limit is not/ } })
  t.equal(app.announced, 0)
  t.strictSame((await app.send('GET', PATH)).body.data, [])
})

t.test('a label of 64 characters beyond the basic plane and a role of 32 are accepted', async (t) => {
  const app = await revenueClient(t)
  const facts = { label: '🪙'.repeat(64), role: `a${'_9'.repeat(15)}z` }
  t.match(await app.send('POST', PATH, { address: ALICE, ...facts }), { status: 201, body: facts })
})

t.test('the 201st address is refused until one is no longer watched', async (t) => {
  const app = await revenueClient(t)
  for (let n = 0; n < 200; n++) await app.watch(pubkeyToBase58(key(1_000 + n)), null)
  const refused = await app.send('POST', PATH, { address: ALICE })
  t.match(refused, { status: 409, body: { code: 'watch_limit_reached' } })
  const last = pubkeyToBase58(key(1_199))
  t.match(await app.send('POST', PATH, { address: last, label: 'Last' }), { status: 200 })
  t.match(await app.send('DELETE', `${PATH}/${last}`), { status: 200 })
  t.match(await app.send('POST', PATH, { address: ALICE }), { status: 201 })
  t.equal((await app.send('GET', PATH)).body.data.length, 200)
})

t.test('an address that is no longer watched is unknown from then on', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE)
  const deleted = await app.send('DELETE', `${PATH}/${ALICE}`)
  t.strictSame([deleted.status, deleted.body], [200, { address: ALICE, deleted: true }])
  t.equal(app.announced, 2)
  t.match(await app.send('DELETE', `${PATH}/${ALICE}`), { status: 404, body: { code: 'watch_not_found' } })
  t.equal(app.announced, 2)
  t.strictSame((await app.send('GET', PATH)).body.data, [])
  t.match(await app.send('POST', PATH, { address: ALICE }), { status: 201, body: { status: 'starting' } })
})

t.test('an address of another tenant does not exist', async (t) => {
  const app = await revenueClient(t)
  await app.keys.createTenant('rival', 1)
  const rival = await app.as({ tenant: 'rival' })
  await app.watch(ALICE)
  t.match(await rival('DELETE', `${PATH}/${ALICE}`), { status: 404, body: { code: 'watch_not_found' } })
  t.strictSame((await rival('GET', PATH)).body.data, [])
  t.match(await rival('POST', PATH, { address: ALICE, label: 'Theirs' }), { status: 201 })
  t.match((await app.send('GET', PATH)).body.data, [{ label: ALICE }])
})

t.test('a retry with the same key of idempotency changes nothing', async (t) => {
  const app = await revenueClient(t)
  const retry = { 'idempotency-key': 'b0a7c3a2-5f0e-4f0a-9f8e-1d2c3b4a5968' }
  const wish = { address: ALICE, label: 'First' }
  const first = { status: 201, body: { label: 'First' } }
  t.match(await app.send('POST', PATH, wish, retry), first)
  await app.watch(ALICE, null, { label: 'Second' })
  t.match(await app.send('POST', PATH, wish, retry), first)
  t.match((await app.send('GET', PATH)).body.data, [{ label: 'Second' }])
  t.match(await app.send('POST', PATH, { ...wish, role: 'tip' }, retry), {
    status: 422,
    body: { code: 'idempotency_key_reused' }
  })
  await app.send('DELETE', `${PATH}/${ALICE}`)
  t.match(await app.send('POST', PATH, wish, retry), first)
  t.strictSame((await app.send('GET', PATH)).body.data, [], 'a late retry does not watch again')
})

t.test('a key without the scope is refused by every endpoint', async (t) => {
  const app = await revenueClient(t)
  const data = await app.as({ scopes: ['data:read', 'webhooks', 'stream'] })
  const cases: [method: string, path: string, body?: unknown][] = [
    ['POST', PATH, { address: ALICE }],
    ['GET', PATH],
    ['DELETE', `${PATH}/${ALICE}`],
    ['GET', '/v1/revenue/totals'],
    ['GET', '/v1/revenue/events'],
    ['GET', '/v1/revenue/coverage']
  ]
  for (const [method, path, body] of cases)
    t.match(await data(method, path, body), { status: 403, body: { code: 'insufficient_scope' } }, path)
})

t.test('an account has the sums of its ledger since its start', async (t) => {
  const app = await revenueClient(t)
  await app.commit(block(1, NOON + 1, [launch()]))
  await app.watch(ALICE, 3)
  const grain = { mint: GRAIN, account: CAROL, isNative: false, decimals: 6, valueUsd: null }
  const dollars = { ...grain, mint: USDC, account: BOB }
  await app.ledger(ALICE, [
    { slot: 2, entries: [entry({ valueUsd: 9_000 })] },
    {
      slot: 3,
      entries: [
        entry(),
        entry({ signature: signatureOf(2), txIndex: 1, ...dollars, pre: 0n, post: 2_500_000n, valueUsd: 2.5 })
      ]
    },
    {
      slot: 9,
      entries: [
        entry({ pre: 6_000_000_000n, post: 5_750_000_000n, valueUsd: -37.5, kind: 'fee' }),
        entry({ signature: signatureOf(3), txIndex: 1, ...grain, pre: 7n, post: 0n })
      ]
    }
  ])
  const { body } = await app.send('GET', PATH)
  t.strictSame(body.data, [
    {
      address: ALICE,
      label: ALICE,
      role: 'other',
      status: 'active',
      created_at: CREATED,
      capture_from: { slot: 3, ts: '2026-08-24 12:00:02', ts_ms: (NOON + 2) * 1_000 },
      progress: null,
      inflow_usd: 152.5,
      outflow_usd: 37.5,
      net_usd: 115,
      unpriced_events: 1,
      inflow_sol: 1,
      outflow_sol: 0.25,
      net_sol: 0.75,
      events: 4,
      by_mint: [
        {
          mint: WSOL,
          symbol: 'SOL',
          decimals: 9,
          inflow: 1,
          outflow: 0.25,
          net: 0.75,
          inflow_raw: '1000000000',
          outflow_raw: '250000000',
          net_raw: '750000000',
          inflow_usd: 150,
          outflow_usd: 37.5,
          net_usd: 112.5,
          events: 2
        },
        {
          mint: USDC,
          symbol: 'USDC',
          decimals: 6,
          inflow: 2.5,
          outflow: 0,
          net: 2.5,
          inflow_raw: '2500000',
          outflow_raw: '0',
          net_raw: '2500000',
          inflow_usd: 2.5,
          outflow_usd: 0,
          net_usd: 2.5,
          events: 1
        },
        {
          mint: GRAIN,
          symbol: 'GRN',
          decimals: 6,
          inflow: 0,
          outflow: 0.000007,
          net: -0.000007,
          inflow_raw: '0',
          outflow_raw: '7',
          net_raw: '-7',
          inflow_usd: 0,
          outflow_usd: null,
          net_usd: null,
          unpriced_events: 1,
          events: 1
        }
      ],
      mints_left_out: 0,
      mints_without_price: 1,
      last_event_at: '2026-08-24 12:00:09',
      last_event_at_ms: (NOON + 9) * 1_000
    }
  ])
})

t.test('an account lists the mints with the largest flow, then those with the most rows', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE)
  const mints = Array.from({ length: MINTS_SHOWN + 5 }, (_, n) => pubkeyToBase58(key(2_000 + n)))
  const entries = mints.map((mint, n) => {
    const token = { mint, account: mint, isNative: false, decimals: 0, pre: 0n, post: 1n }
    return entry({ ...token, signature: signatureOf(n), txIndex: n, valueUsd: n < 3 ? n + 1 : null })
  })
  const [busy] = entries.slice(50)
  await app.ledger(ALICE, [
    { slot: 4, entries },
    { slot: 5, entries: [busy!] }
  ])
  const { body } = await app.send('GET', PATH)
  const { by_mint, mints_left_out, mints_without_price, events } = body.data[0]! as unknown as {
    by_mint: { mint: string; symbol: string | null }[]
    mints_left_out: number
    mints_without_price: number
    events: number
  }
  t.same([by_mint.length, mints_left_out, events], [MINTS_SHOWN, 5, mints.length + 1])
  t.equal(mints_without_price, mints.length - 3)
  const first = [mints[2], mints[1], mints[0], mints[50]]
  t.same(
    by_mint.slice(0, 4).map(({ mint }) => mint),
    first
  )
  t.equal(by_mint[0]!.symbol, null)
})

t.test('more accounts than ledgers are read at once are all answered, in order', async (t) => {
  const app = await revenueClient(t)
  const addresses = Array.from({ length: 40 }, (_, n) => pubkeyToBase58(key(3_000 + n)))
  for (const address of addresses) {
    await app.watch(address)
    await app.ledger(address, [{ slot: 2, entries: [entry({ account: address })] }])
  }
  const { body } = await app.send('GET', PATH)
  t.same(
    body.data.map(({ address, inflow_sol }) => [address, inflow_sol]),
    addresses.toSorted().map((address) => [address, 1])
  )
})
