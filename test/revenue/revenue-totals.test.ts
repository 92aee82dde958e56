import t from 'tap'
import { USDC, WSOL } from '../../src/market/cash.ts'
import { ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import {
  ALICE,
  BOB,
  CAROL,
  entry,
  GRAIN,
  revenueClient,
  signatureOf,
  type RevenueClient
} from './revenue-client.ts'

const PATH = '/v1/revenue/totals'
const NOTHING = {
  inflow_usd: 0,
  outflow_usd: 0,
  net_usd: 0,
  inflow_sol: 0,
  outflow_sol: 0,
  net_sol: 0,
  events: 0
}

/** Watches two fee wallets and a treasury, whose ledgers have a block each 100 s. */
async function filled(t: Parameters<typeof revenueClient>[0]): Promise<RevenueClient> {
  const app = await revenueClient(t)
  await app.watch(ALICE, 1, { label: 'A', role: 'fee_wallet' })
  await app.watch(BOB, 250, { label: 'B', role: 'fee_wallet' })
  await app.watch(CAROL, 1, { label: 'C', role: 'treasury' })
  const slots = [100, 200, 300, 400]
  for (const address of [ALICE, BOB, CAROL]) {
    const usd = address === CAROL ? 500 : 150
    const blocks = slots.map((slot) => ({
      slot,
      entries: [
        entry({ account: address, valueUsd: usd }),
        entry({
          ...{ account: GRAIN, mint: GRAIN, isNative: false, decimals: 6, signature: signatureOf(2) },
          ...{ txIndex: 1, pre: 2_000_000n, post: 500_000n, valueUsd: -0.5 }
        })
      ]
    }))
    await app.ledger(address, blocks)
  }
  await app.blocks(...slots, 450)
  return app
}

t.test('totals are of the window that ends with the head, by role, mint and address', async (t) => {
  const app = await filled(t)
  const { status, body } = await app.send('GET', `${PATH}?window=250`)
  t.equal(status, 200)
  const sums = (usd: number, blocks: number) => ({
    inflow_usd: usd * blocks,
    outflow_usd: 0.5 * blocks,
    net_usd: (usd - 0.5) * blocks,
    inflow_sol: blocks,
    outflow_sol: 0,
    net_sol: blocks,
    events: 2 * blocks
  })
  t.strictSame(body, {
    window_seconds: 250,
    from: '2026-08-24 12:03:20',
    to: '2026-08-24 12:07:30',
    complete_to: null,
    totals: {
      inflow_usd: 750 + 1_500,
      outflow_usd: 4,
      net_usd: 2_246,
      inflow_sol: 8,
      outflow_sol: 0,
      net_sol: 8,
      events: 16
    },
    by_role: [
      { role: 'treasury', addresses: 1, ...sums(500, 3) },
      { role: 'fee_wallet', addresses: 2, ...sums(150, 5) }
    ],
    by_mint: [
      {
        mint: WSOL,
        symbol: 'SOL',
        decimals: 9,
        inflow: 8,
        outflow: 0,
        net: 8,
        inflow_raw: '8000000000',
        outflow_raw: '0',
        net_raw: '8000000000',
        inflow_usd: 2_250,
        outflow_usd: 0,
        net_usd: 2_250,
        events: 8
      },
      {
        mint: GRAIN,
        symbol: null,
        decimals: 6,
        inflow: 0,
        outflow: 12,
        net: -12,
        inflow_raw: '0',
        outflow_raw: '12000000',
        net_raw: '-12000000',
        inflow_usd: 0,
        outflow_usd: 4,
        net_usd: -4,
        events: 8
      }
    ],
    mints_left_out: 0,
    mints_without_price: 0,
    by_address: [
      { address: CAROL, label: 'C', role: 'treasury', ...sums(500, 3) },
      { address: ALICE, label: 'A', role: 'fee_wallet', ...sums(150, 3) },
      { address: BOB, label: 'B', role: 'fee_wallet', ...sums(150, 2) }
    ]
  })
})

t.test('a window is a day by default, and one without blocks of its own has no sums', async (t) => {
  const app = await filled(t)
  const day = await app.send('GET', PATH)
  t.match(day.body, { window_seconds: 86_400, to: '2026-08-24 12:07:30', totals: { events: 20 } })
  await app.blocks(5_000)
  const { body } = await app.send('GET', `${PATH}?window=60`)
  t.match(body, { from: '2026-08-24 13:22:20', to: '2026-08-24 13:23:20', totals: NOTHING, by_mint: [] })
  t.same((body.by_address as unknown[]).length, 3)
})

t.test('a row past the head of the answer does not count', async (t) => {
  const app = await filled(t)
  await app.watch(GRAIN)
  await app.ledger(GRAIN, [{ slot: 451, entries: [entry()] }])
  const { body } = await app.send('GET', PATH)
  t.match(
    (body.by_address as { address: string }[]).find(({ address }) => address === GRAIN),
    NOTHING
  )
})

t.test('totals of a store without blocks end now, and have no sums', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE)
  t.match((await app.send('GET', `${PATH}?window=60`)).body, {
    from: '2026-08-24 11:59:00',
    to: '2026-08-24 12:00:00',
    complete_to: null,
    totals: NOTHING,
    by_role: [{ role: 'other', addresses: 1, ...NOTHING }]
  })
})

t.test(
  'flows that cancel in a transaction count as rows only, and those of a mint without price have no USD',
  async (t) => {
    const app = await revenueClient(t)
    await app.watch(ALICE)
    const wrapped = { account: CAROL, isNative: false, index: 1 }
    await app.ledger(ALICE, [
      {
        slot: 5,
        entries: [
          entry({ pre: 9n, post: 4n, valueUsd: null }),
          entry({ ...wrapped, pre: 0n, post: 5n, valueUsd: null }),
          entry({
            signature: signatureOf(2),
            txIndex: 1,
            mint: USDC,
            decimals: 6,
            pre: 4n,
            post: 5n,
            valueUsd: null
          })
        ]
      }
    ])
    await app.blocks(5)
    const { body } = await app.send('GET', PATH)
    t.match(body, {
      totals: { ...NOTHING, unpriced_events: 1, events: 3 },
      mints_without_price: 1,
      by_mint: [
        {
          mint: WSOL,
          inflow_raw: '0',
          outflow_raw: '0',
          inflow_usd: 0,
          outflow_usd: 0,
          net_usd: 0,
          events: 2
        },
        {
          mint: USDC,
          inflow_raw: '1',
          outflow_raw: '0',
          inflow_usd: null,
          outflow_usd: 0,
          net_usd: null,
          unpriced_events: 1
        }
      ]
    })
    const [sol] = body.by_mint as object[]
    t.notOk('unpriced_events' in sol!, 'changes that cancel each other lack no value')
  }
)

t.test('totals of another tenant’s addresses are not shown', async (t) => {
  const app = await filled(t)
  await app.keys.createTenant('rival', 1)
  const rival = await app.as({ tenant: 'rival' })
  t.match((await rival('GET', PATH)).body, { totals: NOTHING, by_role: [], by_mint: [], by_address: [] })
  await app.watch(ALICE, 350, { label: 'Theirs' }, rival)
  t.match((await rival('GET', PATH)).body, {
    totals: { events: 2 },
    by_address: [{ address: ALICE, label: 'Theirs', events: 2 }]
  })
})

t.test('a window out of range is refused with its name', async (t) => {
  const app = await revenueClient(t)
  for (const window of ['59', '31536001', '-1', '1h', '', '60.5'])
    t.match(await app.send('GET', `${PATH}?window=${window}`), {
      status: 400,
      body: { code: 'invalid_parameter', detail: 'window must be a whole number between 60 and 31536000' }
    })
  for (const window of ['60', '31536000'])
    t.match(await app.send('GET', `${PATH}?window=${window}`), { status: 200 })
  t.match(await app.send('GET', `${PATH}?days=1`), { status: 400, body: { detail: /^days is not/ } })
})

t.test('the window of the sums ends with the ledger, not with the index', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 1)
  for (const slot of [10, 20]) await app.ledger(ALICE, [{ slot, entries: [entry()] }])
  await app.blocks(10, 20)
  const totals = async () => (await app.send('GET', '/v1/revenue/totals?window=60')).body
  t.match(await totals(), { to: '2026-08-24 12:00:20', complete_to: null })
  await app.endAt(10)
  const complete_to = { slot: 10, ts: '2026-08-24 12:00:10' }
  t.match(await totals(), { to: '2026-08-24 12:00:10', complete_to, totals: { events: 1 } })
  for (const path of ['/v1/revenue/events', '/v1/revenue/accounts', '/v1/revenue/coverage'])
    t.match((await app.send('GET', path)).body, { complete_to }, path)
  const { save } = await ledgerProgressIn(app.storage.documents).claim(2)
  await save({ slot: 20, blockhash: null, blockTime: 0, documentsTo: -1 })
  t.match(await totals(), { complete_to: { slot: 20, ts: '2026-08-24 12:00:20' } }, 'the index has its time')
  await save({ slot: 15, blockhash: null, blockTime: 0, documentsTo: -1 })
  t.match(await totals(), { to: '2026-08-24 12:00:10', complete_to: { slot: 15, ts: '2026-08-24 12:00:10' } })
  await save({ slot: 5, blockhash: null, blockTime: 0, documentsTo: -1 })
  t.match(await totals(), { complete_to: { slot: 5, ts: null } }, 'its time is not known')
})

t.test('a reward is a row without a transaction, with a cursor and an id of its own', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 1)
  const reward = {
    signature: null,
    feePayer: null,
    feeLamports: 0n,
    counterparty: null,
    confidence: 'none',
    ixIndex: null,
    kind: 'reward'
  } as const
  const entries = [
    entry({ ...reward, txIndex: -1 }),
    entry({ txIndex: 3 }),
    entry({ ...reward, txIndex: 4_294_967_296, index: 0 })
  ]
  await app.ledger(ALICE, [{ slot: 10, entries }])
  await app.blocks(10)
  const { body } = await app.send('GET', '/v1/revenue/events?order=asc')
  t.match(body.data, [
    { id: `reward:10:before:0:${ALICE}`, kind: 'reward', signature: null, fee_payer: null, fee_lamports: 0 },
    { kind: 'transfer' },
    { id: `reward:10:after:0:${ALICE}`, kind: 'reward' }
  ])
  for (const [at, { cursor }] of body.data.entries()) {
    const next = await app.send('GET', `/v1/revenue/events?order=asc&after=${cursor}`)
    t.equal(next.body.data.length, 2 - at, 'the rows after it')
  }
  t.match((await app.send('GET', '/v1/revenue/totals')).body, { totals: { inflow_sol: 3, events: 3 } })
})
