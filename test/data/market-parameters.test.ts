import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { block, buy, NOON, TOKEN } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const TRADES = `/v1/tokens/${MINT}/trades`
const WALLET = `/v1/wallets/${MINT}/trades`
const CANDLES = `/v1/tokens/${MINT}/candles`
const POOLS = `/v1/tokens/${MINT}/pools`
const POOL_TRADES = `/v1/pools/${MINT}/trades`
const POOL_CANDLES = `/v1/pools/${MINT}/candles`
const ACTIVITY = `/v1/pools/${MINT}/activity`
const SLOT = 300_000_000

t.test('each bad parameter of the market is refused with 400 and named', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(SLOT, NOON, [buy(10n ** 9n, 10n ** 9n)]))
  const refuses = async (path: string, query: string, field: string, code = 'invalid_parameter') => {
    const { status, body } = await app.get(`${path}?${query}`)
    t.match(
      { status, code: body.code, detail: body.detail },
      { status: 400, code, detail: new RegExp(`^${field} `) },
      query
    )
  }
  const times = [
    '',
    'now',
    '-1',
    '1.5',
    '1e9',
    '1787572800000',
    '999999999999',
    '2026-02-30',
    '2026-13-01',
    '2026-08-24T25:00:00Z',
    '2026-08-24T12',
    '2026-8-4',
    '24.08.2026',
    '2026-08-24T12:00:00Q',
    '2026-08-24T12:00:00%2099'
  ]
  for (const path of [TRADES, WALLET, POOL_TRADES, CANDLES, POOL_CANDLES]) {
    for (const time of times) {
      await refuses(path, `from=${time}`, 'from')
      await refuses(path, `to=${time}`, 'to')
    }
    await refuses(path, 'from=20&to=20', 'from')
    await refuses(path, 'from=2026-08-24&to=2026-08-23', 'from')
    await refuses(path, 'from=1&from=1', 'from')
  }
  for (const path of [TRADES, WALLET, POOL_TRADES]) {
    for (const usd of [
      '',
      '-1',
      '+1',
      '1e',
      '1e0.5',
      'NaN',
      'Infinity',
      '.5',
      '1.',
      '1,000',
      '0x1',
      '1e 7 ',
      '1 000'
    ]) {
      await refuses(path, `min_usd=${encodeURIComponent(usd)}`, 'min_usd')
    }
    await refuses(path, 'venue=uniswap', 'venue')
    await refuses(path, 'venue=', 'venue')
    await refuses(path, 'side=hold', 'side')
    await refuses(path, 'side=BUY', 'side')
    await refuses(path, 'limit=1001', 'limit')
    await refuses(path, 'after=x', 'after', 'invalid_cursor')
    await refuses(path, 'min_usd=1&offset=9999&limit=2', 'offset')
  }
  const { body } = await app.get(`${TRADES}?venue=uniswap`)
  for (const venue of VENUE_IDS) t.match(body.detail, venue, 'the refusal lists the venues')

  for (const path of [CANDLES, POOL_CANDLES]) await refuses(path, 'interval=2s', 'interval')
  await refuses(POOL_CANDLES, 'cash=x', 'cash')
  await refuses(POOL_CANDLES, 'limit=1001', 'limit')
  await refuses(POOL_CANDLES, 'after=AAAA', 'after', 'invalid_cursor')
  await refuses(CANDLES, 'fill=zero', 'fill')
  await refuses(CANDLES, 'raw=2', 'raw')
  await refuses(CANDLES, 'raw=yes', 'raw')
  await refuses(CANDLES, 'after=AAAA', 'after', 'invalid_cursor')
  await refuses(CANDLES, 'offset=1', 'offset')
  await refuses(POOLS, 'limit=501', 'limit')
  await refuses(POOLS, 'order=liquidity', 'order')
  await refuses(POOLS, 'after=zzz', 'after', 'invalid_cursor')
  await refuses(POOLS, 'offset=1', 'offset')
  await refuses(ACTIVITY, 'limit=1441', 'limit')
  await refuses(ACTIVITY, 'limit=0', 'limit')
  await refuses(ACTIVITY, 'interval=1m', 'interval')
  await refuses(`/v1/tokens/${MINT}`, 'window=1h', 'window')
  await refuses(`/v1/tokens/${MINT}/bonding-curve`, 'x=1', 'x')
  for (const [path, field] of [
    ['/v1/tokens/nobody', 'mint'],
    ['/v1/tokens/nobody/pools', 'mint'],
    ['/v1/tokens/nobody/bonding-curve', 'mint'],
    ['/v1/wallets/nobody/trades', 'wallet'],
    ['/v1/pools/nobody', 'pool'],
    ['/v1/pools/nobody/trades', 'pool'],
    ['/v1/pools/nobody/candles', 'pool'],
    ['/v1/pools/nobody/activity', 'pool']
  ] as const) {
    await refuses(path, '', field, 'invalid_address')
  }
})

t.test('an unknown address is empty in lists, and 404 as a single object', async (t) => {
  const app = await marketApp(t)
  for (const isEmpty of [true, false]) {
    if (!isEmpty)
      await app.commit(
        block(SLOT, NOON, [buy(10n ** 9n, 10n ** 9n, { outMint: new Uint8Array(32).fill(5) })])
      )
    for (const path of [
      TRADES,
      WALLET,
      POOL_TRADES,
      CANDLES,
      POOLS,
      `${CANDLES}?fill=previous`,
      `${TRADES}?side=buy`
    ]) {
      const { status, body } = await app.get(path)
      t.strictSame([status, body.data, body.nextCursor], [200, [], null], path)
    }
    t.match(await app.get(ACTIVITY), {
      status: 200,
      body: { pool: MINT, venue: null, base_mint: null, quote_mint: null, data: [] }
    })
    for (const [path, code] of [
      ['', 'token_not_found'],
      ['/price', 'token_not_found'],
      ['/bonding-curve', 'no_bonding_curve']
    ] as const) {
      t.match(await app.get(`/v1/tokens/${MINT}${path}`), { status: 404, body: { code } }, path)
    }
  }
})

t.test('a range of times holds its first second and not its last, however times are written', async (t) => {
  const app = await marketApp(t)
  await app.commit(...[-1, 0, 1, 2, 3].map((s) => block(SLOT + 5 + s, NOON + s, [buy(10n ** 9n, 10n ** 9n)])))
  const seconds = async (query: string) => {
    const { body, text, status } = await app.get(`${TRADES}?order=asc&${query}`)
    if (status !== 200) throw new Error(text)
    return body.data.map((row) => Number(row.ts_ms) / 1000 - NOON)
  }
  t.strictSame(await seconds(`from=${NOON}&to=${NOON + 2}`), [0, 1])
  t.strictSame(await seconds(`from=${NOON}`), [0, 1, 2, 3])
  t.strictSame(await seconds(`to=${NOON}`), [-1])
  for (const noon of [
    '2026-08-24T12:00:00Z',
    '2026-08-24T12:00:00',
    '2026-08-24 12:00:00',
    '2026-08-24T12:00',
    '2026-08-24T14:00:00+02:00',
    '2026-08-24T06:30:00-05:30',
    '2026-08-24T11:59:59.001Z',
    '2026-08-24T12:00:00.000000000Z'
  ]) {
    t.strictSame(await seconds(`from=${encodeURIComponent(noon)}&to=${NOON + 2}`), [0, 1], noon)
    t.strictSame(await seconds(`to=${encodeURIComponent(noon)}`), [-1], noon)
  }
  t.strictSame(await seconds('from=2026-08-24'), [-1, 0, 1, 2, 3])
  t.strictSame(await seconds('to=2026-08-24'), [])
  t.strictSame(await seconds('from=2027-01-01'), [], 'later than the head')
  t.strictSame(await seconds('from=1969-12-31&to=9999-12-31T23:59:59Z'), [-1, 0, 1, 2, 3])
  t.strictSame(await seconds('to=0001-01-01T00:00:00z'), [])
})
