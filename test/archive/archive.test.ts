import t from 'tap'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import type { ChainEvent } from '../../src/chain/events.ts'
import { CANDLE } from '../../src/data/bodies/candle.ts'
import { CURVE } from '../../src/data/bodies/curve.ts'
import { LAUNCH } from '../../src/data/bodies/launch.ts'
import { POOL } from '../../src/data/bodies/pool.ts'
import { PRICE } from '../../src/data/bodies/price.ts'
import { TOKEN as OVERVIEW } from '../../src/data/bodies/token.ts'
import { TRADE } from '../../src/data/bodies/trade-schema.ts'
import {
  block,
  buy,
  curve,
  key,
  launch,
  liquidity,
  NOON,
  OTHER,
  PEGGED,
  poolChange,
  sell,
  SOL,
  solSale,
  TOKEN,
  trade
} from '../market/world.ts'
import { testWithFixtures } from '../fixtures.ts'
import { archivedApps, type ArchivedApps } from './archived-app.ts'
import { cycle, walk, type Body, type Row } from '../http/market-app.ts'
import { recordedChain } from '../http/recorded-chain.ts'

const SOL_BUYER = key(300)
const NEW = key(20)
const GRADUATED = key(21)
const UNTRADED = key(22)
const POOLS = { token: key(100), other: key(110), two: key(111), new: key(120), graduated: key(121) }
const base58 = (address: Pubkey): string => pubkeyToBase58(address)

const TOKEN_POOL = { pool: POOLS.token, venue: 'pumpfun' } as const
const reserves = { in: 5_000n, out: 7_000n, virtualIn: 30_000_000_000n, virtualOut: 1_000_000_000_000n }

/** A purchase of a token in a pool, in a series at nearly equal prices. */
const bought = (mint: Pubkey, pool: Pubkey, tokens: bigint, user = SOL_BUYER): ChainEvent =>
  buy(1_000_000_000n, tokens, { outMint: mint, pool, venue: 'pumpfun', user, reserves })
const launched = (mint: Pubkey, pool: Pubkey): ChainEvent =>
  launch({ baseMint: mint, curve: pool, pool, venue: 'pumpfun', supply: 10n ** 15n })

const SLOT = 300_000_000
/** Three minutes and 20 seconds between blocks, so that the border is within a bucket of most intervals. */
const at = (index: number, start: number, events: readonly ChainEvent[]) =>
  block(SLOT + 2 * index, start + 200 * index, [solSale(200), ...events])

/** Twelve blocks: OTHER trades here alone, GRADUATED and UNTRADED are launched. */
const archivedBlocks = (start: number) =>
  Array.from({ length: 12 }, (_, index) =>
    at(index, start, [
      ...(index === 0
        ? [launched(TOKEN, POOLS.token), launched(OTHER, POOLS.other), launched(UNTRADED, key(112))]
        : []),
      ...(index === 2 ? [launched(GRADUATED, POOLS.graduated)] : []),
      ...(index === 3
        ? [poolChange({ baseMint: TOKEN, quoteMint: PEGGED, pool: POOLS.two, feeBps: 30 })]
        : []),
      bought(TOKEN, POOLS.token, 900_000_000n + BigInt(index)),
      bought(OTHER, POOLS.other, 500_000_000n + BigInt(index), key(305)),
      trade({ outMint: OTHER, inMint: TOKEN, inDecimals: 6, pool: key(113), inAmount: 77n })
    ])
  )

/** Ten blocks that follow: NEW is launched, GRADUATED graduates. */
const liveBlocks = (start: number) =>
  Array.from({ length: 10 }, (_, i) => {
    const index = i + 12
    return at(index, start, [
      ...(i === 1 ? [launched(NEW, POOLS.new)] : []),
      ...(i === 2 ? [bought(GRADUATED, POOLS.graduated, 800_000_000n)] : []),
      ...(i === 3
        ? [
            curve('migrate', {
              baseMint: GRADUATED,
              curve: POOLS.graduated,
              pool: POOLS.graduated,
              venue: 'pumpfun'
            })
          ]
        : []),
      ...(i === 4 ? [liquidity({ pool: POOLS.token, venue: 'pumpfun' })] : []),
      bought(TOKEN, POOLS.token, 1_000_000_000n + BigInt(index)),
      sell(1_000_000_000n, 900_000_000n, { ...TOKEN_POOL, user: key(301) }),
      buy(180_000_000n, 1_000_000_000n, { inMint: PEGGED, inDecimals: 6, pool: POOLS.two })
    ])
  })

const withoutSource = ({ source: _, ...row }: Row | Body) => row
/** Leaves out changes in percent: a rolling window does not know the price before the first live block. */
const withoutChange = (body: Body): unknown =>
  JSON.parse(JSON.stringify(body), (name, value: unknown) =>
    /_change_.*pct$/.test(name) ? undefined : value
  )
const count = (rows: readonly Row[], source?: string): number =>
  rows.filter((row) => row.source === source).length

/** Both parts beside each other: no gap of time at the border. */
const adjacent = (t: Parameters<typeof archivedApps>[0]): Promise<ArchivedApps> =>
  archivedApps(t, archivedBlocks(NOON), liveBlocks(NOON))
/** The archive ends three days before the live blocks, so that no rolling window has blocks of both. */
const apart = (t: Parameters<typeof archivedApps>[0]): Promise<ArchivedApps> =>
  archivedApps(t, archivedBlocks(NOON), liveBlocks(NOON + 3 * 86_400))

const LISTS = [
  `/v1/tokens/${base58(TOKEN)}/trades`,
  `/v1/tokens/${base58(OTHER)}/trades`,
  `/v1/tokens/${base58(SOL)}/trades`,
  `/v1/wallets/${base58(SOL_BUYER)}/trades`,
  `/v1/pools/${base58(POOLS.token)}/trades`,
  '/v1/launches'
]

t.test('lists, pages of every size and both orders, go on into the archive and mark its rows', async (t) => {
  const { app, whole, end } = await adjacent(t)
  for (const path of LISTS)
    for (const order of ['desc', 'asc'])
      for (const sizes of [[1], [7, 2], [500]]) {
        const list = `${path}?order=${order}`
        const rows = await walk(app, list, cycle(sizes))
        t.strictSame(
          rows.map(withoutSource),
          await walk(whole, list, () => 500),
          `${list} in pages of ${sizes.join()}`
        )
        for (const row of rows) t.equal(row.source, (row.slot as number) <= end.slot ? 'archive' : undefined)
        t.ok(count(rows, 'archive') > 0, 'archived rows')
      }
  const { body } = await app.get(LISTS[0]!)
  TRADE.array().parse(body.data)
})

t.test('filters and offsets of lists apply on both sides of the border', async (t) => {
  const { app, whole, end } = await adjacent(t)
  const time = end.blockTime
  const queries = [
    `from=${time - 500}&to=${time + 500}`,
    `to=${time + 1}`,
    `from=${time + 1}`,
    `from=${time - 1000}&side=sell`,
    `min_usd=100&venue=pumpfun`,
    `min_usd=100000`,
    'offset=5',
    'offset=19',
    'offset=24',
    'offset=200'
  ]
  for (const path of LISTS.slice(0, 5))
    for (const query of queries)
      for (const order of ['desc', 'asc']) {
        const list = `${path}?${query}&order=${order}&limit=9`
        const [own, expected] = [await app.get(list), await whole.get(list)]
        t.strictSame(own.body.data.map(withoutSource), expected.body.data, list)
        t.equal(own.body.nextCursor, expected.body.nextCursor, `cursor of ${list}`)
      }
})

t.test('launches of the archive have their current status, in lists of a status too', async (t) => {
  const { app, whole } = await adjacent(t)
  for (const status of ['created', 'trading', 'graduated'])
    for (const order of ['desc', 'asc'])
      for (const query of ['limit=1', 'limit=500', 'limit=2&offset=1', 'limit=5&offset=40']) {
        const list = `/v1/launches?status=${status}&order=${order}&${query}`
        const [own, expected] = [await app.get(list), await whole.get(list)]
        t.strictSame(own.body.data.map(withoutSource), expected.body.data, list)
        t.equal(own.body.nextCursor, expected.body.nextCursor)
      }
  const { body } = await app.get('/v1/launches?status=graduated')
  t.match(body.data, [{ mint: base58(GRADUATED), source: 'archive' }])
  LAUNCH.array().parse(body.data)
  const created = await app.get('/v1/launches?status=created')
  const all = await app.get('/v1/launches')
  t.equal(
    created.body.data.some(({ mint }) => mint === base58(UNTRADED)),
    true
  )
  await app.commit(at(40, NOON, [bought(UNTRADED, key(112), 5_000_000n)]))
  const after = await app.get('/v1/launches?status=created')
  t.equal(
    after.body.data.some(({ mint }) => mint === base58(UNTRADED)),
    false,
    'left the list with its first trade'
  )
  const graduated = '/v1/launches?status=graduated'
  await app.get(graduated)
  await app.commit(at(41, NOON, [curve('migrate', { ...TOKEN_POOL, curve: POOLS.token })]))
  t.equal((await app.get(graduated)).body.data.length, 2, 'a cached list of a status takes in another launch')
  const statusOf = (answer: typeof all): unknown =>
    answer.body.data.find(({ mint }) => mint === base58(UNTRADED))?.status
  t.equal(statusOf(all), 'created')
  t.equal(statusOf(await app.get('/v1/launches')), 'trading', 'cached answers too')
})

t.test('candles of every interval merge the bucket at the border', async (t) => {
  const { app, whole, end } = await adjacent(t)
  const series = [
    `/v1/tokens/${base58(TOKEN)}/candles`,
    `/v1/tokens/${base58(OTHER)}/candles`,
    `/v1/tokens/${base58(SOL)}/candles`,
    `/v1/pools/${base58(POOLS.token)}/candles`
  ]
  const queries = [
    '',
    '&currency=usd',
    '&raw=true',
    '&fill=previous',
    `&from=${NOON + 600}&to=${NOON + 3_000}`
  ]
  for (const path of series)
    for (const interval of ['15s', '1m', '15m', '4h', '1w'])
      for (const query of queries) {
        const list = `${path}?interval=${interval}${query}`
        const expected = await walk(whole, list, () => 1_000)
        for (const limit of [1_000, 4]) {
          // A walk of few candles without holes would take hundreds of requests.
          if (limit === 4 && (interval === '15s' || query.includes('fill'))) continue
          const candles = await walk(app, list, () => limit)
          const oldestFirst = candles.toSorted((a, b) => (a.ts_ms as number) - (b.ts_ms as number))
          t.strictSame(oldestFirst.map(withoutSource), expected, `${list} by ${limit}`)
          for (const candle of candles)
            t.equal(candle.source, (candle.ts_ms as number) / 1000 <= end.blockTime ? 'archive' : undefined)
        }
      }
  CANDLE.array().parse((await app.get(series[0]!)).body.data)
})

t.test('the default pair is chosen by the volume of both sides', async (t) => {
  const dollars = (cash: bigint, inMint: Pubkey) =>
    buy(cash, 10n ** 9n, { inMint, inDecimals: 6, pool: key(130) })
  const { app, whole } = await archivedApps(
    t,
    [block(1, NOON, [dollars(9_000_000n, PEGGED)])],
    [block(2, NOON + 60, [dollars(2_000_000n, key(901))]), block(3, NOON + 61, [dollars(5_000_000n, PEGGED)])]
  )
  const path = `/v1/tokens/${base58(TOKEN)}/candles`
  t.equal((await app.get(path)).body.cash_mint, base58(PEGGED))
  t.equal((await whole.get(path)).body.cash_mint, base58(PEGGED))
})

t.test('single objects of a token in both parts are those of one store', async (t) => {
  const { app, whole } = await apart(t)
  for (const path of [
    `/v1/tokens/${base58(TOKEN)}`,
    `/v1/tokens/${base58(TOKEN)}/price`,
    `/v1/tokens/${base58(TOKEN)}/bonding-curve`,
    `/v1/tokens/${base58(TOKEN)}/pools?limit=1`,
    `/v1/pools/${base58(POOLS.token)}`,
    `/v1/tokens/${base58(NEW)}/bonding-curve`,
    `/v1/tokens/${base58(GRADUATED)}/price`
  ]) {
    const [own, expected] = [await app.get(path), await whole.get(path)]
    t.equal(own.status, 200)
    t.notMatch(own.text, '"source"', path)
    t.strictSame(withoutChange(own.body), withoutChange(expected.body), path)
  }
  const { body } = await app.get(`/v1/tokens/${base58(GRADUATED)}`)
  t.match(body, { status: 'graduated', bonding_curve: { status: 'graduated' } })
  OVERVIEW.parse(body)
})

t.test('a token of the archive alone has its price, summary, curve, pools and activity', async (t) => {
  const { app, whole, end } = await apart(t)
  const token = `/v1/tokens/${base58(OTHER)}`
  const price = (await app.get(`${token}/price`)).body
  t.match(price, {
    source: 'archive',
    slot: end.slot,
    confidence: 'stale',
    volume_24h_usd: 0,
    liquidity_usd: null
  })
  t.equal(price.price_usd, (await whole.get(`${token}/price`)).body.price_usd)
  PRICE.parse(price)
  const summary = (await app.get(token)).body
  t.match(summary, {
    ...{ symbol: 'GRN', status: 'trading', source: 'archive', price_slot: end.slot, trades_24h: 0 },
    bonding_curve: { source: 'archive', status: 'bonding' },
    last_trade: { slot: end.slot },
    pools_count: 2
  })
  OVERVIEW.parse(summary)
  const curve = (await app.get(`${token}/bonding-curve`)).body
  t.match(curve, { source: 'archive', slot: end.slot, curve: base58(POOLS.other) })
  CURVE.parse(curve)
  const pools = (await app.get(`${token}/pools`)).body.data
  t.equal(pools.length, 2)
  for (const pool of pools) {
    t.match(pool, {
      live: false,
      source: 'archive',
      base_reserve: null,
      quote_reserve_raw: null,
      liquidity_usd: null
    })
    t.match(pool, { reserves_reason: 'the pool is known only from the archive' })
    POOL.parse(pool)
  }
  t.same(
    pools.map(({ created_slot }) => created_slot),
    [null, SLOT]
  )
  const [pool] = [`/v1/pools/${base58(POOLS.other)}`]
  t.match((await app.get(pool)).body, { live: false, source: 'archive' })
  const activity = `${pool}/activity?limit=5`
  const minutes = (await app.get(activity)).body.data
  t.strictSame(minutes.map(withoutSource), (await whole.get(activity)).body.data)
  t.equal(count(minutes, 'archive'), 5)
  const prices = (await app.get(`/v1/prices?mints=${base58(OTHER)},${base58(TOKEN)}`)).body.data
  t.same(
    prices.map(({ source }) => source),
    ['archive', undefined]
  )
  const hits = (await app.get(`/v1/search?q=${base58(OTHER)}`)).body.data
  t.match(hits, [{ kind: 'token', symbol: 'GRN' }])
})

t.test('the archive is served before the first live block, too', async (t) => {
  const { app, end } = await archivedApps(t, archivedBlocks(NOON), [])
  const token = `/v1/tokens/${base58(TOKEN)}`
  t.match((await app.get(`${token}/price`)).body, { source: 'archive', slot: end.slot, age_seconds: 0 })
  t.match((await app.get(`${token}/candles?interval=1w`)).body.data, [{ trades: 12, source: 'archive' }])
  t.equal((await app.get(`/v1/pools/${base58(POOLS.token)}/candles`)).body.data.length, 12)
  t.equal((await app.get(`${token}/trades`)).body.data.length, 24)
  t.equal((await app.get(token)).body.source, 'archive')
})

t.test('the activity of a pool goes on into the archive, the minute at the border in both', async (t) => {
  const start = NOON - 12 * 200 + 10
  const { app, whole, end } = await archivedApps(t, archivedBlocks(start), [
    block(SLOT + 23, end12(start) + 5, [solSale(200), bought(TOKEN, POOLS.token, 1_000_000_000n)]),
    ...liveBlocks(start)
  ])
  for (const pool of [POOLS.token, POOLS.two, key(113)])
    for (const limit of [1, 3, 11, 1_440]) {
      const path = `/v1/pools/${base58(pool)}/activity?limit=${limit}`
      const { data } = (await app.get(path)).body
      t.strictSame(data.map(withoutSource), (await whole.get(path)).body.data, path)
      for (const minute of data)
        t.equal(minute.source, (minute.ts_ms as number) / 1_000 <= end.blockTime ? 'archive' : undefined)
    }
})

const end12 = (start: number): number => start + 11 * 200

t.test('a pool of two tokens that live events turn around has no volume of its token there', async (t) => {
  const swap = (inMint: Pubkey, outMint: Pubkey) =>
    trade({ inMint, outMint, inDecimals: 6, outDecimals: 6, inAmount: 5_000_000n, pool: key(113) })
  const { app } = await archivedApps(
    t,
    [block(1, NOON - 600, [swap(TOKEN, OTHER)]), block(2, NOON, [])],
    [block(3, NOON + 300, [swap(OTHER, TOKEN)])]
  )
  const { body } = await app.get(`/v1/pools/${base58(key(113))}/activity`)
  t.match(body, { base_mint: base58(TOKEN), data: [{ trades: 1, volume_token: null }, { volume_token: 5 }] })
})

t.test(
  'a page that live rows fill reads nothing of the archive, and without one nothing changes',
  async (t) => {
    const { app, archiveReads } = await adjacent(t)
    archiveReads()
    for (const path of [LISTS[0], ...LISTS.slice(2, 5)]) await app.get(`${path}?limit=1`)
    await app.get(`/v1/stats`)
    t.equal(archiveReads(), 1, 'the row of the pool whose trades are listed')
    await app.get(`${LISTS[0]}?limit=500`)
    t.ok(archiveReads() > 0)
    const symbolOfFirst = async (): Promise<unknown> =>
      (await app.get('/v1/trending?exclude_cash=true')).body.data[0]?.symbol
    t.equal(await symbolOfFirst(), 'GRN', 'names of archived launches')
    app.deps.archive!.set(null)
    const { data } = (await app.get(`${LISTS[0]}?limit=500`)).body
    t.equal(count(data, 'archive'), 0, 'a cached answer is not served once the archive is gone')
    t.equal(data.length, 30)
    t.equal(await symbolOfFirst(), null)
  }
)

/** Leaves out the fields that depend on earlier prices, which the live store has not seen. */
const unpriced = ({ source: _, price_forming: __, amount_usd: ___, price_usd: ____, ...row }: Row) => row

testWithFixtures(
  t,
  'all recorded trades and launches are listed once, wherever the archive ends',
  async (t) => {
    const chain = recordedChain()
    const end = Math.floor(chain.length / 2)
    const { app, whole } = await archivedApps(t, chain.slice(0, end), chain.slice(end))
    const mints = new Set(chain.flatMap(({ entries }) => entries.flatMap(({ event }) => mintsOf(event))))
    t.ok(mints.size > 100)
    let archived = 0
    for (const mint of mints) {
      const path = `/v1/tokens/${mint}/trades`
      const rows = await walk(app, path, () => 40)
      archived += count(rows, 'archive')
      t.strictSame(rows.map(unpriced), (await walk(whole, path, () => 1_000)).map(unpriced), path)
      const [own, expected] = [await app.get(`/v1/tokens/${mint}`), await whole.get(`/v1/tokens/${mint}`)]
      for (const field of ['status', 'symbol', 'decimals', 'created_at', 'last_trade', 'pools_count'])
        t.strictSame(own.body[field], expected.body[field], `${field} of ${mint}`)
    }
    t.ok(archived > 100, `${archived} archived trades`)
    for (const status of ['created', 'trading', 'graduated']) {
      const list = `/v1/launches?limit=500&status=${status}`
      t.strictSame(
        (await app.get(list)).body.data.map(withoutSource),
        (await whole.get(list)).body.data,
        status
      )
    }
  }
)

const mintsOf = (event: ChainEvent): string[] =>
  (event.kind === 'trade' ? [event.inMint, event.outMint] : [event.baseMint]).flatMap((mint) =>
    mint === null ? [] : base58(mint)
  )
