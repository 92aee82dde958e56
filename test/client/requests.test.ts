import t from 'tap'
import { ApiError, ConnectionError } from '../../src/client/client.ts'
import { mayRepeat, retryAfterMsOf, retryWaitMs } from '../../src/client/retry.ts'
import { json, lost, problem, ScriptedService, silent } from './scripted-service.ts'
import { settle } from '../virtual-time.ts'

const MINT = 'So11111111111111111111111111111111111111112'
const HOOK = { url: 'https://example.com/', channels: ['launches'] }

t.test('a call names its path, its query and the key, under the path of a proxy', async (t) => {
  const service = new ScriptedService(json({ data: [], nextCursor: null }))
  const millrace = service.client()
  await millrace.tokens.trades(MINT, {
    venue: 'pumpswap',
    from: new Date(0),
    to: 1_700_000_000,
    min_usd: 10,
    limit: undefined
  })
  await millrace.tokens.prices({ mints: ['A', 'B'] })
  await millrace.programs.accounts('P', { memcmp: ['0:a', '4:b'], dataSize: 165 })
  await millrace.wallets.holdings('W', { show_native: false })
  await millrace.admin.nodes.cordon('https://node/?a=1')
  t.same(
    service.sent.map(({ path }) => path),
    [
      `/millrace/v1/tokens/${MINT}/trades?venue=pumpswap&from=1970-01-01T00%3A00%3A00.000Z&to=1700000000&min_usd=10`,
      '/millrace/v1/prices?mints=A%2CB',
      '/millrace/v1/programs/P/accounts?memcmp=0%3Aa&memcmp=4%3Ab&dataSize=165',
      '/millrace/v1/wallets/W/holdings?show_native=false',
      '/millrace/v1/admin/nodes/https%3A%2F%2Fnode%2F%3Fa%3D1/cordon'
    ]
  )
  t.ok(service.sent.every(({ headers }) => headers.get('x-api-key') === 'a key'))
  // @ts-expect-error a mint is needed
  t.throws(() => millrace.tokens.get(), { name: 'TypeError', message: /tokens\/\{mint\} needs mint/ })
})

t.test('an address that is not of HTTP is refused at once', async (t) => {
  t.throws(
    () => new ScriptedService().client({ url: 'ftp://example.com' }),
    /url must begin with http: or https:/
  )
  t.throws(() => new ScriptedService().client({ url: 'example' }), TypeError)
})

t.test('a refusal becomes an error with the code, the words and the id of the service', async (t) => {
  const service = new ScriptedService(problem(404, 'token_not_found'))
  const error = (await service
    .client()
    .tokens.get(MINT)
    .catch((reason: unknown) => reason)) as ApiError
  t.ok(error instanceof ApiError)
  t.match(error, { status: 404, code: 'token_not_found', requestId: 'r-1', attempts: 1 })
  t.equal(error.message, `GET /v1/tokens/${MINT}: 404 token_not_found: it is token_not_found`)
  t.equal(service.sent.length, 1)
})

t.test('health answers with 503 while it is degraded, and is no error', async (t) => {
  const service = new ScriptedService(json({ status: 'degraded' }, 503))
  t.match(await service.client().health(), { status: 'degraded' })
})

t.test('a refused call waits as long as Retry-After says, and is repeated', async (t) => {
  const service = new ScriptedService(
    problem(429, 'rate_limited', { 'retry-after': '40' }),
    problem(503, 'draining', { 'retry-after': '2' }),
    json({ tenant: 'acme' })
  )
  t.match(await service.outcome(service.client().me()), { tenant: 'acme' })
  const [first, second, third] = service.sent.map(({ atMs }) => atMs)
  t.ok(second! - first! >= 40_000 && second! - first! <= 42_000, String(second))
  t.ok(third! - second! >= 2_000 && third! - second! <= 4_000)
  t.match(service.notices[0], /429 rate_limited: .*; repeated in 40500 ms/)
})

t.test('a refusal that asks for more than a minute, or a third one, is an error', async (t) => {
  const long = new ScriptedService(problem(429, 'rate_limited', { 'retry-after': '3600' }))
  await t.rejects(long.outcome(long.client().me()), { code: 'rate_limited', retryAfterMs: 3_600_000 })
  t.equal(long.sent.length, 1)
  const busy = new ScriptedService(problem(503, 'storage_unavailable'))
  await t.rejects(busy.outcome(busy.client().me()), { code: 'storage_unavailable', attempts: 3 })
  t.equal(busy.sent.length, 3)
  const once = new ScriptedService(problem(503, 'storage_unavailable'))
  await t.rejects(once.outcome(once.client().me({ retries: 0 })), {
    code: 'storage_unavailable',
    attempts: 1
  })
})

t.test('a change is repeated after a lost answer, with one idempotency key', async (t) => {
  const service = new ScriptedService(lost, problem(503, 'outcome_unknown'), json({ id: 7 }, 201))
  const millrace = service.client()
  t.match(await service.outcome(millrace.webhooks.create(HOOK)), { id: 7 })
  const keys = service.sent.map(({ headers }) => headers.get('idempotency-key'))
  t.match(keys[0], /^[0-9a-f]{32}$/)
  t.equal(new Set(keys).size, 1)
  t.same(service.sent[2]!.body, HOOK)
  await millrace.webhooks.create(HOOK, { idempotencyKey: 'mine' })
  await millrace.webhooks.create(HOOK)
  const [mine, other] = service.sent.slice(3).map(({ headers }) => headers.get('idempotency-key'))
  t.equal(mine, 'mine')
  t.not(other, keys[0], 'another call is another change')
})

t.test('a change without such a key is sent again only if the service has refused it', async (t) => {
  const service = new ScriptedService(lost)
  await t.rejects(service.outcome(service.client().webhooks.test(7)), {
    code: 'connection_failed',
    attempts: 1
  })
  t.equal(service.sent.length, 1)
  const unknown = new ScriptedService(problem(503, 'outcome_unknown', { 'retry-after': '1' }))
  await t.rejects(unknown.outcome(unknown.client().webhooks.test(7)), { code: 'outcome_unknown' })
  t.equal(unknown.sent.length, 1)
  const refused = new ScriptedService(
    problem(503, 'draining', { 'retry-after': '1' }),
    json({ delivered: true })
  )
  t.match(await refused.outcome(refused.client().webhooks.test(7)), { delivered: true })
  t.equal(refused.sent.length, 2)
})

t.test('an answer of a proxy has its status as its code, and is repeated if that is safe', async (t) => {
  const page = () => new Response('<h1>Bad Gateway</h1>', { status: 502 })
  const service = new ScriptedService(page)
  await t.rejects(service.outcome(service.client().me()), { code: 'http_502', problem: null, attempts: 3 })
  await t.rejects(service.outcome(service.client().webhooks.test(7)), { code: 'http_502', attempts: 1 })
})

t.test('a call waits for the next window once the last answer said that nothing is left', async (t) => {
  const rate = (left: number) => ({ ratelimit: `"per-minute";r=${left};t=25, "work";r=9000;t=25` })
  const service = new ScriptedService(
    json({}, 200, rate(1)),
    json({}, 200, rate(0)),
    json({}, 200, rate(599))
  )
  const millrace = service.client()
  t.equal(millrace.quotas, null)
  await millrace.me()
  t.match(millrace.quotas, { calls: { left: 1, resetsAtMs: 25_000 }, work: { left: 9_000 } })
  await millrace.me()
  const waiting = millrace.me()
  await millrace.me({ retries: 0 })
  t.equal(service.sent.length, 3, 'a call without retries does not wait')
  await service.outcome(waiting)
  t.ok(service.sent[3]!.atMs >= 25_000 && service.sent[3]!.atMs <= 27_000)
})

t.test('an attempt that takes too long is ended and repeated; the last one is the error', async (t) => {
  const service = new ScriptedService(silent)
  await t.rejects(service.outcome(service.client({ timeoutMs: 5_000 }).me()), {
    name: 'ConnectionError',
    code: 'timeout',
    message: 'GET /v1/me was not answered within 5000 ms'
  })
  t.equal(service.sent.length, 3)
  t.ok(service.sent.every(({ signal }) => signal.aborted))
})

t.test(
  'a signal ends a call in flight, a wait, and a call that has not begun, with its reason',
  async (t) => {
    const reason = new Error('the page was left')
    const inFlight = new ScriptedService(silent)
    const leaving = new AbortController()
    const call = inFlight.client().me({ signal: leaving.signal })
    await settle()
    leaving.abort(reason)
    await t.rejects(call, reason)
    t.ok(inFlight.sent[0]!.signal.aborted)
    await t.rejects(inFlight.client().me({ signal: AbortSignal.abort(reason) }), reason)
    t.equal(inFlight.sent.length, 1)
    const waiting = new ScriptedService(problem(429, 'rate_limited', { 'retry-after': '60' }))
    const leavingWait = new AbortController()
    const waits = waiting.client().me({ signal: leavingWait.signal })
    setImmediate(() => leavingWait.abort(reason))
    await t.rejects(waits, reason)
  }
)

t.test('a body that breaks off, or is not JSON, is not an answer', async (t) => {
  const broken = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"tenant":'))
          controller.error(new Error('the connection was closed'))
        }
      }),
      { headers: { 'content-type': 'application/json' } }
    )
  const service = new ScriptedService(broken, json({ tenant: 'acme' }))
  t.match(await service.outcome(service.client().me()), { tenant: 'acme' })
  const cut = () => new Response('{"tenant":', { headers: { 'content-type': 'application/json' } })
  await t.rejects(new ScriptedService(cut).client().me(), { name: 'ConnectionError', code: 'invalid_answer' })
})

t.test('fetch returns the response of another media type, with key and retries', async (t) => {
  const csv = () => new Response('a,b\n1,2\n', { headers: { 'content-type': 'text/csv' } })
  const service = new ScriptedService(lost, csv)
  const response = await service.outcome(service.client().fetch('/v1/launches?format=csv'))
  t.equal(await response.text(), 'a,b\n1,2\n')
  t.equal(service.sent[1]!.headers.get('x-api-key'), 'a key')
  const posted = new ScriptedService(lost)
  const post = posted.client().fetch('/v1/owls', { method: 'POST', body: { name: 'owl' } })
  await t.rejects(posted.outcome(post), ConnectionError)
  t.equal(posted.sent.length, 1)
  t.same(posted.sent[0]!.body, { name: 'owl' })
  const keyed = new ScriptedService(lost, json({}))
  await keyed.outcome(
    keyed.client().fetch('/v1/owls', { method: 'POST', headers: { 'idempotency-key': 'k' } })
  )
  t.equal(keyed.sent.length, 2)
})

t.test(
  'the rule of retries: what promises that nothing was changed, and what is safe to repeat',
  async (t) => {
    const refusal = (status: number, code: string | null) => ({ status, code, retryAfterMs: null })
    for (const [failure, safe, unsafe] of [
      ['unanswered', true, false],
      [refusal(429, 'rate_limited'), true, true],
      [refusal(429, null), true, true],
      [refusal(503, 'restarting'), true, true],
      [refusal(503, 'outcome_unknown'), true, false],
      [refusal(503, null), true, false],
      [refusal(502, 'upstream_error'), true, false],
      [refusal(504, 'upstream_timeout'), true, false],
      [refusal(500, 'internal'), false, false],
      [refusal(409, 'webhook_limit_reached'), false, false]
    ] as const)
      t.same([mayRepeat(failure, true), mayRepeat(failure, false)], [safe, unsafe], JSON.stringify(failure))
    t.same(
      [0, 1, 2, 9].map((retry) => retryWaitMs('unanswered', retry, () => 1)),
      [500, 1_000, 2_000, 8_000]
    )
    t.equal(
      retryWaitMs('unanswered', 9, () => 0),
      4_000
    )
    t.equal(retryAfterMsOf('Thu, 01 Jan 1970 00:01:00 GMT', 20_000), 40_000)
    t.equal(retryAfterMsOf('soon', 0), null)
  }
)
