import fc from 'fast-check'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { USDC, WSOL } from '../../src/market/cash.ts'
import { RowCandles } from '../../src/data/routes/row-candles.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { openSlices } from '../../src/kernel/work/slices.ts'
import {
  anyChain,
  block,
  buy,
  key,
  NOON,
  OTHER,
  PEGGED,
  POOL,
  sell,
  solSale,
  TOKEN,
  trade
} from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { cycle, marketApp, walk, type MarketApp, type Row } from '../http/market-app.ts'
import { candlesJson, INTERVALS, SECOND_INTERVALS, type CandleQuestion } from './oracle-candles.ts'
import { same } from './oracle-compare.ts'
import { Oracle } from './oracle-market.ts'
import type { Listed } from './oracle-story.ts'

const MINT = pubkeyToBase58(TOKEN)
const SLOT = 300_000_000
const HOUR = 3600
const SOL = 1_000_000_000n
const pathOf = (pool: Uint8Array, rest = ''): string => `/v1/pools/${pubkeyToBase58(pool)}/candles${rest}`

/** Trades of some pools over two hours, several in most seconds of the last minutes; times sometimes fall. */
const busyChain: DecodedBlock[] = [
  block(SLOT, NOON, [solSale(150), buy(SOL, 10n ** 9n)]),
  ...Array.from({ length: 90 }, (_, n) => {
    const time = n < 30 ? NOON + 120 * n : NOON + 2 * HOUR - 200 + 3 * (n - 30) - (n % 7 === 0 ? 2 : 0)
    const amount = SOL + BigInt((n * 7919) % 100) * 10n ** 6n
    return block(SLOT + 1 + n, time, [
      buy(amount, 10n ** 9n),
      ...(n % 3 === 0 ? [sell(10n ** 9n, amount + 10n ** 7n, { pool: key(201) })] : []),
      ...(n % 4 === 0 ? [trade({ inMint: OTHER, inDecimals: 2, outMint: TOKEN, pool: key(202) })] : []),
      ...(n % 5 === 0 ? [buy(20n, 10n), solSale(150 + n)] : [])
    ])
  })
]

const queryOf = ({ interval, currency, raw, fill, from, to }: CandleQuestion): string =>
  `interval=${interval}&currency=${currency}&raw=${raw ? 1 : 0}&fill=${fill}${from === undefined ? '' : `&from=${from}`}${to === undefined ? '' : `&to=${to}`}`

/** Pages from the newest candle back. Returns candles oldest first. */
async function walkBack(app: MarketApp, path: string, sizes: readonly number[]): Promise<Row[]> {
  const newestFirst = await walk(reversed(app), path, cycle(sizes))
  return newestFirst.toReversed()
}

/** Returns an app whose lists are turned around. */
const reversed = (app: MarketApp): MarketApp => ({
  ...app,
  get: async (path, headers) => {
    const answer = await app.get(path, headers)
    return { ...answer, body: { ...answer.body, data: answer.body.data?.toReversed() } }
  }
})

const modes = fc.record({
  currency: fc.constantFrom('native' as const, 'usd' as const),
  raw: fc.boolean(),
  fill: fc.constantFrom('none' as const, 'previous' as const)
})
const sizes = fc.array(fc.integer({ min: 20, max: 400 }), { minLength: 1, maxLength: 3 })

t.test('candles of a pool are a fold of its trades, in every mode and walked with any limits', async (t) => {
  const app = await marketApp(t)
  await app.commit(...busyChain)
  const { rows, headTime } = new Oracle(busyChain)
  const pools = Map.groupBy(
    rows.filter(({ cash }) => cash !== null),
    ({ trade: { pool } }) => pubkeyToBase58(pool)
  )
  t.equal(pools.size, 3)
  const range = fc.record({
    from: fc.option(fc.integer({ min: NOON - 60, max: headTime }), { nil: undefined }),
    length: fc.option(fc.integer({ min: 30, max: HOUR }), { nil: undefined })
  })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...pools),
      fc.constantFrom(...INTERVALS),
      modes,
      range,
      sizes,
      async ([pool, own], interval, mode, { from, length }, limits) => {
        const to = length === undefined ? undefined : (from ?? NOON) + length
        const times = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
        const question: CandleQuestion = { interval, ...mode, ...times }
        const path = `/v1/pools/${pool}/candles?${queryOf(question)}`
        same(t, await walkBack(app, path, limits), candlesJson(own, question, headTime), path)
      }
    ),
    randomRuns(30, 5)
  )
  t.match((await app.get(pathOf(POOL))).body, { pool: pubkeyToBase58(POOL), mint: MINT, cash_mint: WSOL })
  const swaps = (await app.get(pathOf(key(202)))).body
  t.match(swaps, { mint: pubkeyToBase58(OTHER), cash_mint: null, data: [], nextCursor: null })
  const unknown = (await app.get(pathOf(key(999)))).body
  t.match(unknown, { mint: null, cash_mint: null, data: [], nextCursor: null })
})

// A pool of 13 trades for the operator's cash alone.
for (const [seed, cash] of [
  [13, pubkeyToBase58(PEGGED)],
  [16, WSOL]
] as const)
  t.test(`pools of the random market ${seed} have the candles of their trades for their cash`, async (t) => {
    const chain = fc.sample(anyChain, { seed, numRuns: 1 })[0]!
    const app = await marketApp(t)
    await app.commit(...chain)
    const { rows, headTime } = new Oracle(chain)
    const found = new Set<string>()
    for (const pool of new Set(rows.map(({ trade: { pool } }) => pubkeyToBase58(pool)))) {
      const question = { interval: '5m', currency: 'native', raw: true, fill: 'none' } as const
      const { body } = await app.get(`/v1/pools/${pool}/candles?limit=1000&${queryOf(question)}`)
      const own = rows.filter(
        ({ trade, mint, cash }) =>
          pubkeyToBase58(trade.pool) === pool && mint === body['mint'] && cash === body['cash_mint']
      )
      same(t, body.data, own.length === 0 ? [] : candlesJson(own, question, headTime).slice(-1000), pool)
      if (body.data.length > 0) found.add(String(body['cash_mint']))
    }
    t.ok(found.has(cash), [...found].join())
  })

t.test('candles of seconds are a fold of the trades of the last hour', async (t) => {
  const app = await marketApp(t)
  await app.commit(...busyChain)
  const { rows, headTime } = new Oracle(busyChain)
  const ofPair = rows.filter(({ mint, cash }) => mint === MINT && cash === WSOL)
  const series: [string, readonly Listed[]][] = [
    [`/v1/tokens/${MINT}/candles`, ofPair],
    [pathOf(key(201)), ofPair.filter(({ trade: { pool } }) => pool[0] === key(201)[0])]
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...series),
      fc.constantFrom(...SECOND_INTERVALS),
      modes,
      sizes,
      fc.constantFrom(undefined, headTime - 100),
      async ([path, own], interval, mode, limits, to) => {
        const question = { interval, ...mode, from: headTime - HOUR, ...(to === undefined ? {} : { to }) }
        const url = `${path}?${queryOf(question).replace(/&from=\d+/, '')}`
        same(t, await walkBack(app, url, limits), candlesJson(own, question, headTime), url)
      }
    ),
    randomRuns(20, 6)
  )
  const url = `/v1/tokens/${MINT}/candles?interval=5s`
  const all = (await app.get(url)).body.data
  t.ok(all.length > 20, `${all.length} candles`)
  t.match(all.at(-1), { closed: false }, 'the running bucket')
  t.strictSame((await app.get(`${url}&from=${NOON}`)).body.data, all, 'an earlier from is the hour')
  for (const path of [url, pathOf(POOL, '?interval=1s')])
    t.match((await app.get(`${path}&to=${headTime - HOUR}`)).body, {
      status: 400,
      code: 'invalid_parameter',
      detail: /^to .*last hour.*/
    })
  await app.commit(block(SLOT + 200, headTime + 30, [buy(SOL, 10n ** 9n, { pool: key(201) })]))
  t.match((await app.get(url)).body.data.at(-1), { ts_ms: (headTime + 30 - ((headTime + 30) % 5)) * 1000 })
  await app.commit(block(SLOT + 201, headTime + 2 * HOUR, []))
  t.strictSame((await app.get(url)).body.data, [], 'an hour without trades')
  t.strictSame((await app.get(`/v1/tokens/${MINT}/candles?interval=1s&cash=${USDC}`)).body.data, [])
})

t.test('a request reads a bounded number of rows; its candles are whole, and paging goes on', async (t) => {
  const app = await marketApp(t)
  for (let n = 0; n < 40; n++)
    await app.commit(
      block(SLOT + n, NOON + 20 * n, [
        buy(SOL, 10n ** 9n),
        sell(10n ** 9n, SOL),
        buy(SOL, 10n ** 9n, { pool: key(201) })
      ])
    )
  const series = { mint: TOKEN, low: 0, high: Number.MAX_SAFE_INTEGER - 1 }
  const source = (rowsMax: number, pool: Uint8Array | null = null) => {
    const includes = (row: { pool: Uint8Array }) => pool === null || row.pool[0] === pool[0]
    return new RowCandles(app.storage, { ...series, includes }, '1m', openSlices, rowsMax)
  }
  const all = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1000 }
  const whole = (await source(1000).range(all)).candles
  t.equal(whole.length, 14)
  for (const rowsMax of [20, 31, 64, 119]) {
    const { candles, cutAt } = await source(rowsMax).range(all)
    t.ok(cutAt !== null && candles.every(({ ts }) => ts >= cutAt))
    t.strictSame(
      candles,
      whole.filter(({ ts }) => ts >= cutAt!),
      `${rowsMax} rows`
    )
    t.strictSame(
      (await source(1000).range({ ...all, to: cutAt! })).candles,
      whole.filter(({ ts }) => ts < cutAt!),
      'the next page has the others'
    )
  }
  t.match(await source(121).range(all), { cutAt: null }, 'all rows fit')
  t.match(await source(20, key(77)).range(all), { candles: [], cutAt: NOON + 720 }, 'a pool without trades')
  const once = source(40)
  await once.range(all)
  t.match(
    await once.range({ ...all, to: NOON }),
    { candles: [], cutAt: NOON },
    'the limit is one of all reads'
  )
})

t.test('a bucket with more trades than a request reads is refused by its interval', async (t) => {
  const app = await marketApp(t)
  for (let n = 0; n < 11; n++)
    await app.commit(
      block(
        SLOT + n,
        NOON + n,
        Array.from({ length: 2000 }, () => buy(SOL, 10n ** 9n))
      )
    )
  const refuses = async (query: string, field: string) =>
    t.match((await app.get(pathOf(POOL, `?${query}`))).body, {
      status: 400,
      code: 'invalid_parameter',
      detail: new RegExp(`^${field} `)
    })
  await refuses('interval=1d', 'interval')
  await refuses('interval=1d&fill=previous', 'fill')
  const { data, nextCursor } = (await app.get(pathOf(POOL, '?interval=1s&limit=3'))).body
  t.strictSame(
    data.map(({ trades }) => trades),
    [2000, 2000, 2000]
  )
  t.not(nextCursor, null)
})
