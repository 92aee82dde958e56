import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { USDC, WSOL } from '../../src/market/cash.ts'
import {
  block,
  buy,
  curve,
  key,
  launch,
  liquidity,
  NOON,
  OTHER,
  POOL,
  sell,
  solSale,
  TOKEN,
  trade
} from '../market/world.ts'
import { marketApp } from './market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const SWAPPED = pubkeyToBase58(OTHER)
const SLOT = 300_000_000

/** An app with SOL at 200 USD, a launch, buys at 0.001 and a sell at 0.002 SOL a token, and a swap of two tokens. */
async function filled(t: Parameters<typeof marketApp>[0]) {
  const app = await marketApp(t)
  const route = { program: key(500), ixIndex: 1, hop: 2, hops: 3 }
  const fees = [
    { kind: 'protocol', mint: key(1), amount: 3n },
    { kind: 'creator', mint: key(1), amount: 4n }
  ] as const
  const reserves = { in: 18_446_744_073_709_551_615n, out: 9_007_199_254_740_993n, virtualIn: 5n }
  await app.commit(
    block(SLOT, NOON - 60, [solSale(200)]),
    block(SLOT + 1, NOON, [
      launch({ supply: 1_000_000_000_000_000n }),
      buy(1_000_000_000n, 1_000_000_000n, { fees, reserves, exact: 'in', route, traderIn: 1_010_000_000n })
    ]),
    block(SLOT + 2, NOON + 61, [
      sell(2_000_000_000n, 4_000_000_000n, { innerIxIndex: 4 }),
      trade({
        inMint: OTHER,
        outMint: key(3),
        inDecimals: 2,
        outDecimals: 4,
        inAmount: 12_345n,
        outAmount: 6n
      }),
      liquidity()
    ])
  )
  app.nowMs = (NOON + 61 + 7) * 1000 + 999
  return app
}

t.test('health says status, freshness in whole seconds, slot, block time and version', async (t) => {
  const app = await filled(t)
  const { status, body, headers } = await app.get('/v1/health', {})
  t.equal(status, 200)
  t.strictSame(body, {
    status: 'ok',
    reasons: [],
    data_freshness_seconds: 7,
    chain_clock_lag_seconds: 7,
    slot: SLOT + 2,
    block_time: NOON + 61,
    source: null,
    version: '1.2.3'
  })
  t.equal(headers['x-data-freshness-seconds'], '7')
})

t.test('health is ok at 120 s and degraded with 503 from 121 s on and while draining', async (t) => {
  const app = await filled(t)
  const at = async (seconds: number, ms: number) => {
    app.nowMs = (NOON + 61 + seconds) * 1000 + ms
    const { status, body } = await app.get('/v1/health', {})
    return [status, body.status, body.data_freshness_seconds]
  }
  t.strictSame(await at(120, 0), [200, 'ok', 120])
  t.strictSame(await at(120, 999), [200, 'ok', 120])
  t.strictSame(await at(121, 0), [503, 'degraded', 121])
  t.strictSame(await at(-5, 0), [200, 'ok', 0], 'a block ahead of the clock is fresh')
  app.draining = true
  t.strictSame(await at(1, 0), [503, 'draining', 1])
})

t.test('health of a service that has indexed nothing is degraded, and says so with nulls', async (t) => {
  const empty = await (await marketApp(t)).get('/v1/health', {})
  t.equal(empty.status, 503)
  t.match(empty.body, { status: 'degraded', data_freshness_seconds: null, slot: null, block_time: null })
})

t.test('a launch carries the fields of the specification and of the event', async (t) => {
  const app = await filled(t)
  const { body } = await app.get('/v1/launches')
  t.strictSame(Object.keys(body).sort(), ['data', 'nextCursor', 'tenant'])
  t.equal(body.tenant, 'acme')
  t.equal(body.nextCursor, null)
  t.equal(body.data.length, 1)
  const row = body.data[0]!
  t.match(row.ingested_at, /^2026-08-24 12:00:00\.400$/)
  t.match(row, {
    kind: 'launch',
    event: 'create',
    slot: SLOT + 1,
    venue: 'pumpswap',
    pool: pubkeyToBase58(POOL),
    creator: pubkeyToBase58(key(301)),
    mint: MINT,
    symbol: 'GRN',
    name: 'Grain',
    uri: 'https://example.org/grn.json',
    base_mint: MINT,
    quote_mint: WSOL,
    decimals: 6,
    supply_raw: '1000000000000000',
    curve: pubkeyToBase58(POOL),
    status: 'trading',
    block_time: NOON,
    ts: '2026-08-24 12:00:00',
    ts_ms: NOON * 1000,
    tx_index: 0,
    ix_index: 2,
    inner_ix_index: null,
    commitment: 'confirmed',
    user: pubkeyToBase58(key(300)),
    fee_payer: pubkeyToBase58(key(400))
  })
  t.equal(typeof row.cursor, 'number')
})

t.test('launches filter by each status of the lifecycle, as it is now', async (t) => {
  const app = await marketApp(t)
  const mints = [key(21), key(22), key(23)]
  const on = (baseMint: Uint8Array) => launch({ baseMint })
  await app.commit(
    block(SLOT, NOON, mints.map(on)),
    block(SLOT + 1, NOON, [
      buy(10n ** 9n, 10n ** 9n, { outMint: mints[1]! }),
      buy(10n ** 9n, 10n ** 9n, { outMint: mints[2]! }),
      curve('complete', { baseMint: mints[1]! }),
      curve('migrate', { baseMint: mints[2]! })
    ])
  )
  for (const [index, status] of ['created', 'trading', 'graduated'].entries()) {
    const { body } = await app.get(`/v1/launches?status=${status}`)
    t.strictSame(
      body.data.map((row) => [row.mint, row.status]),
      [[pubkeyToBase58(mints[index]!), status]]
    )
  }
})

t.test('a trade carries executed amounts, prices, totals, fees, reserves and its route', async (t) => {
  const app = await filled(t)
  const { body } = await app.get(`/v1/tokens/${MINT}/trades`)
  t.strictSame(Object.keys(body).sort(), ['data', 'nextCursor', 'tenant'])
  t.equal(body.data.length, 2, 'newest first')
  const sold = body.data[0]!
  const bought = body.data[1]!
  t.match(bought, {
    kind: 'trade',
    event: 'buy',
    venue: 'pumpswap',
    trader: pubkeyToBase58(key(300)),
    is_buy: 1,
    mint: MINT,
    cash_mint: WSOL,
    cash_symbol: 'SOL',
    cash_amount: 1,
    cash_amount_raw: '1000000000',
    token_amount: 1000,
    token_amount_raw: '1000000000',
    decimals: 6,
    price: 0.001,
    price_usd: 0.2,
    amount_usd: 200,
    exec_in: 1,
    exec_out: 1000,
    in_mint: WSOL,
    in_amount_raw: '1000000000',
    out_mint: MINT,
    out_amount_raw: '1000000000',
    trader_in_raw: '1010000000',
    trader_out_raw: '1000000000',
    fees: [
      { kind: 'protocol', mint: pubkeyToBase58(key(1)), amount_raw: '3' },
      { kind: 'creator', mint: pubkeyToBase58(key(1)), amount_raw: '4' }
    ],
    fee_raw: '7',
    fee_mint: pubkeyToBase58(key(1)),
    reserves: {
      in_raw: '18446744073709551615',
      out_raw: '9007199254740993',
      virtual_in_raw: '5',
      virtual_out_raw: null
    },
    exact: 'in',
    price_forming: true,
    route_program: pubkeyToBase58(key(500)),
    hop: 2,
    hops: 3,
    slot: SLOT + 1,
    tx_index: 1,
    ix_index: 2,
    inner_ix_index: null,
    ts: '2026-08-24 12:00:00',
    ts_ms: NOON * 1000,
    failed: false,
    commitment: 'confirmed'
  })
  t.equal(bought.route_id, `${String(bought.signature)}:1`)
  t.match(sold, {
    event: 'sell',
    is_buy: 0,
    price: 0.002,
    price_usd: 0.4,
    amount_usd: 800,
    inner_ix_index: 4
  })
  t.notOk('route_id' in sold)
  t.notOk('fee_raw' in sold)
  t.equal(sold.reserves, null)
  t.ok(sold.cursor > bought.cursor)
})

t.test('a trade without a cash side stands under both mints with its money fields null', async (t) => {
  const app = await filled(t)
  for (const [mint, decimals, amount] of [
    [SWAPPED, 2, 123.45],
    [pubkeyToBase58(key(3)), 4, 0.0006]
  ] as const) {
    const { body } = await app.get(`/v1/tokens/${mint}/trades`)
    t.equal(body.data.length, 1)
    t.match(body.data[0], {
      event: 'swap',
      mint,
      decimals,
      token_amount: amount,
      is_buy: null,
      cash_mint: null,
      cash_symbol: null,
      cash_amount: null,
      cash_amount_raw: null,
      price: null,
      amount_usd: null,
      price_usd: null,
      legs: [
        { mint: SWAPPED, amount_raw: '12345', amount: 123.45, decimals: 2 },
        { mint: pubkeyToBase58(key(3)), amount_raw: '6', amount: 0.0006, decimals: 4 }
      ]
    })
  }
  t.equal((await app.get(`/v1/tokens/${SWAPPED}/price`)).status, 404, 'it forms no price')
  t.strictSame((await app.get(`/v1/tokens/${SWAPPED}/candles`)).body.data, [])
})

t.test('candles carry prices, volumes and counts, oldest first, native or in USD', async (t) => {
  const app = await filled(t)
  const { body } = await app.get(`/v1/tokens/${MINT}/candles`)
  t.strictSame(Object.keys(body), ['cash_mint', 'data', 'nextCursor'])
  t.equal(body.cash_mint, WSOL)
  t.equal(body.nextCursor, null)
  t.strictSame(body.data, [
    {
      ts: '2026-08-24 12:00:00',
      ts_ms: NOON * 1000,
      open: 0.001,
      high: 0.001,
      low: 0.001,
      close: 0.001,
      volume_usd: 200,
      volume_token: 1000,
      volume_cash: 1,
      trades: 1,
      buys: 1,
      sells: 0,
      closed: true
    },
    {
      ts: '2026-08-24 12:01:00',
      ts_ms: (NOON + 60) * 1000,
      open: 0.002,
      high: 0.002,
      low: 0.002,
      close: 0.002,
      volume_usd: 800,
      volume_token: 2000,
      volume_cash: 4,
      trades: 1,
      buys: 0,
      sells: 1,
      closed: false
    }
  ])
  const usd = (await app.get(`/v1/tokens/${MINT}/candles?currency=usd&interval=1w`)).body.data
  t.match(usd, [
    { ts: '2026-08-24 00:00:00', open: 0.2, high: 0.4, low: 0.2, close: 0.4, trades: 2, closed: false }
  ])
  const sol = (await app.get(`/v1/tokens/${WSOL}/candles?cash=${USDC}`)).body.data
  t.match(sol, [{ open: 200, close: 200, volume_token: 1, volume_usd: 200 }])
})

t.test('a candle limit counts candles: buckets without a price are stepped over', async (t) => {
  const app = await marketApp(t)
  const dust = Array.from({ length: 30 }, (_, i) =>
    block(SLOT + 10 + i, NOON + 3600 + i * 60, [buy(999n, 10n ** 9n)])
  )
  await app.commit(
    block(SLOT, NOON, [buy(10n ** 9n, 10n ** 9n)]),
    block(SLOT + 1, NOON + 60, [buy(2n * 10n ** 9n, 10n ** 9n)]),
    ...dust
  )
  const closes = async (query: string) => {
    const { body } = await app.get(`/v1/tokens/${MINT}/candles?${query}`)
    return body.data.map(({ close, trades }) => [close, trades])
  }
  t.strictSame(await closes('limit=1'), [[0.002, 1]])
  t.strictSame(await closes('limit=2'), [
    [0.001, 1],
    [0.002, 1]
  ])
  t.strictSame(await closes('limit=1000'), await closes('limit=2'))
  t.strictSame(await closes('limit=1&interval=1d'), [[0.002, 32]], 'what forms no price counts as a trade')
  t.strictSame(await closes('currency=usd'), [], 'no USD price of SOL is known')
})

t.test('the price is that of the newest trade of any pair, with the day before the head', async (t) => {
  const app = await filled(t)
  const { body } = await app.get(`/v1/tokens/${MINT}/price`)
  const sold = (await app.get(`/v1/tokens/${MINT}/trades?limit=1`)).body.data[0]!
  t.strictSame(body, {
    mint: MINT,
    price: 0.002,
    price_native: 0.002,
    price_usd: 0.4,
    cash_mint: WSOL,
    cash_symbol: 'SOL',
    venue: 'pumpswap',
    pool: pubkeyToBase58(POOL),
    slot: SLOT + 2,
    signature: sold.signature,
    ts: '2026-08-24 12:01:01',
    ts_ms: (NOON + 61) * 1000,
    age_seconds: 0,
    market_cap_usd: null,
    volume_24h_usd: 1000,
    volume_24h_native: 5,
    liquidity_usd: null,
    supply_slot: null,
    price_change_24h_pct: body.price_change_24h_pct,
    confidence: 'trade'
  })
  t.equal((await app.get(`/v1/tokens/${WSOL}/price`)).body.price_usd, 200)
  await app.commit(block(SLOT + 9, NOON + 61 + 3601, []))
  t.match((await app.get(`/v1/tokens/${MINT}/price`)).body, { confidence: 'stale', age_seconds: 3601 })
  const unknown = await app.get(`/v1/tokens/${pubkeyToBase58(key(77))}/price`)
  t.match(unknown, { status: 404, body: { code: 'token_not_found' } })
})

t.test('lists of an unknown token are empty, not missing', async (t) => {
  const app = await filled(t)
  for (const list of ['trades', 'candles']) {
    const { status, body } = await app.get(`/v1/tokens/${pubkeyToBase58(key(77))}/${list}`)
    t.equal(status, 200)
    t.strictSame(body.data, [])
  }
})
