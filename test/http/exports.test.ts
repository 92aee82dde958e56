import { parse } from 'csv-parse/sync'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { endpoint } from '../../src/kernel/http/endpoint.ts'
import { EXPORT_PAGE_ROWS } from '../../src/kernel/http/list/export.ts'
import { EXPORTS_AT_ONCE } from '../../src/kernel/http/list/running-exports.ts'
import { serve } from '../../src/kernel/http/serve.ts'
import { listOf } from '../../src/kernel/http/schema.ts'
import { block, buy, key, launch, NOON, TOKEN } from '../market/world.ts'
import { until } from '../until.ts'
import { exported, ndjsonRows, openExport } from './export-client.ts'
import { walk, type MarketApp } from './market-app.ts'
import { listeningApp, type ListeningApp } from './raw-client.ts'

const TRADES = `/v1/tokens/${pubkeyToBase58(TOKEN)}/trades`
/** A range with every block of these tests. */
const RANGE = `from=${NOON - 1000}&to=${NOON + 1_000_000}`
const DAY_MS = 86_400_000

/** Commits blocks with this many trades in total. */
async function fill(app: MarketApp, trades: number, firstSlot = 300_000_001): Promise<void> {
  for (let at = 0; at * 250 < trades; at++)
    await app.commit(
      block(
        firstSlot + at,
        NOON + firstSlot - 300_000_000 + at,
        Array.from({ length: Math.min(250, trades - at * 250) }, () => buy(10n ** 9n, 10n ** 9n))
      )
    )
}

t.test(
  'an export has all rows of its range while blocks are committed, in both orders and formats',
  async (t) => {
    const app = await listeningApp(t)
    await fill(app, 2_600)
    const before = await walk(app, `${TRADES}?order=asc`, () => 1000)
    const desc = await (
      await openExport(app, `${TRADES}?${RANGE}&format=ndjson`)
    ).whole(() => fill(app, 500, 300_000_101))
    t.match(desc.headers, {
      'content-type': 'application/x-ndjson; charset=utf-8',
      trailer: /x-export-rows/i
    })
    t.ok(desc.isComplete)
    t.strictSame(desc.trailers, { 'x-export-rows': '2600' })
    t.strictSame(ndjsonRows(desc.text), before.toReversed(), 'newest first: from the head at the first page')
    const more = await walk(app, `${TRADES}?order=asc`, () => 1000)
    t.equal(more.length, 3_100)
    const asc = await (
      await openExport(app, `${TRADES}?${RANGE}&order=asc&format=csv&fields=cursor,price`)
    ).whole(() => fill(app, 250, 300_000_201))
    t.ok(asc.isComplete)
    const cells = parse<Record<string, string>>(asc.text, { columns: true, record_delimiter: '\r\n' })
    const all = await walk(app, `${TRADES}?order=asc`, () => 1000)
    t.ok(cells.length >= more.length, 'every row that was there')
    t.strictSame(
      cells.map(({ cursor }) => Number(cursor)),
      all.slice(0, cells.length).map(({ cursor }) => cursor),
      'oldest first: nothing is lost or repeated'
    )
    t.equal(asc.trailers['x-export-rows'], String(cells.length))
    const page = await app.get(`${TRADES}?${RANGE}&format=csv&limit=10`)
    t.equal(page.text.split('\r\n').length, 12, 'with a limit it is a page')
    t.match(page.headers.link, /after=/)
  }
)

t.test('a row quota ends an export recognizably, and a later one resumes after the last row', async (t) => {
  const app = await listeningApp(t)
  app.nowMs = NOON * 1000
  await fill(app, 2_600)
  const all = await walk(app, TRADES, () => 1000)
  const limited = await app.makeKey(['data:read'], { exportRowsPerDay: 1_500 })
  const left = async () =>
    (await app.get('/v1/me', { 'x-api-key': limited })).body as unknown as {
      limits: Record<string, number>
      usage: Record<string, number>
    }
  t.match(await left(), { limits: { export_rows_per_day: 1_500 }, usage: { export_rows_remaining: 1_500 } })
  const path = `${TRADES}?${RANGE}&format=ndjson`
  const first = await exported(app, path, limited)
  t.notOk(first.isComplete, 'it breaks off')
  t.strictSame(first.trailers, {})
  const rows = ndjsonRows(first.text)
  t.strictSame(rows, all.slice(0, 1_500))
  t.equal((await left()).usage.export_rows_remaining, 0)
  const after = `&after=${String(rows.at(-1)!.cursor)}`
  const refused = await app.get(`${path}${after}`, { 'x-api-key': limited })
  t.match(refused, {
    status: 429,
    body: { code: 'export_rows_exceeded', limit: 1_500, window_seconds: 86_400 }
  })
  t.equal(refused.headers['retry-after'], String(12 * 3_600), 'until the next day of UTC')
  t.equal((await app.get(`${path}&limit=5`, { 'x-api-key': limited })).status, 200, 'pages are not counted')
  app.nowMs += DAY_MS
  const rest = await exported(app, `${path}${after}`, limited)
  t.ok(rest.isComplete)
  t.strictSame([...rows, ...ndjsonRows(rest.text)], all, 'nothing is lost or repeated')
  t.equal((await left()).usage.export_rows_remaining, 400)
  const without = await app.makeKey(['data:read'], { exportRowsPerDay: 0 })
  const forbidden = await app.get(path, { 'x-api-key': without })
  t.match(forbidden, { status: 403, body: { code: 'export_not_allowed' } })
  t.equal((await app.get(`${path}&limit=5`, { 'x-api-key': without })).status, 200)
})

t.test('two exports of a key share its quota', async (t) => {
  const app = await listeningApp(t)
  await fill(app, 1_200)
  const limited = await app.makeKey(['data:read'], { exportRowsPerDay: 2_300 })
  const path = `${TRADES}?${RANGE}&format=ndjson`
  const both = await Promise.all([exported(app, path, limited), exported(app, path, limited)])
  const rows = both.map(({ text }) => ndjsonRows(text).length)
  t.strictSame(rows.sort(), [1_100, 1_200])
  t.strictSame(both.map(({ isComplete }) => isComplete).sort(), [false, true])
})

/** Adds a list without end whose pages have 10 MB. Returns the number of pages made so far. */
function endless(app: MarketApp): () => number {
  let made = 0
  const text = 'x'.repeat(10_000)
  const time = z.string().optional()
  const list = endpoint({
    path: '/v1/endless',
    tag: 'Market',
    summary: 'Rows without end',
    scope: 'data:read',
    query: z.object({ from: time, to: time, limit: time, after: time }),
    answer: listOf(z.object({ text: z.string() })),
    columns: ['text']
  })
  // After the plugins of the app, whose hooks a route needs.
  void app.app.register(async (scope) =>
    serve(scope, list, async () => {
      made++
      return { data: Array.from({ length: EXPORT_PAGE_ROWS }, () => ({ text })), nextCursor: String(made) }
    })
  )
  return () => made
}
const ENDLESS = '/v1/endless?from=1&to=2&format=csv'

/** Resolves with a count that no longer changes. */
async function settled(count: () => number): Promise<number> {
  for (;;) {
    const before = count()
    await new Promise((resolve) => setTimeout(resolve, 200))
    if (count() === before) return before
  }
}

async function endlessApp(t: Test): Promise<{ readonly app: ListeningApp; readonly made: () => number }> {
  let made: () => number = () => 0
  const app = await listeningApp(t, undefined, { onApp: (world: MarketApp) => (made = endless(world)) })
  return { app, made: () => made() }
}

t.test('an export reads no further than its client, and ends when the client leaves', async (t) => {
  const { app, made } = await endlessApp(t)
  const { asked, response } = await openExport(
    app,
    ENDLESS,
    await app.makeKey(['data:read'], { exportRowsPerDay: 1e9 })
  )
  response.pause()
  const atRest = await settled(made)
  t.ok(atRest >= 1 && atRest <= 4, `${atRest} pages of 10 MB for a client that reads nothing`)
  t.equal(app.app.exports.size, 1)
  response.resume()
  await until(() => made() >= atRest + 3)
  asked.destroy()
  await until(() => app.app.exports.size === 0)
  const atEnd = await settled(made)
  t.equal(await settled(made), atEnd)
})

t.test(
  'an export breaks off when the service drains, and a tenant has a limit of exports at a time',
  async (t) => {
    const { app } = await endlessApp(t)
    const apiKey = await app.makeKey(['data:read'], { exportRowsPerDay: 1e9 })
    const exports = await Promise.all(
      Array.from({ length: EXPORTS_AT_ONCE }, () => openExport(app, ENDLESS, apiKey))
    )
    for (const { response } of exports) response.pause()
    const refused = await app.get(ENDLESS, { 'x-api-key': apiKey })
    t.match(refused, { status: 429, body: { code: 'too_many_connections' } })
    for (const { asked } of exports.slice(1)) asked.destroy()
    await until(() => app.app.exports.size === 1)
    app.draining = true
    const { isComplete, trailers } = await exports[0]!.whole()
    t.notOk(isComplete)
    t.strictSame(trailers, {})
    await until(() => app.app.exports.size === 0)
  }
)

t.test('an export over HTTP/1.0, which cannot show that it is complete, is refused', async (t) => {
  const app = await listeningApp(t)
  const client = app.connect()
  client.send(
    `GET ${TRADES}?${RANGE}&format=csv HTTP/1.0\r\nhost: 127.0.0.1\r\nx-api-key: ${app.key}\r\n\r\n`
  )
  t.match(await client.received, /400 Bad Request[^]*HTTP\/1\.1/)
})

t.test('an export of candles is in the order of time, and has the candles of all pages', async (t) => {
  const app = await listeningApp(t)
  const times = [0, 60, 61, 120, 100_000, 100_060, 350_000, 350_061]
  for (const [at, seconds] of times.entries())
    await app.commit(block(300_000_001 + at, NOON + seconds, [buy(10n ** 9n, BigInt(10 ** 9 + at))]))
  for (const options of [
    'interval=1m',
    'interval=1m&fill=previous',
    'interval=1h&raw=true',
    'interval=15m'
  ]) {
    const path = `/v1/tokens/${pubkeyToBase58(TOKEN)}/candles?${options}&from=${NOON - 3_000_000}&to=${NOON + 400_000}`
    const pages: unknown[][] = []
    for (let after = ''; ;) {
      const { body } = await app.get(`${path}&limit=1000${after}`)
      pages.unshift([...body.data])
      if (body.nextCursor === null) break
      after = `&after=${body.nextCursor}`
    }
    const all = await exported(app, `${path}&format=ndjson`)
    t.strictSame(ndjsonRows(all.text), pages.flat(), options)
    t.equal(all.trailers['x-export-rows'], String(pages.flat().length))
  }
})

t.test('an export of launches has those of its range, and its work counts as rows', async (t) => {
  const app = await listeningApp(t)
  await app.commit(
    block(
      300_000_001,
      NOON,
      Array.from({ length: 1_300 }, (_, n) => launch({ baseMint: key(1_000 + n) }))
    )
  )
  const path = `/v1/launches?${RANGE}&format=ndjson`
  const left = async (): Promise<number> =>
    ((await app.get('/v1/me')).body.usage as { work_remaining: number }).work_remaining
  const before = await left()
  const all = await exported(app, path)
  t.equal(ndjsonRows(all.text).length, 1_300)
  t.ok(Number(all.headers['x-work-units']) >= 500, 'the units of the first page are in the header')
  t.ok(before - (await left()) >= 650, 'half a unit for each row')
})
