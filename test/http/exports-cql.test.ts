import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { block, buy, key, NOON, TOKEN } from '../market/world.ts'
import { testWithCql } from '../servers/cql.ts'
import { ScyllaUnderTest } from '../storage/scylla-keyspace.ts'
import { exported, ndjsonRows } from './export-client.ts'
import { walk } from './market-app.ts'
import { listeningApp } from './raw-client.ts'

const RANGE = `from=${NOON}&to=${NOON + 1_000}`
const QUOTA = 1_300

testWithCql(t, 'exports on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  const opened = await under.open(t)
  const { storage } = opened
  const app = await listeningApp(t, undefined, { storage })
  app.nowMs = NOON * 1_000
  for (let at = 0; at < 8; at++)
    await app.commit(
      block(
        300_000_001 + at,
        NOON + at,
        Array.from({ length: 250 }, (_, n) =>
          buy(10n ** 9n, 10n ** 9n, n % 2 === 0 ? {} : { outMint: key(1_000 + ((at * 250 + n) % 70)) })
        )
      )
    )
  const limited = await app.makeKey(['data:read'], { exportRowsPerDay: QUOTA })
  const list = `/v1/tokens/${pubkeyToBase58(TOKEN)}/trades?${RANGE}&order=asc`
  const ofToken = await walk(app, list, () => 1_000)
  t.equal(ofToken.length, 1_000)
  const all = await walk(app, `/v1/trades?${RANGE}`, () => 1_000)
  t.equal(all.length, 2_000)
  t.equal(new Set(all.map(({ cursor }) => cursor)).size, 2_000)
  t.strictSame(await walk(app, `/v1/trades?${RANGE}`, () => 170), all)

  await t.test('an export has the rows of its list, and the quota ends it', async (t) => {
    const whole = await exported(app, `${list}&format=ndjson`, limited)
    t.ok(whole.isComplete)
    t.strictSame(ndjsonRows(whole.text), ofToken)
    const cut = await exported(app, `/v1/trades?${RANGE}&format=ndjson`, limited)
    t.notOk(cut.isComplete, 'it breaks off')
    t.strictSame(ndjsonRows(cut.text), all.slice(0, QUOTA - 1_000))
  })

  await t.test('another process has the same count, and continues after the last row', async (t) => {
    const other = await listeningApp(t, undefined, { storage: await opened.join!() })
    other.nowMs = app.nowMs
    const path = `/v1/trades?${RANGE}&format=ndjson`
    const refused = await other.get(path, { 'x-api-key': limited })
    t.match(refused, { status: 429, body: { code: 'export_rows_exceeded', limit: QUOTA } })
    const last = all[QUOTA - 1_001]!
    const rest = await exported(other, `${path}&after=${last['mint'] as string}:${last.cursor}`)
    t.ok(rest.isComplete)
    t.strictSame(ndjsonRows(rest.text), all.slice(QUOTA - 1_000))
  })

  await t.test('exports of a key in two processes share its quota', async (t) => {
    const shared = await app.makeKey(['data:read'], { exportRowsPerDay: 1_500 })
    const other = await listeningApp(t, undefined, { storage: await opened.join!() })
    other.nowMs = app.nowMs
    const both = await Promise.all(
      [app, other].map((each) => exported(each, `${list}&format=ndjson`, shared))
    )
    t.strictSame(both.map(({ text }) => ndjsonRows(text).length).sort(), [1_000, 500].sort())
    t.strictSame(both.map(({ isComplete }) => isComplete).sort(), [false, true])
  })
})
