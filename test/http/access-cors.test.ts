import t, { type Test } from 'tap'
import { marketApp, type MarketApp } from './market-app.ts'

const PAGE = 'https://app.example.org'
const OTHER = 'https://evil.example.org'

interface Browsed extends MarketApp {
  /** A key that lists the page's origin. */
  readonly pageKey: string
  /** Sends the preflight request that precedes a browser's cross-origin request with a key. */
  preflight(origin: string, path?: string): ReturnType<MarketApp['ask']>
}

async function browsed(t: Test): Promise<Browsed> {
  const app = await marketApp(t)
  app.nowMs = 1000
  const pageKey = await app.makeKey(['data:read'], {
    corsOrigins: [PAGE],
    ratePerMinute: 5,
    expiresAtMs: 9000
  })
  return Object.assign(app, {
    pageKey,
    preflight: (origin: string, path = '/v1/launches') =>
      app.ask('OPTIONS', path, {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key'
      })
  })
}

t.test('a preflight is answered for an origin that a working key lists, without a key', async (t) => {
  const app = await browsed(t)
  const answer = await app.preflight(PAGE)
  t.equal(answer.status, 204)
  t.equal(answer.text, '')
  t.match(answer.headers, {
    'access-control-allow-origin': PAGE,
    'access-control-allow-methods': /GET, HEAD, POST, DELETE/,
    'access-control-allow-headers': /X-API-Key, Authorization, Content-Type/,
    'access-control-max-age': '600',
    vary: 'Origin',
    'x-request-id': /^[0-9a-f-]{36}$/
  })
  t.notOk('access-control-allow-credentials' in answer.headers)
  app.nowMs = 9000
  t.equal((await app.preflight(PAGE)).status, 405, 'the key has expired')
})

t.test('a preflight for any other origin, and any other OPTIONS, is what it was', async (t) => {
  const app = await browsed(t)
  for (const origin of [
    OTHER,
    `${PAGE}.evil.org`,
    `${PAGE}:8443`,
    'http://app.example.org',
    'null',
    '*',
    ''
  ]) {
    const answer = await app.preflight(origin)
    t.equal(answer.status, 405, origin)
    t.notOk('access-control-allow-origin' in answer.headers)
  }
  t.equal((await app.ask('OPTIONS', '/v1/launches', { origin: PAGE })).status, 405)
  t.equal((await app.ask('OPTIONS', '/v1/launches', { 'access-control-request-method': 'GET' })).status, 405)
})

t.test('a response may be read by the pages that its key lists, errors included', async (t) => {
  const app = await browsed(t)
  for (const [path, status] of [
    ['/v1/launches', 200],
    ['/v1/launches', 200],
    ['/v1/launches?limit=0', 400],
    ['/v1/admin/keys', 403],
    ['/v1/me', 200],
    ['/v1/me', 429]
  ] as const) {
    const answer = await app.get(path, { 'x-api-key': app.pageKey, origin: PAGE })
    t.equal(answer.status, status, path)
    t.equal(answer.headers['access-control-allow-origin'], PAGE)
    t.match(
      answer.headers['access-control-expose-headers'],
      /RateLimit.*X-RateLimit-Reset.*Retry-After.*X-Request-Id/
    )
    t.match(answer.headers.vary, /\bOrigin\b/)
  }
})

t.test('a page that its key does not list is refused, and what it may not use it may not read', async (t) => {
  const app = await browsed(t)
  for (const [headers, status, code] of [
    [{ 'x-api-key': app.pageKey, origin: OTHER }, 403, 'origin_not_allowed'],
    [{ 'x-api-key': app.key, origin: PAGE }, 403, 'origin_not_allowed'],
    [{ 'x-api-key': app.pageKey }, 200, undefined],
    [{ 'x-api-key': 'wrong', origin: PAGE }, 401, 'invalid_api_key'],
    [{ origin: PAGE }, 401, 'missing_api_key']
  ] as const) {
    const answer = await app.get('/v1/launches', headers)
    t.match([answer.status, answer.body.code], [status, code])
    t.notOk('access-control-allow-origin' in answer.headers)
    if (status !== 401) t.match(answer.headers.vary, /\bOrigin\b/, 'a cache keeps them apart')
  }
  t.equal((await app.get('/v1/health', { origin: OTHER })).status, 503, 'no key, nothing to refuse')
})
