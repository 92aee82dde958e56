import t from 'tap'
import { WorkBudget } from '../../src/access/work-budget.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import { block, buy, TOKEN } from '../market/world.ts'
import { marketApp, type Answer } from './market-app.ts'

/** 2026-08-24 12:00:00 UTC. */
const NOON = Date.UTC(2026, 7, 24, 12)

const unitsOf = ({ headers }: Answer): number => Number(headers['x-work-units'])
const workLeft = ({ headers }: Answer): number =>
  Number(/"work";r=(\d+)/.exec(String(headers['ratelimit']))?.[1])

async function start(t: Parameters<typeof marketApp>[0]) {
  const app = await marketApp(t)
  app.nowMs = NOON
  await app.commit(block(1, NOON / 1000, []))
  return app
}

t.test('an answer costs more the more rows and bytes it has, and nearly nothing again', async (t) => {
  const app = await start(t)
  const key = await app.makeKey(['data:read', 'admin'], { workPerMinute: 10_000 })
  for (let i = 0; i < 20; i++) await app.makeKey(['data:read'])
  const get = (path: string) => app.get(path, { 'x-api-key': key })
  const [few, many] = [await get('/v1/admin/keys?limit=1'), await get('/v1/admin/keys?limit=20')]
  t.ok(unitsOf(few) > WORK_PRICES.call)
  t.ok(unitsOf(many) >= unitsOf(few) + 19 * WORK_PRICES.row, `${unitsOf(many)} and ${unitsOf(few)}`)
  const left = workLeft(many)
  t.equal(left, 10_000 - unitsOf(few) - unitsOf(many))
  const made = await get('/v1/launches')
  t.ok(unitsOf(made) >= WORK_PRICES.call)
  const cached = await get('/v1/launches')
  t.equal(unitsOf(cached), WORK_PRICES.call)
  t.equal(workLeft(cached), left - unitsOf(made) - unitsOf(cached))
})

t.test('rows that an offset passes over, or a filter leaves out, are paid for too', async (t) => {
  const app = await start(t)
  const key = await app.makeKey(['data:read'])
  const units = async (query: string) =>
    unitsOf(await app.get(`/v1/tokens/${pubkeyToBase58(TOKEN)}/trades?${query}`, { 'x-api-key': key }))
  for (let slot = 2; slot < 42; slot++) await app.commit(block(slot, NOON / 1000, [buy(1_000_000n, 100n)]))
  const near = await units('limit=1')
  t.ok((await units('limit=1&offset=30')) >= near + 29 * WORK_PRICES.row)
  const none = await units('limit=1&min_usd=1000000000000')
  t.ok(none >= 40 * WORK_PRICES.row, `${none}`)
})

t.test('a key without work left is refused by the second policy, until the debt is worked off', async (t) => {
  const app = await start(t)
  const key = await app.makeKey(['data:read'], { workPerMinute: 3 })
  const get = () => app.get('/v1/me', { 'x-api-key': key })
  const first = await get()
  t.equal(first.status, 200)
  t.ok(unitsOf(first) > 3)
  t.equal(workLeft(first), 0)
  app.nowMs = NOON + 30_000
  const refused = await get()
  t.equal(refused.status, 429)
  const wait = Number(refused.headers['retry-after'])
  t.match(refused.body, {
    code: 'rate_limited',
    'violated-policies': ['work'],
    limit: 3,
    window_seconds: 60,
    retry_after: wait
  })
  t.equal(refused.headers['x-work-units'], undefined)
  t.equal((await app.get('/v1/health', { 'x-api-key': key })).status, 200)
  app.nowMs += (wait - 1) * 1_000
  t.equal((await get()).status, 429)
  app.nowMs += 1_000
  t.equal((await get()).status, 200)
  const metrics = (await app.deps.metrics.registry.metrics()).split('\n')
  t.ok(metrics.includes('millrace_work_refused_total{tenant="acme"} 2'))
  t.ok(metrics.some((line) => /^millrace_work_units_total\{tenant="acme"\} \d+$/.test(line)))
})

t.test("a second key gives a tenant no second budget; a larger limit of a key is that key's", async (t) => {
  const app = await start(t)
  const keys = [await app.makeKey(['data:read']), await app.makeKey(['data:read'])] as const
  const large = await app.makeKey(['data:read'], { workPerMinute: 100_000_000 })
  const get = async (key: string) => (await app.get('/v1/me', { 'x-api-key': key })).status
  const caller = app.keys.find(keys[0])!
  new WorkBudget(app.deps.limits.work).charge(caller, caller.workPerMinute, NOON)
  t.strictSame([await get(keys[0]), await get(keys[1]), await get(large)], [429, 429, 200])
})

t.test('pages of other origins may read what an answer cost', async (t) => {
  const app = await start(t)
  const origin = 'https://app.example.org'
  const key = await app.makeKey(['data:read'], { corsOrigins: [origin] })
  const { headers } = await app.get('/v1/me', { 'x-api-key': key, origin })
  t.match(headers['access-control-expose-headers'], /\bX-Work-Units\b/)
})

t.test('an operator sets the limit of a key, which its owner sees', async (t) => {
  const app = await start(t)
  const admin = await app.makeKey(['admin'])
  const make = (work: unknown) =>
    app.ask(
      'POST',
      '/v1/admin/keys',
      { 'x-api-key': admin, 'content-type': 'application/json' },
      JSON.stringify({ tenant: 'acme', work_limit_per_minute: work })
    )
  const made = await make(7_000)
  t.equal(made.status, 201)
  t.equal(made.body['work_limit_per_minute'], 7_000)
  const mine = await app.get('/v1/me', { 'x-api-key': made.body['key'] as string })
  t.match(mine.body, { limits: { work_limit_per_minute: 7_000 }, usage: { work_remaining: 7_000 } })
  for (const wrong of [0, 1.5, '7', 1_000_000_001]) {
    const refused = await make(wrong)
    t.equal(refused.status, 400)
    t.match(refused.text, 'work_limit_per_minute', String(wrong))
  }
  const rotated = await app.ask(
    'POST',
    `/v1/admin/keys/${made.body['id'] as string}/rotate`,
    { 'x-api-key': admin, 'content-type': 'application/json' },
    '{}'
  )
  t.equal(rotated.body['work_limit_per_minute'], 7_000)
})
