import fc from 'fast-check'
import t, { type Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { block, buy, key, launch, NOON, OTHER, POOL, sell, solSale, TOKEN, trade } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { cycle, marketApp, type MarketApp, walk } from '../http/market-app.ts'

const SLOT = 300_000_000
const SOL = 1_000_000_000n
const MINT = pubkeyToBase58(TOKEN)
const RARE = key(201)
const SWAPS = key(202)
const pathOf = (pool: Uint8Array, rest = ''): string => `/v1/pools/${pubkeyToBase58(pool)}${rest}`

/** Commits trades of the token on three pools: one with most of them, one with few, one with swaps for another token. */
async function traded(t: Test): Promise<MarketApp> {
  const app = await marketApp(t)
  await app.commit(block(SLOT, NOON, [launch(), solSale(150)]))
  for (let n = 1; n <= 12; n++) {
    const amount = BigInt(n) * SOL
    await app.commit(
      block(SLOT + n, NOON + 20 * n, [
        buy(amount, 10n ** 9n),
        sell(10n ** 9n, amount),
        ...(n % 5 === 0 ? [buy(amount, 2n * 10n ** 9n, { pool: RARE })] : []),
        ...(n % 4 === 0 ? [trade({ inMint: OTHER, inDecimals: 2, outMint: TOKEN, pool: SWAPS })] : [])
      ])
    )
  }
  return app
}

t.test('a pool alone is its row in the list of its token; an unknown one is 404', async (t) => {
  const app = await traded(t)
  const listed = (await app.get(`/v1/tokens/${MINT}/pools`)).body.data
  t.equal(listed.length, 3)
  for (const row of listed) {
    const { status, body } = await app.get(`/v1/pools/${String(row['pool'])}`)
    t.equal(status, 200)
    t.strictSame(body, row)
  }
  await app.commit(block(SLOT + 20, NOON + 300, [sell(10n ** 9n, 11n * SOL, { pool: RARE })]))
  t.match((await app.get(pathOf(RARE))).body, { price: 0.011, last_trade_at: '2026-08-24 12:05:00' })
  t.match(await app.get(pathOf(key(999))), { status: 404, body: { code: 'pool_not_found' } })
  t.match(await app.get('/v1/pools/nobody'), { status: 400, body: { code: 'invalid_address' } })
})

t.test(
  'trades of a pool are those of its token made there, with filters, walked with any limits',
  async (t) => {
    const app = await traded(t)
    const queries = ['', 'side=buy', 'min_usd=900', `from=${NOON + 90}&to=${NOON + 201}`, 'venue=pumpswap']
    for (const pool of [POOL, RARE, SWAPS]) {
      const base = String((await app.get(pathOf(pool))).body['base_mint'])
      const expected = async (query: string) =>
        (await app.get(`/v1/tokens/${base}/trades?limit=1000&${query}`)).body.data.filter(
          (row) => row['pool'] === pubkeyToBase58(pool)
        )
      t.ok((await expected('')).length > 1)
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...queries),
          fc.constantFrom('asc', 'desc'),
          fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
          async (query, order, limits) => {
            const rows = await walk(app, `${pathOf(pool, '/trades')}?order=${order}&${query}`, cycle(limits))
            const wanted = await expected(`order=${order}&${query}`)
            return JSON.stringify(rows) === JSON.stringify(wanted)
          }
        ),
        randomRuns(12, 23)
      )
    }
    const two = (await app.get(pathOf(POOL, '/trades?offset=1&limit=2'))).body.data
    const three = (await app.get(pathOf(POOL, '/trades?limit=3'))).body.data
    t.strictSame(two, three.slice(1), 'an offset counts trades of the pool')
  }
)

t.test('a new trade of a pool is seen at once, and one elsewhere changes nothing', async (t) => {
  const app = await traded(t)
  const newest = async (pool: Uint8Array) => (await app.get(pathOf(pool, '/trades?limit=1'))).body.data[0]
  const before = await newest(RARE)
  await app.commit(block(SLOT + 20, NOON + 300, [sell(10n ** 9n, SOL)]))
  t.strictSame(await newest(RARE), before)
  await app.commit(block(SLOT + 21, NOON + 301, [sell(10n ** 9n, 3n * SOL, { pool: RARE })]))
  t.match(await newest(RARE), { price: 0.003, slot: SLOT + 21 })
  t.match((await app.get(pathOf(key(999), '/trades'))).body, { data: [], nextCursor: null })
})

t.test('a rare pool of a busy token is found in steps', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(SLOT, NOON, [buy(SOL, SOL, { pool: RARE })]))
  for (let n = 1; n <= 6; n++) {
    const many = Array.from({ length: 2000 }, () => buy(SOL, SOL))
    await app.commit(block(SLOT + n, NOON + n, many))
  }
  await app.commit(block(SLOT + 7, NOON + 7, [buy(SOL, SOL, { pool: RARE })]))
  const first = (await app.get(pathOf(RARE, '/trades?limit=5'))).body
  t.equal(first.data.length, 1)
  t.not(first.nextCursor, null, 'the search stopped after 10,000 rows')
  const second = (await app.get(pathOf(RARE, `/trades?limit=5&after=${first.nextCursor}`))).body
  t.match([second.data.length, second.nextCursor], [1, null])
})
