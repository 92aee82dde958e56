import fc from 'fast-check'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import {
  block,
  buy,
  key,
  launch,
  liquidity,
  NOON,
  OTHER,
  POOL,
  poolChange,
  sell,
  solSale,
  TOKEN,
  trade
} from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { cycle, marketApp, type MarketApp } from '../http/market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const POOLS = `/v1/tokens/${MINT}/pools`
let slot = 300_000_000
let pools = 1000

/** Returns a block with the first events of some pools of the token. */
const newPools = (count: number) =>
  block(
    ++slot,
    NOON + slot - 300_000_000,
    Array.from({ length: count }, () => buy(10n ** 9n, 10n ** 9n, { pool: key(pools++) }))
  )

async function addresses(
  app: MarketApp,
  query: string,
  limitOf: () => number,
  between = async () => {}
): Promise<unknown[]> {
  const found: unknown[] = []
  for (let after = ''; ;) {
    const { body, text, status } = await app.get(`${POOLS}?${query}&limit=${limitOf()}${after}`)
    if (status !== 200) throw new Error(text)
    found.push(...body.data.map(({ pool }) => pool))
    if (body.nextCursor === null) return found
    after = `&after=${body.nextCursor}`
    await between()
  }
}

/** Trades that give pools of the token, by their numbers from 1000 on, reserves of some SOL on each side. */
const liquid = (amounts: readonly (readonly [number: number, sol: number])[]) =>
  block(++slot, NOON + slot - 300_000_000, [
    solSale(100),
    ...amounts.map(([number, sol]) => {
      const reserves = { in: BigInt(sol) * 10n ** 9n, out: BigInt(sol) * 10n ** 9n }
      return buy(10n ** 9n, 10n ** 9n, { pool: key(number), reserves })
    })
  ])

t.test(
  'pools come by liquidity; a paging run keeps its order while that changes and pools arrive',
  async (t) => {
    const app = await marketApp(t)
    const first = pools
    await app.commit(newPools(12))
    // Two pairs have equal liquidity, and five pools have no known liquidity.
    await app.commit(liquid([3, 5, 5, 1, 9, 2, 9].map((sol, n) => [first + n, sol])))
    const known = (numbers: readonly number[]) => numbers.map((n) => pubkeyToBase58(key(first + n)))
    const unknown = known([11, 10, 9, 8, 7])
    t.strictSame(await addresses(app, '', () => 500), [...known([6, 4, 2, 1, 0, 5, 3]), ...unknown])
    t.strictSame(await addresses(app, 'order=asc', () => 500), [...known([3, 5, 0, 2, 1, 6, 4]), ...unknown])
    const limits = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })
    const changes = fc.array(
      fc.tuple(fc.integer({ min: first, max: first + 11 }), fc.integer({ min: 1, max: 9 })),
      {
        minLength: 1,
        maxLength: 5
      }
    )
    await fc.assert(
      fc.asyncProperty(limits, changes, fc.constantFrom('desc', 'asc'), async (sizes, moves, order) => {
        const before = await addresses(app, `order=${order}`, () => 500)
        const walked = await addresses(app, `order=${order}`, cycle(sizes), async () => {
          await app.commit(liquid(moves))
          await app.commit(newPools(1))
        })
        return JSON.stringify(walked) === JSON.stringify(before)
      }),
      randomRuns(10, 4)
    )
    const rows = (await app.get(`${POOLS}?limit=500`)).body.data
    const served = rows.map((row) => row['liquidity_usd'] as number | null)
    t.strictSame(
      served,
      served.toSorted((a, b) => (b ?? -1) - (a ?? -1)),
      'the order is that of the values served'
    )
    t.equal((await app.get(`${POOLS}?limit=2`)).body.data.length, 2)
    const cursor = (await app.get(`${POOLS}?limit=2`)).body.nextCursor
    t.equal(
      (await app.get(`${POOLS}?order=asc&after=${cursor}`)).body.code,
      'invalid_cursor',
      'of the other order'
    )
  }
)

t.test('of more pools than are put in order, the older ones follow, the newest first', async (t) => {
  const app = await marketApp(t)
  const first = pools
  for (let made = 0; made < 520; made += 130) await app.commit(newPools(130))
  // The oldest pool is the most liquid one, and not among the 500 newest; the next is.
  await app.commit(
    liquid([
      [first, 9],
      [first + 20, 1]
    ])
  )
  const all = Array.from({ length: 520 }, (_, n) => pubkeyToBase58(key(first + n)))
  const expected = [all[20], ...all.slice(21).toReversed(), ...all.slice(0, 20).toReversed()]
  for (const sizes of [[500], [50], [499, 1, 7], [490, 15, 3]])
    t.strictSame(await addresses(app, '', cycle(sizes)), expected, `pages of ${sizes.join()}`)
  t.equal((await app.get(POOLS)).body.data.length, 50, 'the default')
})

t.test('a pool says its sides, vaults, fee, price and day; two tokens are listed under both', async (t) => {
  const app = await marketApp(t)
  const swap = trade({ inMint: OTHER, inDecimals: 2, outMint: TOKEN, pool: key(50) })
  await app.commit(
    block(++slot, NOON - 90_000, [buy(10n ** 9n, 10n ** 9n)]),
    block(++slot, NOON, [
      launch(),
      poolChange({ baseVault: key(60), quoteVault: key(61), feeBps: 30 }),
      swap
    ]),
    block(++slot, NOON + 5, [sell(10n ** 9n, 2n * 10n ** 9n)])
  )
  const { body } = await app.get(POOLS)
  t.match(body, { tenant: 'acme', mint: MINT, nextCursor: null })
  t.match(body.data, [
    {
      pool: pubkeyToBase58(key(50)),
      base_mint: pubkeyToBase58(OTHER),
      quote_mint: MINT,
      base_symbol: null,
      quote_symbol: 'GRN',
      price: null,
      trades_24h: 1,
      volume_24h_usd: null,
      created_at: null
    },
    {
      pool: pubkeyToBase58(POOL),
      venue: 'pumpswap',
      base_mint: MINT,
      quote_symbol: 'SOL',
      base_symbol: 'GRN',
      base_vault: pubkeyToBase58(key(60)),
      quote_vault: pubkeyToBase58(key(61)),
      fee_bps: 30,
      price: 0.002,
      price_usd: null,
      trades_24h: 1,
      created_at: '2026-08-24 12:00:00',
      last_trade_at: '2026-08-24 12:00:05',
      base_reserve: null,
      liquidity_usd: null,
      live: true
    }
  ])
  const other = (await app.get(`/v1/tokens/${pubkeyToBase58(OTHER)}/pools`)).body.data
  t.strictSame(
    other.map(({ pool }) => pool),
    [pubkeyToBase58(key(50))]
  )
})

t.test('the activity of a pool reaches back over as many hours as it takes', async (t) => {
  const app = await marketApp(t)
  const hours = 70
  for (let hour = 0; hour < hours; hour++) {
    const events = [buy(10n ** 9n, 10n ** 9n), ...(hour % 2 === 0 ? [liquidity()] : [])]
    await app.commit(
      block(++slot, NOON + hour * 3600 + 7, events),
      block(++slot, NOON + hour * 3600 + 67, [liquidity()])
    )
  }
  const activity = async (limit: string) =>
    (await app.get(`/v1/pools/${pubkeyToBase58(POOL)}/activity${limit}`)).body
  const all = await activity('?limit=1440')
  t.equal(all.data.length, hours * 2)
  t.match(all, { venue: 'pumpswap', base_mint: MINT })
  t.match(all.data.slice(-2), [
    { ts: '2026-08-24 12:01:00', events: 1, trades: 0, liquidity_events: 1, volume_usd: 0, volume_cash: 0 },
    {
      ts: '2026-08-24 12:00:00',
      events: 2,
      trades: 1,
      buys: 1,
      liquidity_events: 1,
      volume_usd: null,
      volume_cash: 1
    }
  ])
  t.equal((await activity('')).data.length, 60, 'the default')
  for (const limit of [1, 2, 47, 48, 49, 139, 140, 141]) {
    t.strictSame((await activity(`?limit=${limit}`)).data, all.data.slice(0, limit), `${limit} minutes`)
  }
  await app.commit(block(++slot, NOON + hours * 3600, [sell(10n ** 9n, 10n ** 9n)]))
  t.match((await activity('?limit=1')).data, [{ trades: 1, sells: 1 }], 'a new minute is seen at once')
})
