import fc from 'fast-check'
import t, { type Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { withFaults } from '../storage/storage-faults.ts'
import { BLOCK_SLOT, fixtureBlock, testWithFixtures } from '../fixtures.ts'
import { anyChain, block, buy, key, launch, NOON, sell, solSale } from '../market/world.ts'
import { recordedBlocks } from '../service/recorded-folder.ts'
import { followMarket } from '../http/follow-market.ts'
import { settle } from '../virtual-time.ts'
import { marketApp } from '../http/market-app.ts'
import { decodedBlock } from './market-oracle.ts'
import { compareTrending, trendingOf } from './trending-items.ts'

const follow = (t: Test, chain: readonly DecodedBlock[], heads: (index: number) => boolean) =>
  followMarket(t, chain, heads, compareTrending)

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

t.test(
  'a value from before a change of published blocks is read again, also if its read had begun',
  async (t) => {
    let isRemoved = false
    const started = { read: Promise.withResolvers<void>(), gate: Promise.withResolvers<void>() }
    const app = await marketApp(t, (storage) => ({
      ...storage,
      activity: {
        ...storage.activity,
        range: async (...args) => {
          const hours = isRemoved ? [] : await storage.activity.range(...args)
          started.read.resolve()
          await started.gate.promise
          return hours
        }
      }
    }))
    await app.commit(block(1, NOON, [solSale(100)]), block(2, NOON + 1, [buy(10n ** 9n, 10n ** 6n)]))
    const { feed } = app.deps
    const tradersOf = async () => (await trendingOf(t, app)).map(({ traders }) => traders)
    const early = tradersOf()
    await started.read.promise
    isRemoved = true
    feed.amend(feed.head)
    started.gate.resolve()
    t.strictSame(await early, [0, 0], 'the blocks of a lost fork were removed')
    isRemoved = false
    feed.amend(feed.head)
    t.strictSame(await tradersOf(), [1, 1])
  }
)

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
  for (const flag of ['1', 'true']) t.strictSame(await mints(`exclude_cash=${flag}`), ['2', '1', '3'])
  for (const flag of ['0', 'false']) t.strictSame(await mints(`exclude_cash=${flag}`), ['2', '1', '3', 'SOL'])
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
