import fc from 'fast-check'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { testWithFixtures } from '../fixtures.ts'
import { block, buy, key, NOON, sell, solSale, TOKEN } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { cycle, marketApp, type MarketApp, walk } from '../http/market-app.ts'
import { Oracle } from './oracle-market.ts'
import { human, type Listed } from './oracle-story.ts'
import { dealtChain } from '../http/recorded-chain.ts'

const MINT = pubkeyToBase58(TOKEN)
const TRADES = `/v1/tokens/${MINT}/trades`
const SLOT = 300_000_000

interface Filters {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly venue?: string | undefined
  readonly side?: string | undefined
  readonly min_usd?: number | undefined
}

function passes(row: Listed, { from, to, venue, side, min_usd: minUsd }: Filters): boolean {
  const { blockTime } = row.block
  if ((from !== undefined && blockTime < from) || (to !== undefined && blockTime >= to)) return false
  if ((venue !== undefined && row.event.venue !== venue) || (side !== undefined && row.side !== side))
    return false
  if (minUsd === undefined) return true
  return row.cashUsd !== null && human(row.cashRaw, row.cashDecimals) * row.cashUsd >= minUsd
}

function queryOf(filters: Filters, more: Readonly<Record<string, unknown>> = {}): string {
  const given = Object.entries({ ...filters, ...more }).filter(([, value]) => value !== undefined)
  return given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')
}

const cursorsOf = (rows: readonly { readonly cursor: number }[]): number[] => rows.map(({ cursor }) => cursor)
const isEqual = (a: readonly number[], b: readonly number[]): boolean => a.join() === b.join()
const order = fc.constantFrom('desc' as const, 'asc' as const)

testWithFixtures(
  t,
  'filters of recorded trades let through what they name, walked with any limits',
  async (t) => {
    const app = await marketApp(t)
    const chain = dealtChain(30, 7)
    await app.commit(...chain)
    const { rows } = new Oracle(chain)
    const busiest = (lists: Map<string, Listed[]>, path: (name: string) => string) =>
      [...lists]
        .sort(([, a], [, b]) => b.length - a.length)
        .slice(0, 5)
        .map(([name, own]) => ({ path: path(name), own }))
    const lists = [
      ...busiest(
        Map.groupBy(rows, ({ mint }) => mint),
        (mint) => `/v1/tokens/${mint}/trades`
      ),
      ...busiest(
        Map.groupBy(
          rows.filter(({ isFirst }) => isFirst),
          ({ user }) => user
        ),
        (wallet) => `/v1/wallets/${wallet}/trades`
      )
    ]
    const first = chain[0]!.blockTime
    const span = chain.at(-1)!.blockTime - first
    const time = fc.option(fc.integer({ min: -3600, max: span + 3600 }), { nil: undefined, freq: 1 })
    const filters = fc
      .record({
        from: time,
        length: fc.option(fc.integer({ min: 1, max: span }), { nil: undefined, freq: 1 }),
        venue: fc.option(fc.constantFrom(...new Set(rows.map((row) => row.event.venue))), {
          nil: undefined,
          freq: 1
        }),
        side: fc.option(fc.constantFrom('buy', 'sell'), { nil: undefined, freq: 1 }),
        min_usd: fc.option(fc.constantFrom(0, 0.5, 1, 25, 1000), { nil: undefined, freq: 1 })
      })
      .map(({ from, length, ...rest }): Filters => {
        const start = from === undefined ? undefined : first + from
        const end = length === undefined ? undefined : (start ?? first) + length
        return { from: start, to: end, ...rest }
      })
    const limits = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 })
    let passed = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...lists),
        filters,
        limits,
        order,
        fc.nat(9),
        async (of, by, sizes, way, skip) => {
          const matching = cursorsOf(of.own.filter((row) => passes(row, by)))
          const expected = way === 'asc' ? matching : matching.toReversed()
          passed += expected.length
          const query = queryOf(by, { order: way })
          const walked = await walk(app, `${of.path}?${query}`, cycle(sizes))
          const { body } = await app.get(`${of.path}?${query}&offset=${skip}&limit=5`)
          return (
            isEqual(cursorsOf(walked), expected) &&
            isEqual(cursorsOf(body.data), expected.slice(skip, skip + 5))
          )
        }
      ),
      randomRuns(60, 11)
    )
    t.ok(passed > 500, `${passed} rows passed`)
  }
)

/** Trades of the token on two venues, by two wallets, in both directions. */
let slot = SLOT
const someTrades = (count: number) =>
  block(
    ++slot,
    NOON + slot - SLOT,
    Array.from({ length: count }, (_, i) => {
      const venue = (slot + i) % 3 === 0 ? 'pumpfun' : 'pumpswap'
      const about = { venue, user: key(300 + (i % 2)) } as const
      return (slot + i) % 2 === 0 ? buy(10n ** 9n, 10n ** 9n, about) : sell(10n ** 9n, 10n ** 9n, about)
    })
  )

for (const [name, path] of [
  ['a token', TRADES],
  ['a wallet', `/v1/wallets/${pubkeyToBase58(key(300))}/trades`]
] as const) {
  t.test(`filtered trades of ${name} walked while rows arrive skip and repeat nothing`, async (t) => {
    const app = await marketApp(t)
    for (let i = 0; i < 12; i++) await app.commit(someTrades(6))
    const filters = fc.constantFrom(
      'venue=pumpfun',
      'side=buy',
      'venue=pumpswap&side=sell',
      `from=${NOON}&side=sell`
    )
    const limits = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(filters, limits, order, async (by, sizes, way) => {
        const query = `${path}?${by}&order=${way}`
        const before = cursorsOf(await walk(app, query, () => 1000))
        let arrivals = 4
        const walked = await walk(app, query, cycle(sizes), async () => {
          if (arrivals-- > 0) await app.commit(someTrades(3))
        })
        const seen = cursorsOf(walked)
        if (way === 'desc') return isEqual(seen, before) && before.length > 5
        const after = cursorsOf(await walk(app, query, () => 1000))
        return isEqual(seen, after.slice(0, seen.length)) && seen.length >= before.length
      }),
      randomRuns(12, 5)
    )
    t.pass('each walk saw each row once')
  })
}

/** 12,000 trades of the token; the oldest three are on their own venue. */
async function manyTrades(app: MarketApp): Promise<void> {
  for (let i = 0; i < 24; i++) {
    const about = (n: number) => ({ venue: i === 0 && n < 3 ? ('moonshot' as const) : ('pumpswap' as const) })
    await app.commit(
      block(
        SLOT + i,
        NOON + i,
        Array.from({ length: 500 }, (_, n) => buy(10n ** 9n, 10n ** 9n, about(n)))
      )
    )
  }
}

t.test(
  'a filter that lets little through looks at 10,000 rows in a request, and the next goes on',
  async (t) => {
    let read = 0
    const app = await marketApp(t, (storage) => ({
      ...storage,
      blocks: storage.blocks,
      trades: {
        ofWallet: (wallet, page) => storage.trades.ofWallet(wallet, page),
        async ofMint(mint, page) {
          const rows = await storage.trades.ofMint(mint, page)
          read += rows.length
          return rows
        }
      }
    }))
    await manyTrades(app)
    const first = await app.get(`${TRADES}?venue=moonshot&limit=2`)
    t.equal(first.status, 200)
    t.strictSame(first.body.data, [])
    t.type(first.body.nextCursor, 'string')
    t.equal(read, 10_000)
    const second = await app.get(`${TRADES}?venue=moonshot&limit=2&after=${String(first.body.nextCursor)}`)
    t.equal(second.body.data.length, 2)
    const third = await app.get(`${TRADES}?venue=moonshot&limit=2&after=${String(second.body.nextCursor)}`)
    t.strictSame([third.body.data.length, third.body.nextCursor], [1, null])
    t.strictSame(
      [...second.body.data, ...third.body.data].map(({ venue }) => venue),
      ['moonshot', 'moonshot', 'moonshot']
    )
    const deep = await app.get(`${TRADES}?venue=moonshot&offset=1&limit=1`)
    t.match(deep, { status: 200, body: { data: [] } })
    const deeper = await app.get(`${TRADES}?venue=moonshot&limit=1&after=${String(deep.body.nextCursor)}`)
    t.strictSame(
      cursorsOf(deeper.body.data),
      [second.body.data[1]!.cursor],
      'the next page skips what is left'
    )
    t.equal((await app.get(`${TRADES}?venue=pumpswap&offset=8000&limit=3`)).body.data.length, 3)

    read = 0
    const late = await app.get(`${TRADES}?from=${NOON + 20}&to=${NOON + 21}&order=asc&limit=5`)
    t.equal(late.body.data.length, 5)
    t.ok(read < 4000, `a range of times is entered where it begins: ${read} rows`)
  }
)

t.test('offset + limit of 10,000 is answered whatever the filters, and walked on to the end', async (t) => {
  const app = await marketApp(t)
  await manyTrades(app)
  const plain = cursorsOf(await walk(app, TRADES, () => 1000))
  for (const filter of [
    `from=${NOON}`,
    `to=${NOON + 20}`,
    'side=buy',
    'min_usd=0',
    'venue=pumpswap',
    'venue=moonshot'
  ]) {
    const matching = cursorsOf(await walk(app, `${TRADES}?${filter}`, () => 1000))
    for (const [offset, limit] of [
      [9999, 1],
      [9000, 1000],
      [9998, 1]
    ] as const) {
      let found = await app.get(`${TRADES}?${filter}&offset=${offset}&limit=${limit}`)
      t.equal(found.status, 200, `${filter} ${offset} + ${limit}`)
      const rows = [...found.body.data]
      while (rows.length < limit && found.body.nextCursor !== null) {
        found = await app.get(`${TRADES}?${filter}&limit=${limit}&after=${found.body.nextCursor}`)
        rows.push(...found.body.data)
      }
      t.strictSame(cursorsOf(rows).slice(0, limit), matching.slice(offset, offset + limit))
    }
  }
  t.equal(plain.length, 12_000)
  const { status, body } = await app.get(`${TRADES}?side=buy&offset=9999&limit=2`)
  t.match([status, body.code], [400, 'invalid_parameter'])
})

t.test('a search that takes a second ends, and the next request goes on from there', async (t) => {
  const app = await marketApp(t, (storage) => ({
    ...storage,
    blocks: storage.blocks,
    trades: {
      ofWallet: (wallet, page) => storage.trades.ofWallet(wallet, page),
      ofMint(mint, page) {
        app.nowMs += 300
        return storage.trades.ofMint(mint, page)
      }
    }
  }))
  await manyTrades(app)
  const pages: number[] = []
  const found = await walk(
    app,
    `${TRADES}?venue=moonshot`,
    () => 100,
    async () => void pages.push(app.nowMs)
  )
  t.equal(found.length, 3)
  t.ok(pages.length >= 4, `${pages.length} pages`)
  pages.forEach((endedAt, i) => t.ok(endedAt - (pages[i - 1] ?? 0) <= 1200, 'four reads of 300 ms at most'))
})

t.test('a cursor belongs to its list, its order and its filters, however they are spelled', async (t) => {
  const app = await marketApp(t)
  await app.commit(someTrades(20), someTrades(20))
  const status = async (path: string, query: string, after: unknown) => {
    const { status: code, body } = await app.get(`${path}?${query}&after=${String(after)}`)
    return code === 200 ? 200 : body.code
  }
  const { nextCursor } = (await app.get(`${TRADES}?side=buy&venue=pumpswap&from=${NOON}&limit=2`)).body
  t.type(nextCursor, 'string')
  const same = `venue=pumpswap&from=${new Date(NOON * 1000).toISOString()}&side=buy&limit=9`
  t.equal(await status(TRADES, same, nextCursor), 200)
  const wallet = `/v1/wallets/${pubkeyToBase58(key(300))}/trades`
  for (const [path, query] of [
    [TRADES, ''],
    [TRADES, 'side=buy'],
    [TRADES, `${same}&order=asc`],
    [TRADES, `${same}&min_usd=0`],
    [TRADES, `side=sell&venue=pumpswap&from=${NOON}`],
    [TRADES, `side=buy&venue=pumpswap&from=${NOON + 1}`],
    [TRADES, `side=buy&venue=pumpswap&to=${NOON + 100}`],
    [wallet, same],
    [`/v1/tokens/${pubkeyToBase58(key(2))}/trades`, same]
  ] as const) {
    t.equal(await status(path, query, nextCursor), 'invalid_cursor', `${path}?${query}`)
  }
})

t.test('min_usd takes every amount that is served, and finds the trades that are worth it', async (t) => {
  const app = await marketApp(t)
  // Amounts from a millionth of a millionth of a USD to far more than exists.
  const amounts = [1n, 2n, 7n, 333n, 123_456_789n, 10n ** 12n + 1n, 98_765_432_109_876_543n]
  await app.commit(
    block(++slot, NOON + 4000, [solSale(133.7), ...amounts.map((cash) => buy(cash, 10n ** 9n))])
  )
  const { body } = await app.get(TRADES)
  const worth = body.data.map(({ amount_usd }) => amount_usd as number)
  t.ok(
    worth.some((usd) => String(usd).includes('e-')),
    `${worth.join()} has an exponent`
  )
  for (const usd of [...worth, 1e21, 1.5e300, 5e-324, 0.1 + 0.2, 12345678901234567890]) {
    const expected = worth.filter((other) => other >= usd)
    for (const text of [String(usd), encodeURIComponent(String(usd)), String(usd).toUpperCase()]) {
      const found = await app.get(`${TRADES}?min_usd=${text}`)
      t.equal(found.status, 200, text)
      t.strictSame(
        found.body.data.map(({ amount_usd }) => amount_usd),
        expected,
        text
      )
    }
  }
})

t.test('min_usd compares what the cash was worth; what has no value in USD is left out', async (t) => {
  const app = await marketApp(t)
  await app.commit(
    block(SLOT, NOON, [buy(10n ** 9n, 10n ** 9n)]),
    block(SLOT + 1, NOON + 10, [solSale(200), buy(5n * 10n ** 8n, 10n ** 9n), buy(10n ** 8n, 10n ** 9n)])
  )
  const worth = async (query: string) =>
    (await app.get(`${TRADES}?${query}`)).body.data.map((row) => row.amount_usd)
  t.strictSame(await worth('limit=9'), [20, 100, null])
  t.strictSame(await worth('min_usd=0'), [20, 100])
  t.strictSame(await worth('min_usd=20'), [20, 100])
  t.strictSame(await worth('min_usd=20.000001'), [100])
  t.strictSame(await worth('min_usd=100.5'), [])
})
