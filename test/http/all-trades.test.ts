import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { block, buy, key, launch, NOON, OTHER, sell, TOKEN, trade } from '../market/world.ts'
import { marketApp, type MarketApp, type Row } from './market-app.ts'

/** Tokens beside the named ones: more than the store lists at a time, most of them without trades in the range. */
const TOKENS = 280
const FROM = NOON + 100
const TO = NOON + 1_000
const RANGE = `from=${FROM}&to=${TO}`

/** Blocks with trades of many tokens before, in and after the range, and of two tokens without cash. */
async function filled(t: Parameters<typeof marketApp>[0]): Promise<MarketApp> {
  const app = await marketApp(t)
  const token = (n: number) => key(1_000 + n)
  await app.commit(
    block(
      300_000_001,
      NOON,
      Array.from({ length: TOKENS }, (_, n) => buy(10n ** 9n, 10n ** 9n, { outMint: token(n) }))
    ),
    block(300_000_002, FROM - 1, [buy(10n ** 9n, 10n ** 9n), launch({ baseMint: key(7) })]),
    block(300_000_003, FROM, [
      ...Array.from({ length: 130 }, () => buy(10n ** 9n, 10n ** 9n)),
      trade({ inMint: TOKEN, inDecimals: 6, outMint: OTHER }),
      buy(10n ** 9n, 10n ** 9n, { outMint: token(3), venue: 'orca-whirlpool' })
    ]),
    block(300_000_004, TO - 1, [
      sell(10n ** 8n, 10n ** 8n),
      sell(10n ** 8n, 10n ** 8n, { inMint: token(9), venue: 'orca-whirlpool' }),
      trade({ inMint: OTHER, inDecimals: 6, outMint: token(3) })
    ]),
    block(300_000_005, TO, [buy(10n ** 9n, 10n ** 9n), buy(10n ** 9n, 10n ** 9n, { outMint: token(20) })])
  )
  return app
}

/** Reads all pages of a list. */
async function pages(app: MarketApp, path: string, limit: number, after = ''): Promise<Row[]> {
  const rows: Row[] = []
  for (let next: string | null = after; next !== null;) {
    const { status, body, text } = await app.get(
      `${path}&limit=${limit}${next === '' ? '' : `&after=${encodeURIComponent(next)}`}`
    )
    if (status !== 200) throw new Error(text)
    rows.push(...body.data)
    next = body.nextCursor
  }
  return rows
}

const tokensOf = (rows: readonly Row[]): string[] => [...new Set(rows.map(({ mint }) => mint as string))]

t.test('trades of all tokens are those of the list of each token, each trade once', async (t) => {
  const app = await filled(t)
  const all = await pages(app, `/v1/trades?${RANGE}`, 1_000)
  t.equal(all.length, 130 + 1 + 1 + 3)
  const expected: Row[] = []
  for (const mint of tokensOf(all)) {
    const rows = await pages(app, `/v1/tokens/${mint}/trades?order=asc&${RANGE}`, 1_000)
    expected.push(...rows.filter((row) => row['event'] !== 'swap' || row['in_mint'] === mint))
  }
  t.strictSame(all, expected, 'token by token, oldest first')
  t.equal(new Set(all.map(({ cursor }) => cursor)).size, all.length)
  for (const limit of [1, 49, 50, 51, 100])
    t.strictSame(await pages(app, `/v1/trades?${RANGE}`, limit), all, `pages of ${limit}`)
  for (const row of [all[0]!, all[60]!, all.at(-1)!]) {
    const after = `${row['mint'] as string}:${row.cursor}`
    t.strictSame(
      await pages(app, `/v1/trades?${RANGE}`, 40, after),
      all.slice(all.indexOf(row) + 1),
      'after a row'
    )
  }
  const onOrca = await pages(app, `/v1/trades?${RANGE}&venue=orca-whirlpool`, 1)
  t.strictSame(
    onOrca,
    all.filter(({ venue }) => venue === 'orca-whirlpool'),
    'of a venue'
  )
  t.equal(onOrca.length, 2)
  t.equal((await pages(app, `/v1/trades?${RANGE}&side=sell`, 10)).length, 2)
  t.strictSame(await pages(app, `/v1/trades?from=${TO + 1}&to=${TO + 2}`, 10), [])
})

t.test('candles of all tokens are those of each pair', async (t) => {
  const app = await filled(t)
  for (const interval of ['1m', '1h']) {
    const from = NOON - (NOON % 3_600)
    const range = `interval=${interval}&from=${from}&to=${TO}`
    const all = await pages(app, `/v1/candles?${range}`, 1_000)
    t.equal(tokensOf(all).length, TOKENS + 1, 'of every token with a price')
    const expected: Row[] = []
    for (const mint of tokensOf(all)) {
      const { body } = await app.get(`/v1/tokens/${mint}/candles?${range}&limit=1000`)
      expected.push(...body.data.map((row) => ({ ...row, mint, cash_mint: body['cash_mint'] })))
    }
    t.strictSame(all, expected)
    for (const limit of [1, 7, 300])
      t.strictSame(await pages(app, `/v1/candles?${range}`, limit), all, `pages of ${limit}`)
    const row = all[100]!
    const after = `${row['mint'] as string}:${row['cash_mint'] as string}:${(row['ts_ms'] as number) / 1_000}`
    t.strictSame(await pages(app, `/v1/candles?${range}`, 300, after), all.slice(101), 'after a candle')
  }
})

t.test('a list of all tokens needs a range, and refuses cursors of other lists', async (t) => {
  const app = await filled(t)
  for (const path of ['/v1/trades', '/v1/candles']) {
    t.match(await app.get(path), { status: 400, body: { detail: /from/ } })
    t.match(await app.get(`${path}?from=5`), { status: 400, body: { detail: /to / } })
    t.match(await app.get(`${path}?from=5&to=5`), { status: 400, body: { detail: /from must be before to/ } })
    const { body } = await app.get(`${path}?${RANGE}&limit=1`)
    const next = encodeURIComponent(body.nextCursor!)
    for (const after of [
      next,
      'x',
      '5',
      `${'1'.repeat(32)}:x`,
      `${pubkeyToBase58(TOKEN)}:99999999999999999999`
    ])
      t.match(
        await app.get(`${path}?from=5&to=6&after=${after}`),
        { status: 400, body: { code: 'invalid_cursor' } },
        after
      )
  }
})
