import t from 'tap'
import { httpBounds } from '../../src/kernel/http/bounds.ts'
import { appOf } from './app-of.ts'
import { productsOf } from '../products/loaded-products.ts'
import { answersIn, listeningApp, RawClient } from './raw-client.ts'

const BOUNDS = { ...httpBounds(Infinity), lingerMs: 50 }
const CLOSE = 'Connection: close'
const request = (first: string, ...fields: readonly string[]): string =>
  [first, ...fields, '', ''].join('\r\n')
const get = (path: string, ...fields: readonly string[]): string =>
  request(`GET ${path} HTTP/1.1`, 'Host: x', CLOSE, ...fields)
const post = (path: string, body: string, ...fields: readonly string[]): string =>
  request(`POST ${path} HTTP/1.1`, 'Host: x', CLOSE, ...fields) + body
const JSON_TYPE = 'Content-Type: application/json'
const CHUNKED = 'Transfer-Encoding: chunked'

/** Bytes that are refused on every path, with their answer. */
const ANYWHERE: readonly [name: string, bytes: string, answer: string][] = [
  ['no Host', request('GET /v1/health HTTP/1.1', CLOSE), '400 invalid_parameter'],
  ['two Hosts', get('/v1/health', 'Host: y'), '400 invalid_parameter'],
  ['a Host that is none', request('GET /v1/health HTTP/1.1', 'Host: a/b', CLOSE), '400 invalid_parameter'],
  ['a request line cut short', 'GET\r\n\r\n', '400 invalid_parameter'],
  ['bytes of no protocol', '\x00\x01\x02\r\n\r\n', '400 invalid_parameter'],
  ['a greeting in TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', '400 invalid_parameter'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400 invalid_parameter'],
  ['a version of HTTP that there is not', request('GET / HTTP/3.1', 'Host: x'), '400 invalid_parameter'],
  ['a method that there is not', request('FOO /v1/health HTTP/1.1', 'Host: x'), '400 invalid_parameter'],
  ['a method of others', request('PROPFIND /v1/health HTTP/1.1', 'Host: x', CLOSE), '405 method_not_allowed'],
  ['CONNECT', request('CONNECT x:443 HTTP/1.1', 'Host: x'), '405 method_not_allowed'],
  ['a header of 20 KB', get('/v1/health', `A: ${'b'.repeat(20_000)}`), '431 headers_too_large'],
  ['a length that is no number', post('/v1/nothing', '', 'Content-Length: abc'), '400 invalid_parameter'],
  ['two lengths', post('/v1/nothing', '', 'Content-Length: 1', 'Content-Length: 2'), '400 invalid_parameter'],
  ['a length and chunks', post('/v1/nothing', '', 'Content-Length: 1', CHUNKED), '400 invalid_parameter'],
  ['an encoding that is not read', post('/v1/nothing', '', 'Transfer-Encoding: gzip'), '404 unknown_route'],
  [
    'a body for a path that is none',
    post('/v1/nothing', '{}', 'Content-Type: text/plain', 'Content-Length: 2'),
    '404 unknown_route'
  ],
  ['a URL that is badly encoded', get('/%zz'), '400 invalid_parameter'],
  ['an expectation', get('/v1/nothing', 'Expect: coffee'), '404 unknown_route'],
  [
    'an upgrade elsewhere',
    get('/v1/nothing', 'Connection: Upgrade', 'Upgrade: websocket'),
    '404 unknown_route'
  ]
]

t.test(
  'whatever is refused before a key is looked at is answered once, with a problem and its request id',
  async (t) => {
    const app = await listeningApp(t, undefined, { bounds: BOUNDS })
    for (const [name, bytes, answer] of ANYWHERE)
      t.strictSame(answersIn(await app.connect().send(bytes).received), [answer], name)

    const operations = appOf({ ...app.deps, stream: null }, productsOf({ role: ['ingest'] }))
    await operations.listen({ host: '127.0.0.1', port: 0 })
    t.teardown(() => operations.close())
    const { port } = operations.server.address() as { port: number }
    for (const [name, bytes, answer] of ANYWHERE)
      t.strictSame(
        answersIn(await new RawClient(port).send(bytes).received),
        [answer],
        `${name}, by a process that serves no data`
      )
  }
)

t.test('HTTP/1.0 names no host and is answered', async (t) => {
  const app = await listeningApp(t)
  const received = await app.connect().send(request('GET /v1/launches HTTP/1.0', `X-API-Key: ${app.key}`))
    .received
  t.strictSame(answersIn(received), ['200'])
})

t.test('a request without a host is refused even where its answer is kept', async (t) => {
  const app = await listeningApp(t)
  const key = `X-API-Key: ${app.key}`
  for (let i = 0; i < 2; i++)
    t.strictSame(answersIn(await app.connect().send(get('/v1/launches', key)).received), ['200'])
  const bare = request('GET /v1/launches HTTP/1.1', CLOSE, key)
  t.strictSame(answersIn(await app.connect().send(bare).received), ['400 invalid_parameter'])
})

t.test('a body that is not read as JSON is refused with 415, and a broken one with 400 or 413', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: BOUNDS })
  const key = `X-API-Key: ${app.adminKey}`
  const BODY = '{"name":"made"}'
  const LENGTH = `Content-Length: ${BODY.length}`
  for (const [name, bytes, answer] of [
    [
      'text',
      post('/v1/admin/tenants', BODY, key, 'Content-Type: text/plain', LENGTH),
      '415 unsupported_media_type'
    ],
    [
      'text in UTF-8',
      post('/v1/admin/tenants', BODY, key, 'Content-Type: text/plain; charset=utf-8', LENGTH),
      '415 unsupported_media_type'
    ],
    ['no type', post('/v1/admin/tenants', BODY, key, LENGTH), '415 unsupported_media_type'],
    [
      'a type that is none',
      post('/v1/admin/tenants', BODY, key, 'Content-Type: ;', LENGTH),
      '415 unsupported_media_type'
    ],
    [
      'a form',
      post('/v1/admin/tenants', BODY, key, 'Content-Type: application/x-www-form-urlencoded', LENGTH),
      '415 unsupported_media_type'
    ],
    [
      'chunks of nonsense',
      post('/v1/admin/tenants', 'zz\r\n', key, JSON_TYPE, CHUNKED),
      '400 invalid_parameter'
    ],
    [
      'chunks with long extensions',
      post('/v1/admin/tenants', `5;a=${'b'.repeat(20_000)}\r\n`, key, JSON_TYPE, CHUNKED),
      '413 body_too_large'
    ],
    ['no JSON', post('/v1/admin/tenants', '{', key, JSON_TYPE, 'Content-Length: 1'), '400 malformed_json']
  ] as const)
    t.strictSame(answersIn(await app.connect().send(bytes).received), [answer], name)
  t.equal(app.keys.tenants.length, 1)
})

t.test('a handshake that is none is refused with a problem, whatever is wrong with it', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: BOUNDS })
  const key = `X-API-Key: ${await app.makeKey(['stream'])}`
  const version = 'Sec-WebSocket-Version: 13'
  const nonce = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
  const upgrade = (...fields: readonly string[]): string =>
    request('GET /v1/stream HTTP/1.1', 'Host: x', 'Connection: Upgrade', ...fields)
  const websocket = 'Upgrade: websocket'
  for (const [name, bytes, answer] of [
    ['no key of the service', upgrade(websocket, version, nonce), '403 stream_key_refused'],
    ['a short nonce', upgrade(websocket, key, version, 'Sec-WebSocket-Key: short'), '400 invalid_parameter'],
    ['no nonce', upgrade(websocket, key, version), '400 invalid_parameter'],
    ['another version', upgrade(websocket, key, nonce, 'Sec-WebSocket-Version: 8'), '426 upgrade_required'],
    ['no version', upgrade(websocket, key, nonce), '426 upgrade_required'],
    [
      'subprotocols that are no list',
      upgrade(websocket, key, version, nonce, 'Sec-WebSocket-Protocol: a,,b'),
      '400 invalid_parameter'
    ],
    [
      'another protocol',
      get('/v1/stream', 'Connection: Upgrade', 'Upgrade: h2c', key, version, nonce),
      '426 upgrade_required'
    ],
    ['a body', upgrade(websocket, key, version, nonce, 'Content-Length: 5'), '426 upgrade_required'],
    ['a body in chunks', upgrade(websocket, key, version, nonce, CHUNKED), '426 upgrade_required'],
    [
      'another method',
      request(
        'POST /v1/stream HTTP/1.1',
        'Host: x',
        CLOSE,
        'Connection: Upgrade',
        websocket,
        key,
        version,
        nonce
      ),
      '405 method_not_allowed'
    ],
    [
      'HEAD',
      request(
        'HEAD /v1/stream HTTP/1.1',
        'Host: x',
        CLOSE,
        'Connection: Upgrade',
        websocket,
        key,
        version,
        nonce
      ),
      '426 without a body'
    ],
    [
      'no Host',
      request('GET /v1/stream HTTP/1.1', 'Connection: Upgrade', websocket, key, version, nonce),
      '400 invalid_parameter'
    ],
    ['one stream too many', upgrade(websocket, key, version, nonce), '429 too_many_connections']
  ] as const)
    t.strictSame(answersIn(await app.connect().send(bytes).received), [answer], name)
  const wrong = await app.connect().send(upgrade(websocket, key, nonce)).received
  t.match(wrong, /^upgrade: websocket\r$/im)
  t.match(wrong, /^sec-websocket-version: 13\r$/im)
  t.notOk(
    app.logged.some((line) => line.includes('"level":50')),
    'none of it is a fault of the service'
  )
})
