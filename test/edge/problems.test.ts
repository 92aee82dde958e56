import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { USDC } from '../../src/market/cash.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { withFaults } from '../storage/storage-faults.ts'
import { block, buy, key, launch, NOON, TOKEN } from '../market/world.ts'
import { marketApp, type Answer, type Body, type MarketApp } from '../http/market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** Details that must not reach a client: paths, stacks, names of libraries and of their errors. */
const INTERNAL = /\/work|node_modules|node:|\.ts\b|\n\s+at |stack|level|FST_|ERR_|zod|ENOENT|TypeError/i

async function filled(t: Parameters<typeof marketApp>[0]): Promise<MarketApp> {
  const app = await marketApp(t)
  await app.commit(block(300_000_000, NOON, [launch(), ...[1, 2, 3].map(() => buy(10n ** 9n, 10n ** 9n))]))
  app.nowMs = NOON * 1000
  return app
}

/** Checks the fields that every problem must have, and returns its body. */
function problem(t: Parameters<typeof marketApp>[0], answer: Answer, status: number, code: string): Body {
  const { body, headers } = answer
  t.equal(answer.status, status, answer.text)
  t.equal(answer.type, 'application/problem+json; charset=utf-8')
  t.match(body, { status, code, title: String, detail: String, request_id: UUID })
  t.match(body.type, new RegExp(`^http://[^/]+/problems/${code.replaceAll('_', '-')}$`))
  t.equal(headers['x-request-id'], body.request_id)
  t.equal(headers['x-data-freshness-seconds'], '0')
  t.notMatch(answer.text, INTERNAL)
  return body
}

const LISTS = ['/v1/launches', `/v1/tokens/${MINT}/trades`, `/v1/tokens/${MINT}/candles`]

t.test('a bad parameter is refused with 400 and a detail that names it', async (t) => {
  const app = await filled(t)
  const cases: [path: string, code: string, detail: RegExp][] = []
  for (const list of LISTS) {
    for (const limit of ['0', '-1', '1000000000', 'abc', '1.5', '', '+1', '0x10', '1e3', '%201', '٣']) {
      cases.push([
        `${list}?limit=${limit}`,
        'invalid_parameter',
        /^limit must be a whole number between 1 and \d+/
      ])
    }
    cases.push(
      [`${list}?limit=1&limit=1`, 'invalid_parameter', /^limit must be given once/],
      [`${list}?colour=red`, 'invalid_parameter', /^colour is not a parameter of this endpoint/],
      [`${list}?constructor=1`, 'invalid_parameter', /^constructor is not a parameter/],
      [`${list}?hasOwnProperty=1`, 'invalid_parameter', /^hasOwnProperty is not a parameter/],
      [`${list}?LIMIT=1`, 'invalid_parameter', /^LIMIT is not a parameter/],
      [`${list}?limit[]=1`, 'invalid_parameter', /^limit\[\] is not a parameter/]
    )
  }
  for (const list of LISTS.slice(0, 2)) {
    for (const after of ['x', '', 'AAAA', 'A'.repeat(23), '%00', '../../etc/passwd', '9'.repeat(5000)]) {
      cases.push([`${list}?after=${after}`, 'invalid_cursor', /^after is not a cursor of this list/])
    }
    cases.push(
      [`${list}?offset=-1`, 'invalid_parameter', /^offset must be a whole number between 0 and 10000/],
      [`${list}?offset=9951&limit=50`, 'invalid_parameter', /^offset .*10000; use after to read further/],
      [`${list}?offset=10000`, 'invalid_parameter', /^offset .*use after to read further/],
      [`${list}?order=up`, 'invalid_parameter', /^order must be one of desc, asc/],
      [`${list}?order=asc&order=asc`, 'invalid_parameter', /^order /]
    )
  }
  cases.push(
    ['/v1/launches?status=dead', 'invalid_parameter', /^status must be one of created, trading, graduated/],
    ['/v1/launches?limit=501', 'invalid_parameter', /^limit .* 500/],
    [`/v1/tokens/${MINT}/trades?limit=1001`, 'invalid_parameter', /^limit .* 1000/],
    [`/v1/tokens/${MINT}/candles?limit=1001`, 'invalid_parameter', /^limit .* 1000/],
    [
      `/v1/tokens/${MINT}/candles?interval=2m`,
      'invalid_parameter',
      /^interval must be one of 1s, 5s, 15s, 1m, 5m, .*1w/
    ],
    [`/v1/tokens/${MINT}/candles?currency=eur`, 'invalid_parameter', /^currency must be one of native, usd/],
    [`/v1/tokens/${MINT}/candles?cash=DOGE`, 'invalid_address', /^cash must be a base58 address/],
    [`/v1/tokens/${MINT}/candles?cash=${MINT}`, 'invalid_parameter', /^cash must be the mint of wrapped SOL/],
    [`/v1/tokens/${MINT}/candles?cash=${USDC}&cash=${USDC}`, 'invalid_parameter', /^cash must be given once/]
  )
  for (const mint of [
    'x',
    '0OIl',
    MINT.slice(4),
    MINT + MINT,
    '1'.repeat(33),
    'A'.repeat(200),
    'z'.repeat(9000),
    '%00'
  ])
    for (const end of ['trades', 'candles', 'price'])
      cases.push([
        `/v1/tokens/${mint}/${end}`,
        'invalid_address',
        /^mint must be a base58 address of 32 bytes/
      ])
  for (const [path, code, detail] of cases) {
    await t.test(path.slice(0, 120), async (t) => {
      t.match(problem(t, await app.get(path), 400, code).detail, detail)
    })
  }
})

t.test('several bad parameters are all listed', async (t) => {
  const app = await filled(t)
  const body = problem(
    t,
    await app.get(`/v1/tokens/${MINT}/candles?limit=0&interval=2m&x=1`),
    400,
    'invalid_parameter'
  )
  t.strictSame(body.errors.map(({ field }) => field).sort(), ['interval', 'limit', 'x'])
})

t.test('__proto__ in a query changes nothing for anybody', async (t) => {
  const app = await filled(t)
  const { status } = await app.get('/v1/launches?__proto__[limit]=0&__proto__=1')
  t.ok(status === 200 || status === 400)
  t.equal((await app.get('/v1/launches')).body.data.length, 1)
  t.notOk('limit' in {})
})

t.test('a cursor that was altered or belongs to another list is refused', async (t) => {
  const app = await filled(t)
  await app.commit(
    block(300_000_001, NOON, [launch({ baseMint: key(8) }), buy(10n ** 9n, 10n ** 9n, { outMint: key(8) })])
  )
  const launches = (await app.get('/v1/launches?limit=1')).body.nextCursor!
  const trades = (await app.get(`/v1/tokens/${MINT}/trades?limit=1`)).body.nextCursor!
  const accepted = [`/v1/launches?after=${launches}`, `/v1/tokens/${MINT}/trades?after=${trades}`]
  for (const path of accepted) t.equal((await app.get(path)).status, 200)
  const refused = [
    `/v1/launches?after=${trades}`,
    `/v1/launches?order=asc&after=${launches}`,
    `/v1/launches?status=trading&after=${launches}`,
    `/v1/tokens/${MINT}/trades?after=${launches}`,
    `/v1/tokens/${MINT}/trades?order=asc&after=${trades}`,
    `/v1/tokens/${pubkeyToBase58(key(8))}/trades?after=${trades}`,
    `/v1/launches?after=${launches}=`,
    `/v1/launches?after=${launches}&after=${launches}`
  ]
  for (let i = 0; i < launches.length; i++) {
    const other = launches[i] === 'A' ? 'B' : 'A'
    refused.push(`/v1/launches?after=${launches.slice(0, i)}${other}${launches.slice(i + 1)}`)
  }
  for (const path of refused) {
    const { status, body } = await app.get(path)
    t.equal(status, 400, path)
    t.match(body.code, /^invalid_(cursor|parameter)$/)
  }
  const both = await app.get(`/v1/launches?after=${launches}&offset=1`)
  t.match(problem(t, both, 400, 'invalid_parameter').detail, /^offset must be 0 when after is given/)
})

t.test('an unknown route is 404 and another method is 405 with Allow', async (t) => {
  const app = await filled(t)
  for (const path of ['/v1', '/v1/nothing', '/v1/health/', '//v1/health', '/V1/health', '/v1/launches/'])
    problem(t, await app.get(path), 404, 'unknown_route')
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'QUERY', 'PROPFIND']) {
    for (const path of [...LISTS, '/v1/health', `/v1/tokens/${MINT}/price`, '/v1/admin/tree']) {
      const answer = await app.ask(method, path)
      problem(t, answer, 405, 'method_not_allowed')
      t.equal(answer.headers.allow, 'GET, HEAD')
    }
  }
})

t.test(
  'the type of a problem names the host that was asked for, and not that of a proxy behind it',
  async (t) => {
    const app = await filled(t)
    const typeFor = async (headers: Readonly<Record<string, string>>): Promise<string> =>
      (await app.get('/v1/nothing', headers)).body.type
    const path = '/problems/unknown-route'
    t.equal(await typeFor({ host: 'api.example.org' }), `http://api.example.org${path}`)
    const inner = { host: 'backend-3.internal:8900' }
    t.equal(
      await typeFor({ ...inner, 'x-forwarded-host': 'api.example.org', 'x-forwarded-proto': 'https' }),
      `https://api.example.org${path}`
    )
    t.equal(
      await typeFor({ ...inner, 'x-forwarded-host': 'a b', 'x-forwarded-proto': 'ftp' }),
      `http://${inner.host}${path}`
    )
    t.equal(
      await typeFor({ host: 'a/b' }),
      '/problems/invalid-parameter',
      'a host that is none is not repeated'
    )
  }
)

t.test('a body is looked at only where a route takes one', async (t) => {
  const app = await filled(t)
  const json = { 'x-api-key': await app.makeKey(['admin']), 'content-type': 'application/json' }
  const xml = { ...json, 'content-type': 'application/xml' }
  const long = `"${'x'.repeat(70_000)}"`
  problem(t, await app.ask('POST', '/v1/admin/tenants', json, '{"a":'), 400, 'malformed_json')
  const deep = `{"a":${'['.repeat(64)}${']'.repeat(64)}}`
  t.match(
    problem(t, await app.ask('POST', '/v1/admin/tenants', json, deep), 400, 'malformed_json').detail,
    /deeper than 64$/
  )
  problem(t, await app.ask('POST', '/v1/admin/tenants', json, long), 413, 'body_too_large')
  problem(t, await app.ask('POST', '/v1/admin/tenants', xml, '<a/>'), 415, 'unsupported_media_type')
  for (const [headers, body] of [
    [json, '{"a":'],
    [json, long],
    [xml, '<a/>']
  ] as const) {
    problem(t, await app.ask('POST', '/v1/launches', headers, body), 405, 'method_not_allowed')
    problem(t, await app.ask('POST', '/v1/nothing', headers, body), 404, 'unknown_route')
  }
})

t.test('HEAD answers as GET does, without a body', async (t) => {
  const app = await filled(t)
  for (const [path, status] of [
    [LISTS[1]!, 200],
    ['/v1/health', 200],
    ['/v1/nothing', 404]
  ] as const) {
    const head = await app.ask('HEAD', path)
    const get = await app.get(path)
    t.equal(head.status, status)
    t.equal(head.text, '')
    t.equal(head.headers['content-length'], get.headers['content-length'])
    t.equal(head.headers['x-data-freshness-seconds'], '0')
  }
})

t.test(
  'a percent-encoded address is the address, and a URL that cannot be decoded is a problem',
  async (t) => {
    const app = await filled(t)
    const encoded = [...MINT].map((letter) => '%' + letter.charCodeAt(0).toString(16)).join('')
    t.equal((await app.get(`/v1/tokens/${encoded}/price`)).body.mint, MINT)
    for (const path of ['/v1/tokens/%zz/price', '/v1/tokens/%/price', '/%c3%28'])
      problem(t, await app.get(path), 400, 'invalid_parameter')
  }
)

t.test('an internal failure is answered without its cause, and logged with it', async (t) => {
  const broken = new TypeError('secret of the driver at /var/lib/store')
  const app = await marketApp(t, (storage) => ({
    ...storage,
    trades: { ...storage.trades, ofMint: () => Promise.reject(broken) }
  }))
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  const body = problem(t, await app.get(`/v1/tokens/${MINT}/trades`), 500, 'internal')
  const line = JSON.parse(app.logged.find((logged) => logged.includes('request failed'))!) as {
    err: { stack: string }
  }
  t.match(line, { level: 50, request_id: body.request_id, code: 'SERVICE_FAILED', tenant: 'acme' })
  t.match(line.err.stack, /secret of the driver/)
})

t.test('a store that cannot answer is 503 with Retry-After, and the operator hears why', async (t) => {
  const app = await marketApp(
    t,
    (storage) =>
      withFaults(storage, [{ operation: 'pairs.ofMint', nth: 1, effect: { kind: 'fail' } }]).storage
  )
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  const answer = await app.get(`/v1/tokens/${MINT}/price`)
  problem(t, answer, 503, 'storage_unavailable')
  t.equal(answer.headers['retry-after'], '1')
  t.ok(app.logged.some((line) => line.includes('fails on purpose') && line.includes('"level":50')))
})

t.test('what an outage of the store refuses is 503 each time, and no error in the log', async (t) => {
  const away = new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store does not answer')
  const app = await marketApp(t, (storage) => ({
    ...storage,
    trades: { ...storage.trades, ofMint: () => Promise.reject(away) },
    outage: { sinceMs: NOON * 1000, detail: 'too few replicas are up' }
  }))
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  app.forgetLogged()
  for (let i = 0; i < 3; i++)
    problem(t, await app.get(`/v1/tokens/${MINT}/trades`), 503, 'storage_unavailable')
  const levels = app.logged.map((line) => (JSON.parse(line) as { level: number }).level)
  t.strictSame(levels, [20, 20, 20])
})

t.test('while draining, data is refused with 503 and the operator still sees health', async (t) => {
  const app = await filled(t)
  app.draining = true
  const answer = await app.get(LISTS[0]!)
  problem(t, answer, 503, 'draining')
  t.match(answer.headers, { connection: 'close', 'retry-after': '1' })
  t.equal((await app.get('/v1/health', {})).body.status, 'draining')
})

/** Sends bytes unchanged and returns the whole answer. */
async function raw(app: MarketApp, bytes: string): Promise<string> {
  const { port } = app.app.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(bytes)
  return text(socket)
}

t.test(
  'bytes that are no request, or too many of them, get a problem and the end of the connection',
  async (t) => {
    const app = await filled(t)
    await app.app.listen({ host: '127.0.0.1', port: 0 })
    const cases: [bytes: string, status: number, code: string][] = [
      ['garbage\r\n\r\n', 400, 'invalid_parameter'],
      [
        `GET /v1/health HTTP/1.1\r\nhost: x\r\nx-big: ${'a'.repeat(20_000)}\r\n\r\n`,
        431,
        'headers_too_large'
      ],
      [`GET /v1/launches?after=${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, 'headers_too_large']
    ]
    for (const [bytes, status, code] of cases) {
      const answer = await raw(app, bytes)
      t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), answer)
      t.match(answer, /connection: close/i)
      t.match(answer, /x-request-id: [0-9a-f-]{36}/)
      t.match(JSON.parse(answer.slice(answer.indexOf('{'))), { status, code, request_id: UUID })
      t.notMatch(answer, INTERNAL)
    }
    t.match(await raw(app, 'GET /x HTTP/1.0\r\n\r\n'), /"type":"\/problems\/unknown-route"/, 'without a host')
  }
)
