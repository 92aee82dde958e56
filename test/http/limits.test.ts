import fc from 'fast-check'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import { RateWindow } from '../../src/access/rate-window.ts'
import type { RateCounter } from '../../storage/cluster/coordination.ts'
import { access as accessPlugin, FAILURES_PER_MINUTE } from '../../src/kernel/http/plugins/access.ts'
import { problems } from '../../src/kernel/http/plugins/problems.ts'
import { MemoryAccess } from '../access/memory-access.ts'
import { block } from '../market/world.ts'
import { virtualClock } from '../virtual-time.ts'
import { randomRuns } from '../random-runs.ts'
import { marketApp, type Answer } from './market-app.ts'

/** 2026-08-24 12:00:00 UTC. */
const NOON = Date.UTC(2026, 7, 24, 12)

const RATE_HEADERS = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset'
]

/** Returns the rate headers of an answer as text, undefined if absent. */
function rateOf({ headers }: Answer): (string | undefined)[] {
  return RATE_HEADERS.map((name) => headers[name] as string | number | undefined).map((value) =>
    value?.toString()
  )
}

t.test('every response to a key says the policy, what is left and when it is back', async (t) => {
  const app = await marketApp(t)
  app.nowMs = NOON + 12_345
  const key = await app.makeKey(['data:read'], { ratePerMinute: 600, workPerMinute: 5_000 })
  const reset = String(NOON / 1000 + 60)
  let left = 600
  let used = 0
  for (const [path, status] of [
    ['/v1/launches', 200],
    ['/v1/launches', 200],
    ['/v1/me', 200],
    ['/v1/launches?limit=0', 400],
    ['/v1/admin/keys', 403],
    ['/v1/tokens/11111111111111111111111111111111/price', 404]
  ] as const) {
    const answer = await app.get(path, { 'x-api-key': key })
    t.equal(answer.status, status, path)
    left--
    used += Number(answer.headers['x-work-units'])
    const expected = [
      '"per-minute";q=600;w=60, "work";q=5000;w=60',
      `"per-minute";r=${left};t=48, "work";r=${5_000 - used};t=48`,
      '600',
      String(left),
      reset
    ]
    t.strictSame(rateOf(answer), expected)
  }
  const head = await app.ask('HEAD', '/v1/launches', { 'x-api-key': key })
  t.strictSame(rateOf(head).slice(3), [String(left - 1), reset], 'HEAD is one call')
})

t.test('a request without a known key has no quota, and health needs none', async (t) => {
  const app = await marketApp(t)
  for (const [path, headers] of [
    ['/v1/health', {}],
    ['/v1/health', { 'x-api-key': app.key }],
    ['/v1/launches', {}],
    ['/v1/launches', { 'x-api-key': 'wrong' }],
    ['/v1/nothing', { 'x-api-key': app.key }],
    ['/metrics', {}]
  ] as const)
    t.strictSame(rateOf(await app.get(path, headers)), Array(5).fill(undefined), path)
})

t.test('a call too many is refused with the limit and the time to wait, until the next minute', async (t) => {
  const app = await marketApp(t)
  app.nowMs = NOON
  await app.commit(block(1, NOON / 1000, []))
  const key = await app.makeKey(['data:read'], { ratePerMinute: 2 })
  const get = () => app.get('/v1/launches', { 'x-api-key': key })
  t.equal((await get()).status, 200)
  t.equal((await get()).status, 200)
  app.nowMs = NOON + 29_500
  for (let i = 0; i < 3; i++) {
    const refused = await get()
    t.equal(refused.status, 429)
    t.equal(refused.type, 'application/problem+json; charset=utf-8')
    t.equal(String(refused.headers['retry-after']), '31')
    t.match(rateOf(refused).slice(1, 4), [/^"per-minute";r=0;t=31, "work";r=\d+;t=31$/, '2', '0'])
    t.equal(refused.headers['x-work-units'], undefined, 'a refused call does no work')
    t.strictSame(refused.body, {
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Rate limited',
      status: 429,
      detail: 'this key may make 2 requests a minute; the next minute begins in 31 s',
      code: 'rate_limited',
      request_id: refused.headers['x-request-id'],
      'violated-policies': ['per-minute'],
      limit: 2,
      window_seconds: 60,
      retry_after: 31
    })
  }
  t.equal((await app.get('/v1/launches')).status, 200, 'another key of the tenant is another matter')
  t.equal((await app.get('/v1/health', { 'x-api-key': key })).status, 200)
  app.nowMs = NOON + 59_999
  t.equal((await get()).status, 429)
  app.nowMs = NOON + 60_000
  t.equal((await get()).status, 200)
})

t.test('the wait that a refusal asks for is enough, and not a second more', async (t) => {
  const app = await marketApp(t)
  const key = await app.makeKey(['data:read'], { ratePerMinute: 1 })
  const status = async () => (await app.get('/v1/launches', { 'x-api-key': key })).status
  await fc.assert(
    fc.asyncProperty(fc.nat(59_999), fc.nat(1000), async (offsetMs, minute) => {
      app.nowMs = NOON + minute * 3_600_000 + offsetMs
      await status()
      const refused = await app.get('/v1/launches', { 'x-api-key': key })
      t.equal(refused.status, 429)
      const wait = Number(refused.headers['retry-after'])
      app.nowMs += (wait - 1) * 1000
      t.equal(await status(), 429)
      app.nowMs += 1000
      t.equal(await status(), 200)
    }),
    randomRuns(30)
  )
})

t.test('a successor counts for itself', async (t) => {
  const app = await marketApp(t)
  app.nowMs = NOON
  const key = await app.makeKey(['data:read'], { ratePerMinute: 1 })
  const next = await app.keys.rotate(app.keys.find(key)!.keyId, 60_000, NOON)
  for (const [presented, status] of [
    [key, 200],
    [key, 429],
    [next.key, 200],
    [next.key, 429]
  ] as const)
    t.equal((await app.get('/v1/launches', { 'x-api-key': presented })).status, status)
})

t.test(
  'failing requests of a client are refused with 429 after so many, its good keys are not',
  async (t) => {
    const app = await marketApp(t)
    app.nowMs = NOON
    const from = async (remoteAddress: string, headers: Record<string, string>) => {
      const response = await app.app.inject({ url: '/v1/launches', remoteAddress, headers })
      return {
        status: response.statusCode,
        headers: response.headers,
        body: response.json<Record<string, unknown>>()
      }
    }
    for (let i = 0; i < FAILURES_PER_MINUTE; i++) {
      const headers: Record<string, string> = i % 2 === 0 ? {} : { 'x-api-key': `guess-${i}` }
      t.equal((await from('203.0.113.9', headers)).status, 401)
    }
    for (const headers of [{}, { 'x-api-key': 'guess' }]) {
      const refused = await from('203.0.113.9', headers)
      t.match(refused, {
        status: 429,
        headers: { 'retry-after': '60' },
        body: {
          code: 'rate_limited',
          limit: FAILURES_PER_MINUTE,
          'violated-policies': ['failures-per-minute']
        }
      })
      t.equal(refused.headers['www-authenticate'], undefined)
    }
    t.equal((await from('203.0.113.9', { 'x-api-key': app.key })).status, 200)
    t.equal((await from('203.0.113.10', {})).status, 401, 'another client is another matter')
    app.nowMs = NOON + 60_000
    t.equal((await from('203.0.113.9', {})).status, 401)
  }
)

t.test('a client has one quota of failures for its whole IPv6 network', async (t) => {
  const app = await marketApp(t)
  app.nowMs = NOON
  const status = async (remoteAddress: string) =>
    (await app.app.inject({ url: '/v1/launches', remoteAddress })).statusCode
  for (let i = 0; i < FAILURES_PER_MINUTE; i++) await status(`2001:db8:1:2::${i.toString(16)}`)
  t.equal(await status('2001:db8:1:2:ffff::1'), 429)
  t.equal(await status('2001:db8:1:3::1'), 401)
})

/** A route behind the access plugin and a counter, with a key that may call it twice a minute. */
async function countedApp(t: Test, limits: RateCounter) {
  const keys = await KeyDirectory.load(new MemoryAccess(), 2)
  await keys.createTenant('acme', 1)
  const about = { tenant: 'acme', name: '', scopes: ['data:read'], ratePerMinute: null, expiresAtMs: null }
  const { key } = await keys.issue({ ...about, allowedIps: [], corsOrigins: [] }, 1)
  const app = fastify()
  const clock = Object.assign(virtualClock(), { now: () => NOON })
  void app.register(problems)
  void app.register(accessPlugin, { keys, limits, clock, metricsKeyRequired: false })
  void app.register(async (within) => {
    within.get('/counted', { config: { scope: 'data:read' } }, async () => 'in')
  })
  t.teardown(() => app.close())
  return () => app.inject({ url: '/counted', headers: { 'x-api-key': key } })
}

t.test(
  'a counter that answers later, as one that is shared would, admits and refuses the same',
  async (t) => {
    const window = new RateWindow(10)
    const get = await countedApp(t, {
      work: window.work,
      take: async (...asked) => {
        await new Promise((resolve) => setImmediate(resolve))
        return window.take(...asked)
      },
      look: async (...asked) => window.look(...asked)
    })
    const answers = [await get(), await get(), await get()]
    t.strictSame(
      answers.map(({ statusCode, headers }) => [statusCode, String(headers['ratelimit']).split(',')[0]]),
      [
        [200, '"per-minute";r=1;t=60'],
        [200, '"per-minute";r=0;t=60'],
        [429, '"per-minute";r=0;t=60']
      ]
    )
  }
)

t.test('a counter that fails admits no request', async (t) => {
  const broken = () => Promise.reject(new Error('the counter is away'))
  const get = await countedApp(t, { take: broken, look: broken, work: new RateWindow(10).work })
  t.equal((await get()).statusCode, 500)
})

t.test('a route that names no scope is not served', async (t) => {
  const app = fastify()
  void app.register(problems)
  const keys = await KeyDirectory.load(new MemoryAccess(), 2)
  void app.register(accessPlugin, {
    keys,
    limits: new RateWindow(1),
    clock: virtualClock(),
    metricsKeyRequired: false
  })
  void app.register(async (within) => {
    within.get('/forgotten', async () => 'in')
  })
  await t.rejects(Promise.resolve(app.ready()), { message: /\/forgotten names no scope/ })
})
