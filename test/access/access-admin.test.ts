import fc from 'fast-check'
import t, { type Test } from 'tap'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import { DEFAULT_SCOPES } from '../../src/access/scopes.ts'
import { randomRuns } from '../random-runs.ts'
import { contractOf } from '../http/checked-requests.ts'
import { marketApp, type Answer, type MarketApp } from '../http/market-app.ts'

/** 2026-08-24 12:00:00 UTC. */
const NOON = Date.UTC(2026, 7, 24, 12)

interface Operator extends MarketApp {
  /** Sends a request with an admin key and checks the answer against the OpenAPI document. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
}

async function operator(t: Test): Promise<Operator> {
  const app = await marketApp(t)
  app.nowMs = NOON
  const key = await app.makeKey(['admin'])
  const contract = await contractOf(app)
  return Object.assign(app, {
    admin: async (method: string, path: string, body?: unknown) => {
      const answer = await app.ask(
        method,
        path,
        { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
      )
      t.equal(contract.breach({ method, path, ...answer }), null, 'the document describes the answer')
      return answer
    }
  })
}

const idOf = ({ body }: Answer): string => String(body.id)
const keyOf = ({ body }: Answer): string => String(body.key)

t.test('a tenant is created once and listed in order of creation with its keys that work', async (t) => {
  const app = await operator(t)
  const created = await app.admin('POST', '/v1/admin/tenants', { name: 'beta-2' })
  t.equal(created.status, 201)
  t.strictSame(created.body, { name: 'beta-2', created_at: '2026-08-24T12:00:00.000Z', keys: 0 })
  t.match(await app.admin('POST', '/v1/admin/tenants', { name: 'beta-2' }), {
    status: 409,
    body: { code: 'tenant_exists' }
  })
  await app.admin('POST', '/v1/admin/keys', { tenant: 'beta-2' })
  const ended = await app.admin('POST', '/v1/admin/keys', { tenant: 'beta-2' })
  await app.admin('DELETE', `/v1/admin/keys/${idOf(ended)}`)
  const { body } = await app.admin('GET', '/v1/admin/tenants')
  t.strictSame(
    body.data.map((row) => [row.name, row.keys]),
    [
      ['acme', 2],
      ['beta-2', 1]
    ]
  )
  t.equal(body.nextCursor, null)
})

t.test('a name that is no tenant name is refused', async (t) => {
  const app = await operator(t)
  const bad = ['', '-a', 'A', 'a_b', 'a b', 'a/b', 'é', 'a'.repeat(64), 'a\n', 7, null, ['a'], { a: 1 }]
  for (const name of bad) {
    const { status, body } = await app.admin('POST', '/v1/admin/tenants', { name })
    t.equal(status, 400, JSON.stringify(name))
    t.match(body, { code: 'invalid_parameter', detail: /^name / })
  }
  t.equal((await app.admin('POST', '/v1/admin/tenants', { name: 'a'.repeat(63) })).status, 201)
  t.equal((await app.admin('POST', '/v1/admin/tenants', { name: '0-' })).status, 201)
})

t.test('a key is made with what was asked for, shown once, and works', async (t) => {
  const app = await operator(t)
  const asked = {
    tenant: 'acme',
    name: 'charts — für alle',
    scopes: ['data:read', 'stream'],
    rate_limit_per_minute: 7,
    work_limit_per_minute: 9_000,
    export_rows_per_day: 0,
    expires_at: '2026-08-24T15:00:00+02:00',
    allowed_ips: ['127.0.0.0/8', '::1'],
    cors_origins: ['https://app.example.org']
  }
  const made = await app.admin('POST', '/v1/admin/keys', asked)
  t.equal(made.status, 201)
  t.equal(made.headers['cache-control'], 'no-store')
  const { key, ...rest } = made.body
  t.match(key, /^mr_live_[0-9A-Za-z]{24}_[0-9A-Za-z]{6}$/)
  const expected = {
    ...asked,
    id: made.body.id,
    prefix: keyOf(made).slice(0, 12),
    status: 'active',
    created_at: '2026-08-24T12:00:00.000Z',
    expires_at: '2026-08-24T13:00:00.000Z',
    revoked_at: null,
    successor: null
  }
  t.same(rest, expected)
  t.same((await app.admin('GET', `/v1/admin/keys/${idOf(made)}`)).body, expected)
  const list = await app.admin('GET', '/v1/admin/keys')
  t.same(list.body.data.at(-1), expected)
  t.notOk(list.text.includes(keyOf(made)))
  const headers = { 'x-api-key': keyOf(made) }
  t.equal((await app.get('/v1/launches', headers)).status, 200)
  t.equal((await app.get('/v1/admin/keys', headers)).status, 403)
  app.nowMs = Date.parse(asked.expires_at)
  t.equal((await app.get('/v1/launches', headers)).body.code, 'key_expired')
  t.equal((await app.admin('GET', `/v1/admin/keys/${idOf(made)}`)).body.status, 'expired')
})

t.test('a key requested without attributes has the usual scopes and no limits', async (t) => {
  const app = await operator(t)
  const { body } = await app.admin('POST', '/v1/admin/keys', { tenant: 'acme' })
  t.match(body, { name: '', scopes: DEFAULT_SCOPES, rate_limit_per_minute: null, expires_at: null })
  t.match(body, { allowed_ips: [], cors_origins: [] })
  t.notOk(DEFAULT_SCOPES.includes('admin'))
})

t.test('invalid attributes of a key are refused, and the field is named', async (t) => {
  const app = await operator(t)
  const cases: [field: string, value: unknown][] = [
    ['tenant', 'A'],
    ['tenant', undefined],
    ['name', 'x'.repeat(101)],
    ['name', 'a\u0000b'],
    ['name', 'a\u202eb'],
    ['name', 5],
    ['scopes', []],
    ['scopes', ['data:write']],
    ['scopes', ['data:read', 'data:read']],
    ['scopes', 'data:read'],
    ['rate_limit_per_minute', 0],
    ['rate_limit_per_minute', -1],
    ['rate_limit_per_minute', 1.5],
    ['rate_limit_per_minute', 1_000_001],
    ['rate_limit_per_minute', '60'],
    ['rate_limit_per_minute', 1e300],
    ['expires_at', '2026-08-24T12:00:00Z'],
    ['expires_at', '2020-01-01T00:00:00Z'],
    ['expires_at', '2027-01-01'],
    ['expires_at', '2027-01-01T00:00:00'],
    ['expires_at', '2027-02-30T00:00:00Z'],
    ['expires_at', 1_900_000_000],
    ['allowed_ips', ['10.0.0.0/33']],
    ['allowed_ips', ['localhost']],
    ['allowed_ips', '10.0.0.1'],
    ['allowed_ips', Array(65).fill('10.0.0.1')],
    ['cors_origins', ['https://app.example.org/']],
    ['cors_origins', ['https://*.org']],
    ['cors_origins', ['rpcs:*']],
    ['cors_origins', ['Null']],
    ['cors_origins', Array(17).fill('https://app.example.org')],
    ['key', 'mr_live_mine'],
    ['id', 'mine'],
    ['constructor', {}],
    ['toString', 1]
  ]
  for (const [field, value] of cases) {
    const { status, body } = await app.admin('POST', '/v1/admin/keys', { tenant: 'acme', [field]: value })
    t.equal(status, 400, `${field} ${JSON.stringify(value)?.slice(0, 40)}`)
    if (field !== 'constructor') t.match(body, { detail: new RegExp(`^${field}\\b`) })
  }
  const good: [field: string, value: unknown][] = [
    ['rate_limit_per_minute', 1],
    ['rate_limit_per_minute', 1_000_000],
    ['rate_limit_per_minute', null],
    ['expires_at', '2026-08-24T12:00:00.001Z'],
    ['allowed_ips', Array(64).fill('10.0.0.1')],
    ['cors_origins', Array(16).fill('https://app.example.org')],
    ['cors_origins', ['*', 'null', 'rpc:*', 'https://*.example.org', 'http://localhost:*']],
    ['name', 'x'.repeat(100)]
  ]
  for (const [field, value] of good) {
    const { status } = await app.admin('POST', '/v1/admin/keys', { tenant: 'acme', [field]: value })
    t.equal(status, 201, `${field} ${JSON.stringify(value)?.slice(0, 40)}`)
  }
})

t.test('a body that is no object is refused in words that fit', async (t) => {
  const app = await operator(t)
  for (const body of ['[]', 'null', '7', '"text"']) {
    for (const path of ['/v1/admin/tenants', '/v1/admin/keys']) {
      const answer = await app.admin('POST', path, body)
      t.match(answer, { status: 400, body: { code: 'invalid_parameter' } }, `${path} ${body}`)
      t.notMatch(answer.body.detail, /^ |undefined/)
    }
  }
  t.match(await app.admin('POST', '/v1/admin/tenants'), { status: 400 })
  t.match(await app.admin('POST', '/v1/admin/tenants', '{"name":'), { body: { code: 'malformed_json' } })
})

t.test('keys of prototypes in bodies and queries are refused and change nothing for anybody', async (t) => {
  const app = await operator(t)
  const bodies = [
    '{"tenant":"acme","__proto__":{"polluted":1}}',
    '{"__proto__":{"tenant":"acme"}}',
    '{"tenant":"acme","constructor":{"prototype":{"polluted":1}}}',
    '{"tenant":"acme","scopes":{"__proto__":["admin"]}}',
    '{"tenant":"acme","\\u005f_proto__":{"polluted":1}}'
  ]
  for (const body of bodies) t.equal((await app.admin('POST', '/v1/admin/keys', body)).status, 400, body)
  for (const query of [
    '__proto__[tenant]=acme',
    '__proto__=1',
    'constructor[prototype][x]=1',
    'tenant[__proto__]=x'
  ]) {
    const { status } = await app.admin('GET', `/v1/admin/keys?${query}`)
    t.ok(status === 400 || status === 200, query)
  }
  for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    t.equal((await app.admin('GET', `/v1/admin/keys/${id}`)).status, 404, id)
  t.equal((await app.admin('POST', '/v1/admin/keys', { tenant: 'constructor' })).status, 404)
  t.strictSame(Object.keys(Object.prototype), [])
  t.notOk('polluted' in {} || 'tenant' in {} || 'x' in {})
})

t.test('an unknown tenant or key is 404', async (t) => {
  const app = await operator(t)
  for (const [method, path, body] of [
    ['POST', '/v1/admin/keys', { tenant: 'nobody' }],
    ['GET', '/v1/admin/keys?tenant=nobody', undefined]
  ] as const)
    t.match(await app.admin(method, path, body), { status: 404, body: { code: 'tenant_not_found' } })
  for (const [method, path, body] of [
    ['GET', '/v1/admin/keys/nobody', undefined],
    ['DELETE', '/v1/admin/keys/nobody', undefined],
    ['POST', '/v1/admin/keys/nobody/rotate', {}]
  ] as const)
    t.match(await app.admin(method, path, body), { status: 404, body: { code: 'key_not_found' } })
})

t.test('a revoked key stops at once, and revoking it again changes nothing', async (t) => {
  const app = await operator(t)
  const made = await app.admin('POST', '/v1/admin/keys', { tenant: 'acme' })
  const headers = { 'x-api-key': keyOf(made) }
  t.equal((await app.get('/v1/launches', headers)).status, 200)
  const path = `/v1/admin/keys/${idOf(made)}`
  t.match(await app.admin('DELETE', path), {
    status: 200,
    body: { status: 'revoked', revoked_at: '2026-08-24T12:00:00.000Z' }
  })
  t.equal((await app.get('/v1/launches', headers)).body.code, 'key_revoked')
  app.nowMs += 5000
  t.match(await app.admin('DELETE', path), { status: 200, body: { revoked_at: '2026-08-24T12:00:00.000Z' } })
  t.match(await app.admin('POST', `${path}/rotate`, {}), { status: 409, body: { code: 'key_inactive' } })
  const reloaded = await KeyDirectory.load(app.storage, 1)
  t.equal(reloaded.key(idOf(made)).revokedAtMs, NOON, 'also after a restart')
})

t.test(
  'a rotated key works strictly before the end of its grace, its successor from the start',
  async (t) => {
    const app = await operator(t)
    const status = async (key: string) => (await app.get('/v1/launches', { 'x-api-key': key })).status
    for (const [grace, body] of [
      [60, { grace_seconds: 60 }],
      [0, { grace_seconds: 0 }],
      [0, {}]
    ] as const) {
      const asked = { tenant: 'acme', name: 'old', scopes: ['data:read'], rate_limit_per_minute: 9 }
      const old = await app.admin('POST', '/v1/admin/keys', asked)
      const next = await app.admin('POST', `/v1/admin/keys/${idOf(old)}/rotate`, body)
      t.match(next, {
        status: 201,
        headers: { 'cache-control': 'no-store' },
        body: { ...asked, status: 'active' }
      })
      t.not(keyOf(next), keyOf(old))
      t.equal(await status(keyOf(next)), 200)
      if (grace > 0) {
        app.nowMs += grace * 1000 - 1
        t.equal(await status(keyOf(old)), 200)
        app.nowMs += 1
      }
      t.equal(await status(keyOf(old)), 401)
      t.equal((await app.admin('GET', `/v1/admin/keys/${idOf(old)}`)).body.successor, idOf(next))
      t.equal(await status(keyOf(next)), 200)
      const again = await app.admin('POST', `/v1/admin/keys/${idOf(old)}/rotate`, {})
      t.match(again, { status: 409, body: { code: 'key_inactive' } })
    }
    const { body } = await app.admin('POST', '/v1/admin/keys', { tenant: 'acme' })
    for (const grace_seconds of [-1, 1.5, '60', 2_592_001]) {
      const refused = await app.admin('POST', `/v1/admin/keys/${String(body.id)}/rotate`, { grace_seconds })
      t.match(refused, { status: 400, body: { detail: /^grace_seconds / } })
    }
  }
)

t.test('the last admin key that works is not revoked', async (t) => {
  const app = await operator(t)
  const first = app.keys.keys.find((row) => row.scopes.includes('admin'))!.id
  t.match(await app.admin('DELETE', `/v1/admin/keys/${first}`), {
    status: 409,
    body: { code: 'last_admin_key' }
  })
  const other = await app.admin('POST', '/v1/admin/keys', { tenant: 'acme', scopes: ['admin'] })
  t.equal((await app.admin('DELETE', `/v1/admin/keys/${first}`)).status, 200)
  t.equal((await app.admin('GET', '/v1/admin/keys')).status, 401, 'it was the calling key')
  t.equal((await app.get('/v1/admin/keys', { 'x-api-key': keyOf(other) })).status, 200)
})

t.test('a list of keys is walked by after, whatever the pages are, also of one tenant', async (t) => {
  const app = await operator(t)
  await app.admin('POST', '/v1/admin/tenants', { name: 'beta' })
  for (let i = 0; i < 11; i++)
    await app.keys.issue({ ...app.keys.keys[0]!, tenant: i % 3 ? 'acme' : 'beta' }, NOON)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 15 }),
      fc.constantFrom('', '&tenant=beta'),
      async (limit, filter) => {
        const ids: unknown[] = []
        let after = ''
        for (;;) {
          const { body } = await app.admin('GET', `/v1/admin/keys?limit=${limit}${filter}${after}`)
          t.ok(body.data.length <= limit)
          ids.push(...body.data.map((row) => row.id))
          if (body.nextCursor === null) break
          after = `&after=${body.nextCursor}`
        }
        const rows = filter === '' ? app.keys.keys : app.keys.keysOf('beta')
        t.strictSame(
          ids,
          rows.map((row) => row.id)
        )
      }
    ),
    randomRuns(10)
  )
  const foreign = app.keys.keysOf('acme')[0]!.id
  for (const query of ['after=nobody', `tenant=beta&after=${foreign}`, 'after='])
    t.match(await app.admin('GET', `/v1/admin/keys?${query}`), {
      status: 400,
      body: { code: 'invalid_cursor' }
    })
  for (const query of ['limit=0', 'limit=1001', 'tenant=A', 'limit=1&limit=2', 'x=1'])
    t.match(await app.admin('GET', `/v1/admin/keys?${query}`), {
      status: 400,
      body: { code: 'invalid_parameter' }
    })
  const tenants = await app.admin('GET', '/v1/admin/tenants?limit=1')
  t.equal(tenants.body.nextCursor, 'acme')
  t.equal((await app.admin('GET', '/v1/admin/tenants?limit=1&after=acme')).body.data[0]?.name, 'beta')
})

t.test('administration is the operator’s: any other key is refused alike, whatever is there', async (t) => {
  const app = await operator(t)
  await app.admin('POST', '/v1/admin/tenants', { name: 'beta' })
  const theirs = idOf(await app.admin('POST', '/v1/admin/keys', { tenant: 'beta' }))
  const mine = await app.makeKey(DEFAULT_SCOPES)
  const headers = { 'x-api-key': mine, 'content-type': 'application/json' }
  const texts = new Set<string>()
  for (const id of [theirs, 'nobody', app.keys.find(mine)!.keyId]) {
    for (const [method, path, body] of [
      ['GET', `/v1/admin/keys/${id}`, undefined],
      ['DELETE', `/v1/admin/keys/${id}`, undefined],
      ['POST', `/v1/admin/keys/${id}/rotate`, '{}'],
      ['GET', '/v1/admin/keys?tenant=beta', undefined],
      ['POST', '/v1/admin/keys', '{"tenant":"beta"}'],
      ['GET', '/v1/admin/tenants', undefined],
      ['POST', '/v1/admin/tenants', '{"name":"gamma"}']
    ] as const) {
      const answer = await app.ask(method, path, headers, body)
      t.match(answer, { status: 403, body: { code: 'insufficient_scope' } }, `${method} ${path}`)
      texts.add(answer.text.replace(String(answer.body.request_id), ''))
    }
  }
  t.equal(texts.size, 1, 'nothing tells what is there from what is not')
  t.equal(app.keys.key(theirs).revokedAtMs, null)
  t.equal(app.keys.tenants.length, 2)
})

t.test('a key may read its own attributes, and nothing of other keys', async (t) => {
  const app = await operator(t)
  await app.admin('POST', '/v1/admin/tenants', { name: 'beta' })
  const made = await app.admin('POST', '/v1/admin/keys', {
    tenant: 'beta',
    name: 'revenue only',
    scopes: ['revenue'],
    rate_limit_per_minute: 5,
    expires_at: '2027-01-01T00:00:00Z'
  })
  const headers = { 'x-api-key': keyOf(made) }
  const first = await app.get('/v1/me', headers)
  const { status, body, text } = await app.get('/v1/me', headers)
  t.equal(status, 200)
  t.same(body, {
    tenant: 'beta',
    key_id: idOf(made),
    prefix: keyOf(made).slice(0, 12),
    name: 'revenue only',
    scopes: ['revenue'],
    limits: {
      rate_limit_per_minute: 5,
      work_limit_per_minute: 3_000_000,
      export_rows_per_day: 1_000_000,
      window_seconds: 60
    },
    usage: {
      calls: 2,
      remaining: 3,
      work_remaining: 3_000_000 - Number(first.headers['x-work-units']),
      export_rows_remaining: 1_000_000,
      resets_at: NOON / 1000 + 60
    },
    expires_at: '2027-01-01T00:00:00.000Z',
    allowed_ips: [],
    cors_origins: []
  })
  t.notOk(text.includes(keyOf(made)) || text.includes('acme'))
  t.match(await app.get('/v1/me', {}), { status: 401, body: { code: 'missing_api_key' } })
  const mine = await app.get('/v1/me')
  t.match(mine.body, { tenant: 'acme', limits: { rate_limit_per_minute: 1_000_000 } })
})
