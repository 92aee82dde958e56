import fc from 'fast-check'
import t, { type Test } from 'tap'
import { TRENDING_ITEM } from '../../src/api/trending.ts'
import { pubkeyFromBase58, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { withFaults } from '../../storage/faults.ts'
import { BLOCK_SLOT, fixtureBlock, testWithFixtures } from '../fixtures.ts'
import { anyChain, block, buy, key, launch, NOON, sell, solSale } from '../market/world.ts'
import { recordedBlocks } from '../service/recorded-folder.ts'
import { followMarket, isNear } from './follow-market.ts'
import { settle } from '../virtual-time.ts'
import { marketApp, type MarketApp } from './market-app.ts'
import { decodedBlock, type ExpectedWindow, type MarketOracle } from './market-oracle.ts'

const WINDOWS = { '1h': 3_600, '4h': 14_400, '24h': 86_400 } as const
const EXACT = 256

interface Item extends ExpectedWindow {
  readonly rank: number
  readonly mint: string
  readonly token: string
  readonly name: string | null
  readonly symbol: string | null
  readonly price_usd: number | null
  readonly price_change_pct: number | null
  readonly window: string
}

async function trendingOf(t: Test, app: MarketApp, query = ''): Promise<readonly Item[]> {
  const { status, body } = await app.get(`/v1/trending${query}`)
  t.equal(status, 200)
  t.match(body, { tenant: 'acme', nextCursor: null })
  for (const item of body.data) {
    t.same(TRENDING_ITEM.strict().safeParse(item).error, undefined, 'the item is as documented')
  }
  return body.data as unknown as Item[]
}

/** Returns the price-forming prices of a mint's stored rows in USD, oldest first; null if the cash had no price. */
async function pricesOf(app: MarketApp, mint: string) {
  const page = { from: cursorAt(0, 0), order: 'asc', limit: 100_000 } as const
  const rows = await app.storage.trades.ofMint(pubkeyFromBase58(mint), page)
  return rows.flatMap(({ priceForming, price, cashUsd, blockTime }) =>
    priceForming && price !== null ? { time: blockTime, usd: cashUsd === null ? null : price * cashUsd } : []
  )
}

/** Compares every item with the events, and the order of the list with its own numbers. */
async function compare(t: Test, app: MarketApp, oracle: MarketOracle): Promise<void> {
  for (const [window, seconds] of Object.entries(WINDOWS)) {
    const items = await trendingOf(t, app, `?window=${window}&limit=100`)
    const expected = oracle.mints(seconds)
    t.equal(items.length, Math.min(100, expected.size))
    t.same(
      items.map(({ rank }) => rank),
      items.map((_, index) => index + 1)
    )
    t.same(items, items.toSorted(byVolume), 'the order is that of the volumes')
    const named = new Set(items.map(({ mint }) => mint))
    const left = [...expected]
      .filter(([mint]) => !named.has(mint))
      .map(([, { volume_usd: volume }]) => volume ?? 0)
    t.equal(named.size + left.length, expected.size)
    t.ok(Math.max(0, ...left) <= (items.at(-1)?.volume_usd ?? 0) + 1e-3, 'none that is left out is larger')
    for (const item of items)
      await compareItem(t, app, item, expected.get(item.mint)!, oracle.headTime, seconds)
  }
}

async function compareItem(
  t: Test,
  app: MarketApp,
  item: Item,
  sums: ExpectedWindow,
  headTime: number,
  seconds: number
): Promise<void> {
  const prices = await pricesOf(app, item.mint)
  const from = Math.floor(headTime / 60) * 60 + 60 - seconds
  const start = (prices.findLast(({ time }) => time < from) ?? prices[0])?.usd ?? null
  const last = prices.at(-1)?.usd ?? null
  const change = start === null || last === null ? null : ((last - start) / start) * 100
  const facts = {
    token: item.token === item.mint,
    trades: item.trades === sums.trades,
    traders: isNear(item.traders, sums.traders, sums.traders > EXACT ? sums.traders * 0.1 : 0),
    volumeUsd: isNear(item.volume_usd, sums.volume_usd, sums.trades * 1e-6),
    volumeSol: isNear(item.volume_sol, sums.volume_sol),
    price: isNear(item.price_usd, last),
    change: isNear(item.price_change_pct, change, 1e-6)
  }
  t.notOk(Object.values(facts).includes(false), JSON.stringify({ item, sums, facts }))
}

function byVolume(a: Item, b: Item): number {
  return (
    (b.volume_usd ?? 0) - (a.volume_usd ?? 0) ||
    b.trades - a.trades ||
    Buffer.compare(pubkeyFromBase58(a.mint), pubkeyFromBase58(b.mint))
  )
}

const follow = (t: Test, chain: readonly DecodedBlock[], heads: (index: number) => boolean) =>
  followMarket(t, chain, heads, compare)

testWithFixtures(t, 'of the recorded block, trending equals a plain fold of its events', async (t) => {
  await follow(t, [decodedBlock({ slot: BLOCK_SLOT, block: fixtureBlock() })], () => true)
})

testWithFixtures(
  t,
  'of 60 hours of recorded transactions, trending at several heads equals a plain fold of their events',
  async (t) => {
    const chain = recordedBlocks(120).map(({ slot, block }, index) =>
      decodedBlock({ slot, block: { ...block, blockTime: NOON + index * 1_787 } })
    )
    await follow(t, chain, (index) => index % 23 === 0 || index === chain.length - 1)
  }
)

t.test(
  'of chains whose times jump past the windows, trending equals a plain fold at every block',
  async (t) => {
    for (const chain of fc.sample(anyChain, { numRuns: 12, seed: 4 })) {
      await t.test(`${chain.length} blocks`, (t) => follow(t, chain, () => true))
    }
  }
)

t.test(
  'a token is named by its launch; the window is the last day and the list has 20 unless told',
  async (t) => {
    const app = await marketApp(t)
    const sales = Array.from({ length: 30 }, (_, n) =>
      buy(BigInt(n + 1) * 10n ** 9n, 10n ** 6n, { outMint: key(n + 1) })
    )
    await app.commit(block(1, NOON, [solSale(100), launch({ baseMint: key(30) }), ...sales]))
    const items = await trendingOf(t, app)
    t.equal(items.length, 20)
    t.match(items.slice(0, 2), [
      {
        rank: 1,
        mint: pubkeyToBase58(key(30)),
        name: 'Grain',
        symbol: 'GRN',
        volume_usd: 3_000,
        window: '24h'
      },
      {
        rank: 2,
        name: null,
        symbol: null,
        volume_usd: 2_900,
        volume_sol: 29,
        market_cap_usd: null,
        liquidity_usd: null
      }
    ])
    t.same(
      await trendingOf(t, app, '?limit=3&window=1h'),
      items.slice(0, 3).map((item) => ({ ...item, window: '1h' }))
    )
  }
)

t.test(
  'what is kept of a token is read again when a block touches it or the head enters a minute',
  async (t) => {
    const app = await marketApp(t)
    const sale = (user: number, tokens: bigint) => buy(10n ** 9n, tokens, { user: key(user) })
    await app.commit(block(1, NOON, [solSale(100)]), block(2, NOON + 30, [sale(1, 10n ** 6n)]))
    const of = async () =>
      (await trendingOf(t, app, '?window=1h')).find(({ token }) => token === pubkeyToBase58(key(1)))
    t.match(await of(), { trades: 1, traders: 1, price_usd: 100, price_change_pct: 0, symbol: null })
    await app.commit(block(3, NOON + 31, [sale(2, 5n * 10n ** 5n)]))
    t.match(await of(), { trades: 2, traders: 2, price_usd: 200, price_change_pct: 100, symbol: null })
    await app.commit(block(4, NOON + 32, [launch()]))
    t.match(await of(), { trades: 2, symbol: 'GRN' })
    await app.commit(block(5, NOON + 3_500, [sell(10n ** 6n, 10n ** 9n, { user: key(3) })]))
    t.match(await of(), { trades: 3, traders: 3, price_usd: 100, price_change_pct: 0 })
    await app.commit(block(6, NOON + 3_600, []))
    t.match(await of(), { trades: 1, traders: 1, price_usd: 100, price_change_pct: -50 })
  }
)

t.test('tokens that a block did not touch are not read again', async (t) => {
  let reads = 0
  const app = await marketApp(t, (storage) => ({
    ...storage,
    activity: { ...storage.activity, range: (...args) => (reads++, storage.activity.range(...args)) }
  }))
  const sale = (mint: number) => buy(10n ** 9n, 10n ** 6n, { outMint: key(mint) })
  await app.commit(block(1, NOON, [solSale(100), ...Array.from({ length: 50 }, (_, n) => sale(n + 1))]))
  await trendingOf(t, app, '?limit=100')
  t.equal(reads, 51)
  // Accounts are read in the background, and count once they are.
  for (let look = 0; look < 5; look++) {
    await settle()
    app.nowMs += 1_001
    await trendingOf(t, app, '?limit=100')
  }
  reads = 0
  await app.commit(block(2, NOON + 1, [sale(7), sale(8)]))
  await trendingOf(t, app, '?limit=100')
  t.equal(reads, 2)
})

t.test('a value read during a commit is not cached', async (t) => {
  const gate = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  const app = await marketApp(t, (storage) => ({
    ...storage,
    activity: {
      ...storage.activity,
      range: async (...args) => {
        const hours = await storage.activity.range(...args)
        read.resolve()
        await gate.promise
        return hours
      }
    }
  }))
  const sale = (user: number, tokens: bigint) => buy(10n ** 9n, tokens, { user: key(user) })
  await app.commit(block(1, NOON, [solSale(100)]), block(2, NOON + 1, [sale(1, 10n ** 6n)]))
  const early = trendingOf(t, app)
  await read.promise
  await app.commit(block(3, NOON + 2, [sale(2, 10n ** 6n)]))
  gate.resolve()
  await early
  t.strictSame(
    (await trendingOf(t, app)).map(({ traders }) => traders),
    [2, 1]
  )
})

t.test('trending is sorted by any figure, with unknown values last, and filtered', async (t) => {
  const app = await marketApp(t)
  const SOL = 10n ** 9n
  const of = (mint: number, sol: bigint, more: Parameters<typeof buy>[2] = {}) =>
    buy(sol * SOL, 10n ** 6n, { outMint: key(mint), pool: key(500 + mint), ...more })
  const reserves = { in: 50n * SOL, out: 10n ** 6n }
  await app.commit(
    block(1, NOON, [solSale(100)]),
    block(2, NOON + 1, [of(1, 4n), of(2, 9n), of(3, 2n, { venue: 'moonshot' }), of(1, 4n, { reserves })]),
    block(3, NOON + 2, [of(3, 3n, { venue: 'moonshot' }), of(3, 1n, { venue: 'moonshot' })])
  )
  const mints = async (query: string): Promise<string[]> => {
    const items = await trendingOf(t, app, `?${query}`)
    t.same(
      items.map(({ rank }) => rank),
      items.map((_, index) => index + 1)
    )
    return items.map(({ mint }) => {
      const number = [1, 2, 3].find((n) => pubkeyToBase58(key(n)) === mint)
      return number === undefined ? 'SOL' : String(number)
    })
  }
  t.strictSame(await mints(''), ['2', '1', '3', 'SOL'])
  t.strictSame(await mints('sort=volume_usd&order=asc'), ['SOL', '3', '1', '2'])
  t.strictSame(await mints('sort=trades'), ['3', '1', '2', 'SOL'])
  t.strictSame(
    await mints('sort=trades&order=asc&limit=2'),
    ['2', 'SOL'],
    'equals are in the order of volume'
  )
  t.strictSame(await mints('exclude_cash=1'), ['2', '1', '3'])
  t.strictSame(await mints('venue=moonshot'), ['3'])
  t.strictSame(await mints('venue=phoenix'), [])
  for (const order of ['asc', 'desc'])
    t.equal((await mints(`sort=liquidity_usd&order=${order}`))[0], '1', 'unknown liquidity is last')
  t.strictSame(await mints('min_liquidity_usd=1'), ['1'])
  t.strictSame(await mints('min_liquidity_usd=1e9'), [])
})

t.test('an empty index has no trending tokens', async (t) => {
  t.same(await trendingOf(t, await marketApp(t)), [])
})

t.test('an invalid window or limit is refused, and a failing store is reported as such', async (t) => {
  const app = await marketApp(t, (storage) => {
    const fail = { kind: 'fail' } as const
    return withFaults(storage, [{ operation: 'activity.range', nth: 1, effect: fail }]).storage
  })
  for (const [query, detail] of [
    ['?window=2h', /window must be one of 1h, 4h, 24h/],
    ['?limit=0', /limit must be a whole number between 1 and 100/],
    ['?limit=101', /limit/],
    ['?limit=1&limit=2', /limit/],
    ['?after=x', /after is not a parameter/],
    ['?window=', /window/],
    ['?sort=name', /^sort must be one of/],
    ['?order=up', /^order /],
    ['?min_liquidity_usd=-1', /^min_liquidity_usd /],
    ['?venue=uniswap', /^venue /],
    ['?exclude_cash=yes', /^exclude_cash /]
  ] as const) {
    const { status, body } = await app.get(`/v1/trending${query}`)
    t.match({ status, body }, { status: 400, body: { code: 'invalid_parameter', detail } })
  }
  await app.commit(block(1, NOON, [solSale(100)]))
  t.match(await app.get('/v1/trending'), { status: 503, body: { code: 'storage_unavailable' } })
  t.equal((await trendingOf(t, app)).length, 1)
})
