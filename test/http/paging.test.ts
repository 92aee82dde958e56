import fc from 'fast-check'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { block, buy, key, launch, NOON, TOKEN } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { cycle, marketApp, type MarketApp, type Row, walk } from './market-app.ts'

/** Lists that need a range of times. */
const ALL_TOKENS = ['/v1/trades', '/v1/candles']

const MINT = pubkeyToBase58(TOKEN)
const TRADES = `/v1/tokens/${MINT}/trades`
const ROWS = 60
let slot = 300_000_000
let launched = 1000

/** Returns a block with equally many trades and launches of the token. */
const blockOf = (rows: number) =>
  block(
    ++slot,
    NOON + (slot % 1000),
    Array.from({ length: rows }, () => [
      buy(10n ** 9n, 10n ** 9n),
      launch({ baseMint: key(launched++) })
    ]).flat()
  )

async function filled(t: Parameters<typeof marketApp>[0]): Promise<MarketApp> {
  const app = await marketApp(t)
  for (let rows = 0; rows < ROWS; rows += 4) await app.commit(blockOf(4))
  return app
}

const cursors = (rows: readonly Row[]): number[] => rows.map(({ cursor }) => cursor)
const all = async (app: MarketApp, path: string): Promise<number[]> =>
  cursors(await walk(app, path, () => 500))
const limits = fc.array(fc.integer({ min: 1, max: 23 }), { minLength: 1, maxLength: 9 })

for (const [name, path] of [
  ['trades', TRADES],
  ['launches', '/v1/launches'],
  ['created launches', '/v1/launches?status=created']
] as const) {
  t.test(`${name} walked by after with any limits skip and repeat nothing, in both orders`, async (t) => {
    const app = await filled(t)
    const newestFirst = await all(app, path)
    t.equal(newestFirst.length, ROWS)
    t.strictSame(
      newestFirst,
      newestFirst.toSorted((a, b) => b - a),
      'newest first'
    )
    await fc.assert(
      fc.asyncProperty(limits, fc.constantFrom('desc', 'asc'), async (sizes, order) => {
        const joint = path.includes('?') ? '&' : '?'
        const walked = cursors(await walk(app, `${path}${joint}order=${order}`, cycle(sizes)))
        const expected = order === 'desc' ? newestFirst : newestFirst.toReversed()
        return JSON.stringify(walked) === JSON.stringify(expected)
      }),
      randomRuns(6, 2_026)
    )
  })

  t.test(
    `${name} walked by after while rows arrive keep to what was there, or see it all in order`,
    async (t) => {
      const app = await filled(t)
      await fc.assert(
        fc.asyncProperty(limits, async (sizes) => {
          const before = await all(app, path)
          const walked = cursors(await walk(app, path, cycle(sizes), () => app.commit(blockOf(1))))
          return JSON.stringify(walked) === JSON.stringify(before)
        }),
        randomRuns(3, 2_026)
      )
      let arrivals = 12
      const joint = path.includes('?') ? '&' : '?'
      const rising = await walk(app, `${path}${joint}order=asc`, cycle([7, 1, 13]), async () => {
        if (arrivals-- > 0) await app.commit(blockOf(2))
      })
      t.strictSame(cursors(rising), (await all(app, path)).toReversed())
    }
  )

  t.test(`${name} walked by offset with any limits skip and repeat nothing, in both orders`, async (t) => {
    const app = await filled(t)
    const newestFirst = await all(app, path)
    await fc.assert(
      fc.asyncProperty(limits, fc.constantFrom('desc', 'asc'), async (sizes, order) => {
        const next = cycle(sizes)
        const walked: number[] = []
        for (;;) {
          const joint = path.includes('?') ? '&' : '?'
          const { body } = await app.get(
            `${path}${joint}order=${order}&offset=${walked.length}&limit=${next()}`
          )
          walked.push(...cursors(body.data))
          if (body.nextCursor === null) break
        }
        const expected = order === 'desc' ? newestFirst : newestFirst.toReversed()
        return JSON.stringify(walked) === JSON.stringify(expected)
      }),
      randomRuns(6, 2_026)
    )
    t.pass('every walk saw each row once')
  })
}

t.test('the last page says so, whether or not it is full', async (t) => {
  const app = await filled(t)
  for (const path of [TRADES, '/v1/launches']) {
    const page = async (query: string) => {
      const { body } = await app.get(`${path}?${query}`)
      return [body.data.length, body.nextCursor === null]
    }
    t.strictSame(await page(`limit=${ROWS}`), [ROWS, true])
    t.strictSame(await page(`limit=${ROWS - 1}`), [ROWS - 1, false])
    t.strictSame(await page(`limit=${ROWS + 1}`), [ROWS, true])
    t.strictSame(await page(`offset=${ROWS}`), [0, true])
    t.strictSame(await page('offset=9500&limit=500'), [0, true])
  }
  t.equal((await app.get('/v1/launches')).body.data.length, 50, 'the default of launches')
})

t.test('a page entered by offset is walked on by after', async (t) => {
  const app = await filled(t)
  for (const path of [TRADES, '/v1/launches']) {
    const expected = await all(app, path)
    const first = (await app.get(`${path}?offset=7&limit=5`)).body
    t.strictSame(cursors(first.data), expected.slice(7, 12))
    const second = (await app.get(`${path}?limit=500&after=${String(first.nextCursor)}`)).body
    t.strictSame(cursors(second.data), expected.slice(12))
  }
})

t.test(
  'an after of any length that is no cursor of a list is refused as one by every list; so is a deep offset',
  async (t) => {
    const app = await marketApp(t)
    const key = await app.makeKey(['data:read', 'webhooks', 'revenue', 'tx:send', 'admin'])
    const { body } = await app.get('/openapi.json')
    const lists = Object.entries(body['paths'] as Record<string, { get?: { parameters?: object[] } }>)
      .filter(([, { get }]) => get?.parameters?.some((each) => 'name' in each && each.name === 'after'))
      .map(([path]) => path)
      .filter((path) => !path.endsWith('/deliveries'))
    t.ok(lists.length >= 8, lists.join())
    const address = 'So11111111111111111111111111111111111111112'
    t.match((await app.get('/v1/launches?offset=9999&limit=2')).body, {
      code: 'invalid_parameter',
      detail: 'offset plus limit must be at most 10000; use after to read further'
    })
    for (const path of lists)
      for (const after of ['x', 'x'.repeat(5_000)]) {
        const required = ALL_TOKENS.includes(path) ? 'from=5&to=6&' : ''
        const url = `${path.replace(/\{[^}]+\}/g, address)}?${required}after=${after}`
        t.match(
          await app.get(url, { 'x-api-key': key }),
          { status: 400, body: { code: 'invalid_cursor' } },
          url.slice(0, 70)
        )
      }
  }
)
