import t, { type Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { ChainEvent } from '../../src/chain/events.ts'
import { WSOL } from '../../src/market/cash.ts'
import { block, buy, key, launch, NOON, POOL, sell, solSale, TOKEN } from '../market/world.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const MINUTE = 60
const SOL = 1_000_000_000n
/** A curve venue. Its price is that of its trades as long as none states virtual reserves. */
const LAUNCHPAD = { venue: 'pumpfun' } as const

interface Views {
  readonly stats: number | null
  readonly overview: number | null
  readonly price: number | null
  readonly pool: number | null
  readonly curve: number | null
  readonly trending: number | null
  readonly native: readonly (number | null)[]
  readonly day: readonly (number | null)[]
  readonly hour: readonly (number | null)[]
}

/** Returns the token's price in USD and in SOL and its change, from every endpoint that shows them. */
async function viewsOf(app: MarketApp): Promise<Views> {
  const bodyOf = async (path: string) => (await app.get(path)).body as unknown as Record<string, never>
  const rowOf = async (path: string) => (await app.get(path)).body.data[0] as unknown as Record<string, never>
  const token = await bodyOf(`/v1/tokens/${MINT}`)
  const price = await bodyOf(`/v1/tokens/${MINT}/price`)
  const pool = await rowOf(`/v1/tokens/${MINT}/pools`)
  const curve = await bodyOf(`/v1/tokens/${MINT}/bonding-curve`)
  const itemOf = async (window: string) =>
    (await app.get(`/v1/trending?window=${window}&limit=100`)).body.data.find(({ mint }) => mint === MINT) as
      | Record<string, never>
      | undefined
  const [day, hour] = [await itemOf('24h'), await itemOf('1h')]
  const windows = token['windows'] as unknown as Record<string, Record<string, never>>
  return {
    stats: (await bodyOf('/v1/stats'))['sol_price_usd']!,
    overview: token['price_usd']!,
    price: price['price_usd']!,
    pool: pool['price_usd']!,
    curve: curve['price_usd']!,
    trending: day!['price_usd']!,
    native: [token['price']!, price['price']!, pool['price']!, curve['price']!],
    day: [
      token['price_change_24h_pct']!,
      windows['24h']!['price_change_pct']!,
      price['price_change_24h_pct']!,
      day!['price_change_pct']!
    ],
    hour: [
      token['price_change_1h_pct']!,
      windows['1h']!['price_change_pct']!,
      ...(hour === undefined ? [] : [hour['price_change_pct']!])
    ]
  }
}

/** Asserts that every endpoint shows equal prices in SOL and in USD, and equal changes over the day and the hour. */
function agree(
  t: Test,
  views: Views,
  expected: { native: number; usd: number | null; day: number | null; hour: number | null }
): void {
  const { overview, price, pool, curve, trending, native, day, hour } = views
  t.strictSame([...new Set(native)], [expected.native], 'in SOL')
  t.strictSame([...new Set([overview, price, pool, curve, trending])], [expected.usd], 'in USD')
  t.strictSame([...new Set(day)], [expected.day], 'over the day')
  t.strictSame([...new Set(hour)], [expected.hour], 'over the hour')
}

t.test(
  'an hour without a price of SOL: all views give the same price, and none an older one in USD',
  async (t) => {
    const app = await marketApp(t)
    let slot = 1_000
    const at = (minutes: number, ...events: ChainEvent[]) =>
      app.commit(block(++slot, NOON + minutes * MINUTE, events))

    await at(0, solSale(200), launch(LAUNCHPAD), buy(SOL, 1_000_000n, LAUNCHPAD))
    await at(59, buy(2n * SOL, 1_000_000n, LAUNCHPAD))
    const priced = await viewsOf(app)
    t.equal(priced.stats, 200)
    agree(t, priced, { native: 2, usd: 400, day: 100, hour: 100 })

    await at(61, buy(3n * SOL, 1_000_000n, LAUNCHPAD))
    const without = await viewsOf(app)
    t.equal(without.stats, null, 'no price of SOL is older than an hour')
    agree(t, without, { native: 3, usd: null, day: null, hour: null })

    await at(130, buy(4n * SOL, 1_000_000n, LAUNCHPAD))
    await at(131, solSale(100), buy(5n * SOL, 1_000_000n, LAUNCHPAD))
    const again = await viewsOf(app)
    t.equal(again.stats, 100)
    agree(t, again, { native: 5, usd: 500, day: 150, hour: null })

    await at(140, solSale(100))
    agree(t, await viewsOf(app), { native: 5, usd: 500, day: 150, hour: null })
    await at(25 * 60 + 1, solSale(100), buy(6n * SOL, 1_000_000n, LAUNCHPAD))
    agree(t, await viewsOf(app), { native: 6, usd: 600, day: null, hour: 20 })
  }
)

t.test('the price of a pool and of a curve is that of the newest trade that forms one', async (t) => {
  const app = await marketApp(t)
  const trades = Array.from({ length: 5 }, () => buy(SOL, 1_000_000n, LAUNCHPAD))
  await app.commit(block(1, NOON, [solSale(200), launch(LAUNCHPAD), ...trades]))
  agree(t, await viewsOf(app), { native: 1, usd: 200, day: 0, hour: 0 })

  const outlier = sell(1_000n, 802n * 1_000_000n, LAUNCHPAD)
  const dust = buy(999n, 10_000n, LAUNCHPAD)
  await app.commit(block(2, NOON + 5, [outlier]), block(3, NOON + 6, [dust]))
  const { body } = await app.get(`/v1/tokens/${MINT}/trades?limit=2`)
  t.match(body.data, [{ price_forming: false }, { price_forming: false, price: 802 }])
  agree(t, await viewsOf(app), { native: 1, usd: 200, day: 0, hour: 0 })
  const [pool] = (await app.get(`/v1/tokens/${MINT}/pools`)).body.data
  t.match(pool, { pool: pubkeyToBase58(POOL), last_trade_at: '2026-08-24 12:00:06', trades_24h: 7 })

  const quiet = buy(999n, 10_000n, { pool: key(101_101) })
  await app.commit(block(4, NOON + 7, [quiet]))
  const pools = (await app.get(`/v1/tokens/${MINT}/pools`)).body.data
  t.match(pools[0], { pool: pubkeyToBase58(key(101_101)), price: null, price_usd: null, trades_24h: 1 })
  t.equal((await app.get(`/v1/tokens/${WSOL}/price`)).body['price'], 200)
})
