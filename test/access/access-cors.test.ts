import t, { type Test } from 'tap'
import { marketApp, type MarketApp } from '../http/market-app.ts'

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
  t.equal((await app.preflight(PAGE)).status, 403, 'the key has expired')
})

t.test(
  'a preflight for any other origin is refused with what to do; any other OPTIONS is no preflight',
  async (t) => {
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
      t.equal(answer.status, 403, origin)
      t.match(answer.body, {
        code: 'origin_not_allowed',
        detail: /^no API key lists .*cors_origins.*--origin/
      })
      t.notOk('access-control-allow-origin' in answer.headers)
      t.match(answer.headers, { vary: 'Origin', 'x-request-id': /^[0-9a-f-]{36}$/ })
    }
    t.equal((await app.ask('OPTIONS', '/v1/launches', { origin: PAGE })).status, 405)
    t.equal(
      (await app.ask('OPTIONS', '/v1/launches', { 'access-control-request-method': 'GET' })).status,
      405
    )
  }
)

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

t.test('a page that its key does not list is refused, and reads why if any key lists it', async (t) => {
  const app = await browsed(t)
  const listed =
    /^this API key does not list the origin .*: use a key whose cors_origins have .*, or data:https:/
  for (const [headers, status, code, reads] of [
    [{ 'x-api-key': app.pageKey, origin: OTHER }, 403, 'origin_not_allowed', false],
    [{ 'x-api-key': app.key, origin: PAGE }, 403, 'origin_not_allowed', true],
    [{ 'x-api-key': app.pageKey }, 200, undefined, false],
    [{ 'x-api-key': 'wrong', origin: PAGE }, 401, 'invalid_api_key', true],
    [{ origin: PAGE }, 401, 'missing_api_key', true],
    [{ origin: OTHER }, 401, 'missing_api_key', false]
  ] as const) {
    const answer = await app.get('/v1/launches', headers)
    t.match([answer.status, answer.body.code], [status, code])
    t.equal(answer.headers['access-control-allow-origin'], reads ? PAGE : undefined)
    if (code === 'origin_not_allowed') t.match(answer.body.detail, listed)
    t.match(answer.headers.vary, /\bOrigin\b/, 'a cache keeps them apart')
  }
  t.equal((await app.get('/v1/health', { origin: OTHER })).status, 503, 'no key, nothing to refuse')
})

t.test('a page of a listed origin reads every refusal: 401, 403, 404, 405, 413, 415 and 429', async (t) => {
  const app = await browsed(t)
  const key = await app.makeKey(['rpc:read'], { corsOrigins: [`rpc:${PAGE}`], ratePerMinute: 1 })
  const json = { 'content-type': 'application/json' }
  const rpc = `/v1/rpc?api-key=${key}`
  for (const [name, status, method, path, more, body] of [
    ['no key', 401, 'POST', '/v1/rpc', json, '{}'],
    ['an unknown key', 401, 'POST', '/v1/rpc?api-key=wrong', json, '{}'],
    ['another key, that lists no origin', 403, 'POST', `/v1/rpc?key=${app.key}`, json, '{}'],
    ['a missing scope', 403, 'GET', '/v1/admin/keys', { 'x-api-key': app.pageKey }],
    ['an unknown route', 404, 'GET', '/v1/nothing', {}],
    ['an unknown token', 404, 'GET', `/v1/tokens/${'1'.repeat(32)}`, { 'x-api-key': app.pageKey }],
    ['a method', 405, 'GET', rpc, {}],
    ['a method', 405, 'DELETE', '/v1/launches', {}],
    ['a long body', 413, 'POST', rpc, json, `"${'x'.repeat(256 * 1024)}"`],
    ['a type', 415, 'POST', rpc, { 'content-type': 'text/plain' }, '{}'],
    ['a batch beyond the quota', 429, 'POST', rpc, json, '[{"jsonrpc":"2.0","id":1,"method":"getSlot"},1]']
  ] as const) {
    const answer = await app.ask(method, path, { ...more, origin: PAGE }, body)
    t.equal(answer.status, status, name)
    t.match(answer.headers, {
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers': /Retry-After/,
      vary: /\bOrigin\b/
    })
    const other = await app.ask(method, path, { ...more, origin: OTHER }, body)
    t.notOk('access-control-allow-origin' in other.headers, `${name}: another page`)
  }
  app.draining = true
  t.equal((await app.preflight(PAGE)).status, 204, 'a page sees that the service drains')
  const draining = await app.get('/v1/launches', { 'x-api-key': app.pageKey, origin: PAGE })
  t.match([draining.status, draining.headers['access-control-allow-origin']], [503, PAGE])
})

t.test('an origin that is listed for one product may use that product alone', async (t) => {
  const app = await browsed(t)
  const origin = 'https://wallet.example.org'
  const key = await app.makeKey(['rpc:read', 'data:read', 'stream'], {
    corsOrigins: ['rpc:https://*.example.org']
  })
  const json = { 'content-type': 'application/json', origin }
  const body = '{"jsonrpc":"2.0","id":1,"method":"getNothing"}'
  t.equal((await app.ask('POST', `/v1/rpc?api-key=${key}`, json, body)).status, 200)
  t.equal((await app.ask('POST', `/v1/rpc/?key=${key}`, json, body)).status, 200)
  for (const path of ['/v1/launches', '/v1/me']) {
    const answer = await app.get(path, { 'x-api-key': key, origin })
    t.match([answer.status, answer.body.code], [403, 'origin_not_allowed'], path)
    t.notOk('access-control-allow-origin' in answer.headers)
    t.equal((await app.preflight(origin, path)).status, 403)
  }
  t.equal((await app.preflight(origin, '/v1/rpc')).status, 204)
  t.equal((await app.preflight(origin, '/v1/nothing')).status, 204, 'the page sees a 404')
})

t.test('a preflight with a known key in its query is answered by the list of that key', async (t) => {
  const app = await browsed(t)
  const key = await app.makeKey(['rpc:read'], { corsOrigins: ['chrome-extension://*'] })
  const extension = `chrome-extension://${'abcdefghijklmnop'.repeat(2)}`
  for (const name of ['api-key', 'key']) {
    t.equal((await app.preflight(extension, `/v1/rpc?${name}=${key}`)).status, 204)
    const refused = await app.preflight(PAGE, `/v1/rpc/?${name}=${key}`)
    t.match(
      [refused.status, refused.body.detail],
      [403, /^the API key in the query does not list the origin/]
    )
    t.equal((await app.preflight(PAGE, `/v1/rpc?${name}=${app.pageKey}`)).status, 204)
    t.equal((await app.preflight(PAGE, `/v1/rpc?${name}=wrong`)).status, 204, 'the page sees a 401')
  }
  t.equal((await app.preflight(PAGE, '/v1/rpc')).status, 204)
  t.equal((await app.preflight(extension, '/v1/rpc')).status, 204)
  t.equal((await app.preflight(PAGE, `/v1/launches?key=${key}`)).status, 204, 'REST has no key in its query')
})
