import t from 'tap'
import { STORAGE, type StorageBody } from '../../src/store/bodies/storage.ts'
import { appOf } from '../http/app-of.ts'
import { productsOf } from '../products/loaded-products.ts'
import { processMetrics } from '../products/process-metrics.ts'
import { block, buy, NOON } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

const PATH = '/v1/admin/storage'
const DAY = 86_400

t.test('the bytes of the store are reported by kind, only to administrators', async (t) => {
  const app = await marketApp(t)
  const headers = { 'x-api-key': await app.makeKey(['admin']) }
  app.nowMs = NOON * 1_000
  const read = async (): Promise<StorageBody> => {
    const { status, text } = await app.get(PATH, headers)
    t.equal(status, 200)
    return STORAGE.parse(JSON.parse(text))
  }
  const empty = await read()
  t.match(empty, {
    oldest_block_time: null,
    newest_block_time: null,
    growth_bytes_per_day: null,
    days_left: null
  })

  for (let i = 0; i <= 48; i++) await app.commit(block(100 + i, NOON + i * 1_800, [buy(1n, 1n)]))
  const told = await read()
  t.ok(told.bytes > empty.bytes + 1_000, `${empty.bytes} bytes became ${told.bytes}`)
  t.match(told, { oldest_block_time: NOON, newest_block_time: NOON + DAY })
  t.equal(told.bytes, sum(told.kinds.map(({ bytes }) => bytes)))
  t.strictSame(
    told.kinds,
    told.kinds.toSorted((a, b) => b.bytes - a.bytes),
    'the largest first'
  )
  const growth = told.growth_bytes_per_day!
  // Each value is rounded up separately.
  const rounding = sum(told.kinds.map((kind) => kind.growth_bytes_per_day!)) - growth
  t.ok(growth > 0 && rounding >= 0 && rounding <= told.kinds.length)
  t.ok(Math.abs(told.days_left! / (told.free_bytes! / growth) - 1) < 0.01)
  t.ok(
    told.full_at_ms === null ||
      Math.abs(told.full_at_ms - (app.nowMs + told.days_left! * DAY * 1_000)) < DAY * 100
  )

  t.equal((await app.get(PATH, { 'x-api-key': app.key })).status, 403)
  t.equal((await app.get(PATH, {})).status, 401)
})

t.test('a process that serves no data reports the size of its store, too', async (t) => {
  const app = await marketApp(t)
  const operations = appOf(
    { ...app.deps, metrics: processMetrics(app.deps.decoding), stream: null },
    productsOf({ role: ['ingest'] })
  )
  t.teardown(() => operations.close())
  const headers = { 'x-api-key': await app.makeKey(['admin']) }
  const answer = await operations.inject({ url: PATH, headers })
  t.equal(answer.statusCode, 200)
  t.equal(STORAGE.safeParse(answer.json()).success, true)
})

const sum = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)
