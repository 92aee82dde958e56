import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { ChainEvent } from '../../src/chain/events.ts'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import {
  block,
  buy,
  key,
  launch,
  liquidity,
  NOON,
  OTHER,
  SOL,
  solSale,
  TOKEN,
  trade
} from '../market/world.ts'
import { marketApp, type Body, type MarketApp } from '../http/market-app.ts'
import { ownDirectory } from '../own-directory.ts'
import { randomRuns } from '../random-runs.ts'
import { archivedApps } from './archived-app.ts'
import { until } from '../until.ts'
import { runViews } from './running-views.ts'

const base58 = (address: Pubkey): string => pubkeyToBase58(address)

const POOLS = { token: key(100), other: key(110), swap: key(113) }
const NEW = (n: number): Pubkey => key(40 + n)
const NEW_POOL = (n: number): Pubkey => key(140 + n)

/** Events at nearly equal prices, so that both stores price them alike. */
const anyEvent: fc.Arbitrary<ChainEvent> = fc
  .record({
    kind: fc.constantFrom('token', 'token', 'other', 'swap', 'new', 'liquidity'),
    user: fc.integer({ min: 300, max: 330 }),
    near: fc.bigInt({ min: 0n, max: 10_000_000n }),
    n: fc.integer({ min: 0, max: 3 })
  })
  .map(({ kind, user, near, n }) => {
    const tokens = 1_000_000_000n + near
    const by = { user: key(user) }
    if (kind === 'token') return buy(10n ** 9n, tokens, { ...by, pool: POOLS.token })
    if (kind === 'other')
      return buy(2n * 10n ** 9n, tokens, { ...by, outMint: OTHER, pool: POOLS.other, venue: 'pumpfun' })
    if (kind === 'swap')
      return trade({
        ...by,
        inMint: TOKEN,
        outMint: OTHER,
        inDecimals: 6,
        inAmount: tokens,
        pool: POOLS.swap
      })
    if (kind === 'liquidity') return liquidity({ ...by, pool: POOLS.token })
    return buy(3n * 10n ** 9n, tokens, { ...by, outMint: NEW(n), pool: NEW_POOL(n), venue: 'raydium-cpmm' })
  })

/** A market of up to 60 hours. Its border lies in a minute of an hour, and not at the start of either. */
const anyMarket = fc
  .record({
    steps: fc.array(
      fc.record({
        seconds: fc.oneof(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 600, max: 9_000 })),
        events: fc.array(anyEvent, { maxLength: 4 }),
        isLaunch: fc.boolean()
      }),
      { minLength: 12, maxLength: 40 }
    ),
    archived: fc.double({ min: 0.2, max: 0.9, noNaN: true }),
    second: fc.integer({ min: 1, max: 50 })
  })
  .map(({ steps, archived, second }) => {
    const border = Math.floor(archived * steps.length)
    let time = NOON
    const blocks = steps.map(({ seconds, events, isLaunch }, at) => {
      // The first live block is in the minute of the last archived one.
      if (at === border) time += 5
      else time = at === border - 1 ? time + seconds - ((time + seconds) % 60) + second : time + seconds
      const named = { name: `Coin ${at}`, symbol: `COIN${at}` }
      const first = isLaunch
        ? [launch({ baseMint: key(60 + at), pool: key(160 + at), curve: key(160 + at), ...named })]
        : []
      return block(1_000 + at, time, [solSale(200), ...first, ...events])
    })
    return { archived: blocks.slice(0, border), live: blocks.slice(border) }
  })

/** Marks; totals, which are of the live store; the origin of the SOL price in the minute of the border, which each store has. */
const IGNORED = [
  ...['source', 'totals', 'source_minute', 'age_seconds'],
  ...['tokens_searched', 'live', 'reserves_reason', 'request_id']
]

const withoutSource = (body: Body): unknown =>
  JSON.parse(JSON.stringify(body), (name, value: unknown) => (IGNORED.includes(name) ? undefined : value))

const ENDPOINTS = [
  '/v1/stats',
  '/v1/trending?window=1h',
  '/v1/trending?window=4h&limit=100',
  '/v1/trending?window=24h&limit=100',
  '/v1/trending?window=24h&venue=raydium-cpmm',
  '/v1/trending?window=24h&sort=price_change_pct&order=asc',
  '/v1/trending?window=24h&sort=traders',
  ...[TOKEN, OTHER, SOL, NEW(0), NEW(1)].flatMap((mint) => [
    `/v1/tokens/${base58(mint)}`,
    `/v1/tokens/${base58(mint)}/price`,
    `/v1/tokens/${base58(mint)}/pools`,
    `/v1/search?q=${base58(mint)}`
  ]),
  `/v1/prices?mints=${base58(TOKEN)},${base58(OTHER)}`,
  ...Object.values(POOLS).flatMap((pool) => [`/v1/pools/${base58(pool)}`, `/v1/search?q=${base58(pool)}`]),
  '/v1/search?q=coin&limit=50',
  '/v1/search?q=coin1'
]

async function compare(t: Test, app: MarketApp, whole: MarketApp, when: string): Promise<void> {
  for (const path of ENDPOINTS) {
    const [own, expected] = [await app.get(path), await whole.get(path)]
    t.equal(own.status, expected.status, path)
    t.strictSame(withoutSource(own.body), withoutSource(expected.body), `${path} ${when}`)
  }
}

t.test('windows, rankings, statistics and searches are those of a store with all blocks', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyMarket, fc.integer({ min: 2, max: 8 }), async ({ archived, live }, step) => {
      await t.test(`${archived.length} and ${live.length} blocks`, async (t) => {
        const { app, whole } = await archivedApps(t, archived, live.slice(0, 1), { isAdjacent: true })
        await runViews(t, app)
        await compare(t, app, whole, 'at the first live block')
        for (const [at, each] of live.entries()) {
          if (at === 0) continue
          await app.commit(each)
          await whole.commit(each)
          if (at % step !== 0 && at !== live.length - 1) continue
          await compare(t, app, whole, `at block ${at}`)
        }
      })
    }),
    randomRuns(5)
  )
})

/** An archive of three hours whose last block is half-way in a minute, and an hour of live blocks. */
function hoursAround(gapSeconds: number): {
  readonly archived: DecodedBlock[]
  readonly live: DecodedBlock[]
} {
  const at = (n: number, seconds: number): DecodedBlock =>
    block(1_000 + n, NOON + 30 + seconds, [
      solSale(200),
      launch({ baseMint: key(60 + n), pool: key(160 + n), curve: key(160 + n), symbol: `BEAN${n}` }),
      buy(10n ** 9n, 1_000_000_000n - BigInt(n), { user: key(300 + n) })
    ])
  return {
    archived: Array.from({ length: 18 }, (_, n) => at(n, (n - 17) * 600)),
    live: Array.from({ length: 7 }, (_, n) => at(n + 18, gapSeconds + n * 600))
  }
}

t.test(
  'over a gap, windows are those of the live store, and names are searched in the archive',
  async (t) => {
    const { archived, live } = hoursAround(5)
    const { app, archiveReads } = await archivedApps(t, archived, live)
    await runViews(t, app)
    const alone = await marketApp(t, undefined, { accounts: null, directory: join(ownDirectory(t), 'alone') })
    await alone.commit(...live)
    archiveReads()
    const { body } = await app.get('/v1/stats')
    t.strictSame(withoutSource(body), withoutSource((await alone.get('/v1/stats')).body))
    t.equal(archiveReads(), 0)
    const trades = async (path: string): Promise<unknown> => (await app.get(path)).body.data[0]?.trades
    t.equal(await trades('/v1/trending?window=4h&sort=trades&exclude_cash=true'), 7)
    t.match((await app.get(`/v1/tokens/${base58(TOKEN)}`)).body, { trades_24h: 7 })
    const { data, complete } = (await app.get('/v1/search?q=bean&limit=50')).body
    t.equal(data.length, 25)
    t.equal(complete, true)
  }
)

t.test('an archive that comes, grows and goes while the service runs changes the windows', async (t) => {
  const { archived, live } = hoursAround(5)
  const { app, whole } = await archivedApps(t, archived, live, { isAdjacent: true })
  const served = app.deps.archive!
  const { archive } = served.standing!
  served.set(null)
  const views = await runViews(t, app)
  /** Reads figures, after cached searches have expired: names change without a block. */
  const figures = async () => {
    app.nowMs += 60_000
    const stats = (await app.get('/v1/stats')).body as unknown as {
      readonly windows: { readonly '24h': { readonly trades: number } }
    }
    const trending = (await app.get('/v1/trending')).body.data
    const search = (await app.get('/v1/search?q=bean&limit=50')).body
    return {
      stats: stats.windows['24h'].trades,
      trending: trending.find(({ mint }) => mint === base58(TOKEN))?.trades,
      token: (await app.get(`/v1/tokens/${base58(TOKEN)}`)).body.trades_24h,
      search: search.data.length,
      complete: search.complete
    }
  }
  /** Waits for figures, while the clock of the views moves by some milliseconds a poll. */
  const shows = async (
    expected: Awaited<ReturnType<typeof figures>>,
    what: string,
    ms = 0
  ): Promise<void> => {
    await until(async () => {
      await views.advance(ms)
      return JSON.stringify(await figures()) === JSON.stringify(expected)
    }, what)
    t.pass(what)
  }
  const alone = { stats: 14, trending: 7, token: 7, search: 7, complete: true }
  await shows(alone, 'without an archive')
  served.set({ archive: { ...archive!, isAdjacent: false }, reason: null })
  await shows({ ...alone, search: 25 }, 'its end is not the beginning of the index yet', 1_000)
  served.set({ archive, reason: null })
  await shows({ stats: 50, trending: 25, token: 25, search: 25, complete: false }, 'it has grown')
  await shows(
    { stats: 50, trending: 25, token: 25, search: 25, complete: true },
    'its names are read',
    60_000
  )
  await compare(t, app, whole, 'with the archive')
  served.set(null)
  await shows(alone, 'nothing of it is left', 1_000)
})
