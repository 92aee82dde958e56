import t from 'tap'
import { crc32 } from 'node:zlib'
import { apiKeyPrefix, hashApiKey, makeApiKey, withoutApiKeys } from '../../src/access/api-key.ts'
import { bootstrapKeys } from '../../src/access/bootstrap.ts'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import { DEFAULT_SCOPES } from '../../src/access/scopes.ts'
import { tenantsIn } from '../../storage/access-documents.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { MemoryAccess } from './memory-access.ts'
import { block, NOON } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

t.test('a key is taken from X-API-Key or Bearer, and two that differ are refused', async (t) => {
  const app = await marketApp(t)
  const { key } = app
  const other = await app.makeKey(['data:read'])
  const cases: [headers: Record<string, string>, status: number, code?: string][] = [
    [{ 'x-api-key': key }, 200],
    [{ authorization: `Bearer ${key}` }, 200],
    [{ authorization: `bearer   ${key}` }, 200],
    [{ 'x-api-key': key, authorization: `Bearer ${key}` }, 200],
    [{ 'x-api-key': '', authorization: `Bearer ${key}` }, 200],
    [{ 'x-api-key': key, authorization: 'Basic dXNlcjpwYXNz' }, 200],
    [{ authorization: `Bearer ${key} ` }, 401, 'invalid_api_key'],
    [{ authorization: `Bearer ${key} ${key}` }, 401, 'invalid_api_key'],
    [{ authorization: `Bearer ${key}, Bearer ${other}` }, 401, 'invalid_api_key'],
    [{ authorization: `Bearer\t${key}` }, 401, 'missing_api_key'],
    [{ 'x-api-key': `Bearer ${key}` }, 401, 'invalid_api_key'],
    [{}, 401, 'missing_api_key'],
    [{ 'x-api-key': '' }, 401, 'missing_api_key'],
    [{ authorization: 'Bearer' }, 401, 'missing_api_key'],
    [{ authorization: 'Bearer ' }, 401, 'missing_api_key'],
    [{ authorization: `Basic ${key}` }, 401, 'missing_api_key'],
    [{ 'x-api-key': key, authorization: `Bearer ${other}` }, 401, 'invalid_api_key'],
    [{ 'x-api-key': `${key}, ${other}` }, 401, 'invalid_api_key'],
    [{ 'x-api-key': `${key}x` }, 401, 'invalid_api_key'],
    [{ 'x-api-key': key.toLowerCase() }, 401, 'invalid_api_key'],
    [{ 'x-api-key': makeApiKey() }, 401, 'invalid_api_key'],
    [{ 'x-api-key': 'short' }, 401, 'invalid_api_key'],
    [{ 'x-api-key': 'k'.repeat(10_000) }, 401, 'invalid_api_key'],
    [{ 'x-api-key': Buffer.from(hashApiKey(key)).toString('hex') }, 401, 'invalid_api_key']
  ]
  for (const [headers, status, code] of cases) {
    const answer = await app.get('/v1/launches', headers)
    t.equal(answer.status, status, JSON.stringify(headers).slice(0, 90))
    if (code === undefined) continue
    t.equal(answer.body.code, code)
    t.equal(answer.headers['www-authenticate'], 'Bearer')
    t.equal(answer.type, 'application/problem+json; charset=utf-8')
  }
  t.equal((await app.get(`/v1/launches?api-key=${key}`, {})).status, 401, 'a key in the query is none here')
})

t.test('a request without a key is told where its route reads one', async (t) => {
  const app = await marketApp(t)
  t.equal((await app.get('/v1/me', {})).body.detail, 'send an API key in X-API-Key or Authorization: Bearer')
  t.equal(
    (await app.get('/v1/stream', {})).body.detail,
    'send an API key in X-API-Key, Authorization: Bearer or the query parameter api-key or key'
  )
  for (const name of ['api-key', 'key'])
    t.equal(
      (await app.get(`/v1/me?${name}=${app.key}`, {})).body.detail,
      'send the API key in X-API-Key or Authorization: Bearer; only /v1/rpc, /v1/rpc/ws and /v1/stream read it from the query'
    )
})

t.test('a key opens what its scopes name and nothing else', async (t) => {
  const app = await marketApp(t)
  const stream = await app.makeKey(['stream'])
  const admin = await app.makeKey(['admin'])
  const status = async (path: string, key: string) => (await app.get(path, { 'x-api-key': key })).status
  t.equal(await status('/v1/launches', stream), 403)
  t.equal(await status('/v1/launches', admin), 403)
  t.equal(await status('/v1/admin/tree', app.key), 403)
  t.equal(await status('/v1/admin/decoding', app.key), 403)
  t.equal(await status('/v1/admin/tree', admin), 200)
  t.match((await app.get('/v1/launches', { 'x-api-key': stream })).body, {
    code: 'insufficient_scope',
    detail: /data:read/
  })
})

t.test('metrics are open to loopback, and to others with an admin key', async (t) => {
  const app = await marketApp(t)
  const admin = await app.makeKey(['admin'])
  const from = async (remoteAddress: string, headers: Record<string, string> = {}) =>
    (await app.app.inject({ url: '/metrics', remoteAddress, headers })).statusCode
  t.equal(await from('127.0.0.1'), 200)
  t.equal(await from('::1'), 200)
  t.equal(await from('::ffff:127.0.0.1'), 200)
  t.equal(await from('10.0.0.1'), 401)
  t.equal(await from('10.0.0.1', { 'x-forwarded-for': '127.0.0.1' }), 401)
  t.equal(await from('10.0.0.1', { 'x-api-key': app.key }), 403)
  t.equal(await from('10.0.0.1', { 'x-api-key': admin }), 200)
})

t.test('no key, right or wrong, reaches a log line, a metric or an answer', async (t) => {
  const app = await marketApp(t)
  const wrong = makeApiKey()
  for (const key of [app.key, wrong, 'a-word-of-mine-typed-by-mistake']) {
    await app.get('/v1/launches', { 'x-api-key': key })
    await app.get('/v1/launches', { authorization: `Bearer ${key}` })
    await app.get(`/v1/launches?api-key=${key}`, { 'x-api-key': key })
    await app.get('/v1/nothing', { 'x-api-key': key })
    const answer = await app.get('/v1/launches', {
      'x-api-key': key,
      authorization: 'Bearer another-one-that-differs'
    })
    t.notMatch(answer.text, key)
  }
  for (const key of [app.key, wrong]) {
    await app.get(`/v1/tokens/${key}/trades`, { 'x-api-key': key })
    await app.get(`/${key}`)
  }
  t.ok(app.logged.length >= 19, 'every request is logged at this level')
  const metrics = (await app.get('/metrics')).text
  for (const secret of [app.key, wrong, 'typed-by-mistake', 'another-one'])
    for (const said of [app.logged.join(''), metrics]) t.notOk(said.includes(secret.slice(-14)), secret)
  t.match(app.logged.join(''), /"key_id":"[0-9a-f-]{36}"/, 'lines name the key by its id')
})

/** Documents that must not be read. */
function withoutReads(documents: DocumentStore): DocumentStore {
  const refused = () => Promise.reject(new Error('nobody should ask'))
  return { ...documents, get: refused, owner: refused, list: refused }
}

t.test('no request waits for the store to know its key', async (t) => {
  const app = await marketApp(t, (storage) => ({
    ...storage,
    documents: withoutReads(storage.documents)
  }))
  t.equal((await app.get('/v1/launches')).status, 200)
  t.equal((await app.get('/v1/launches', { 'x-api-key': makeApiKey() })).status, 401)
})

t.test('an expired key is refused from its very end on, a revoked one at once', async (t) => {
  const app = await marketApp(t)
  app.nowMs = 5_000
  const ending = { 'x-api-key': await app.makeKey(['data:read'], { expiresAtMs: 6_000 }) }
  const key = await app.makeKey(['data:read'])
  app.nowMs = 5_999
  t.equal((await app.get('/v1/launches', ending)).status, 200)
  app.nowMs = 6_000
  t.match(await app.get('/v1/launches', ending), { status: 401, body: { code: 'key_expired' } })
  t.equal((await app.get('/v1/launches', { 'x-api-key': key })).status, 200)
  await app.keys.revoke(app.keys.find(key)!.keyId, app.nowMs)
  const refused = await app.get('/v1/launches', { 'x-api-key': key })
  t.match(refused, { status: 401, body: { code: 'key_revoked' }, headers: { 'www-authenticate': 'Bearer' } })
  const { body } = await app.get('/v1/launches')
  t.equal(body.tenant, 'acme', 'the answer that was kept is still for those who may have it')
})

t.test('a key with addresses is taken from those and refused from others', async (t) => {
  const app = await marketApp(t)
  const key = await app.makeKey(['data:read'], { allowedIps: ['10.1.0.0/16', '2001:db8::7'] })
  const from = async (remoteAddress: string) => {
    const headers = { 'x-api-key': key, 'x-forwarded-for': '10.1.2.3', forwarded: 'for=10.1.2.3' }
    const response = await app.app.inject({ url: '/v1/launches', remoteAddress, headers })
    return [response.statusCode, response.json<{ code?: string }>().code]
  }
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7'])
    t.strictSame(await from(address), [200, undefined], address)
  for (const address of ['10.2.0.1', '::ffff:10.2.0.1', '2001:db8::8', '127.0.0.1'])
    t.strictSame(await from(address), [403, 'ip_not_allowed'], address)
})

t.test('a made key carries the checksum of its secret, and no two are the same', (t) => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const keys = Array.from({ length: 200 }, makeApiKey)
  t.equal(new Set(keys).size, 200)
  for (const key of keys) {
    const [, secret, sum] = /^mr_live_([0-9A-Za-z]{24})_([0-9A-Za-z]{6})$/.exec(key)!
    t.equal(
      [...sum!].reduce((value, digit) => value * 62 + digits.indexOf(digit), 0),
      crc32(secret!)
    )
  }
  t.end()
})

t.test('only the first characters of a key are shown, in paths too', (t) => {
  const key = makeApiKey()
  t.equal(apiKeyPrefix(key), key.slice(0, 12))
  t.equal(apiKeyPrefix('a-key-of-the-operator'), 'a-ke')
  t.equal(withoutApiKeys(`/v1/${key}/${key}x?a`), `/v1/${key.slice(0, 12)}…/${key.slice(0, 12)}…?a`)
  t.equal(withoutApiKeys('/v1/launches'), '/v1/launches')
  t.end()
})

t.test('first keys are made once; an operator key is stored on every store that lacks it', async (t) => {
  const storage = new MemoryAccess()
  const first = await bootstrapKeys(storage, { adminKey: null, hasDemo: true }, 4)
  t.match(first, { admin: /^mr_live_/, demo: /^mr_live_/ })
  t.strictSame([...storage.tenantRows.keys()], ['operator', 'demo'])
  t.equal(
    await bootstrapKeys(storage, { adminKey: null, hasDemo: true }, 5),
    null,
    'the store has keys already'
  )
  t.equal(await bootstrapKeys(storage, { adminKey: 'a-key-of-the-operator', hasDemo: true }, 5), null)
  await bootstrapKeys(storage, { adminKey: 'a-key-of-the-operator', hasDemo: true }, 6)
  const keys = await KeyDirectory.load(storage, 600)
  t.equal(keys.keys.length, 3)
  t.match(keys.find('a-key-of-the-operator'), { tenant: 'operator', row: { createdAtMs: 5 } })
  for (const key of ['a-key-of-the-operator', first!.admin!]) t.ok(keys.find(key)?.scopes.includes('admin'))
  t.match(keys.find(first!.demo!), { tenant: 'demo', scopes: DEFAULT_SCOPES })
  t.notOk(JSON.stringify([...storage.rows.values()]).includes('operator-'), 'only hash and prefix are stored')
})

t.test('of processes that start at once on an empty store, one makes the first keys', async (t) => {
  const storage = new MemoryAccess()
  const options = { adminKey: null, hasDemo: true }
  const made = await Promise.all([7, 4, 5, 6].map((nowMs) => bootstrapKeys(storage, options, nowMs)))
  t.equal(made.filter((keys) => keys?.admin != null).length, 1)
  t.equal(made.filter((keys) => keys?.demo != null).length, 1)
  t.equal(storage.rows.size, 2)
})

t.test('a start goes on where one that made the tenant alone has ended', async (t) => {
  const storage = new MemoryAccess()
  await tenantsIn(storage.documents).insert({ name: 'operator', createdAtMs: 3 })
  t.match(await bootstrapKeys(storage, { adminKey: null, hasDemo: false }, 4), { admin: /^mr_live_/ })
})

t.test('an operator key that was revoked is not brought back by a start', async (t) => {
  const storage = new MemoryAccess()
  await bootstrapKeys(storage, { adminKey: 'a-key-of-the-operator', hasDemo: true }, 4)
  const keys = await KeyDirectory.load(storage, 600)
  const { keyId } = keys.find('a-key-of-the-operator')!
  await keys.rotate(keyId, 0, 5)
  await keys.revoke(keyId, 5)
  await bootstrapKeys(storage, { adminKey: 'a-key-of-the-operator', hasDemo: true }, 6)
  t.equal((await KeyDirectory.load(storage, 600)).find('a-key-of-the-operator')?.row.revokedAtMs, 5)
})

t.test('on an empty store with an operator key no other admin key is made', async (t) => {
  const storage = new MemoryAccess()
  t.match(await bootstrapKeys(storage, { adminKey: 'a-key-of-the-operator', hasDemo: true }, 4), {
    admin: null,
    demo: /^mr_live_/
  })
  t.equal(storage.rows.size, 2)
})

t.test('without a demo only the admin key is made', async (t) => {
  const storage = new MemoryAccess()
  const made = await bootstrapKeys(storage, { adminKey: null, hasDemo: false }, 4)
  t.match(made, { admin: /^mr_live_/, demo: null })
  t.strictSame([...storage.tenantRows.keys()], ['operator'])
  t.equal(storage.rows.size, 1)
})

t.test('every response carries a request id of ours and how fresh the data is', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, []))
  app.nowMs = (NOON + 3) * 1000
  const ids = new Set<unknown>()
  for (const [path, headers] of [
    ['/v1/health', {}],
    ['/v1/launches', { 'x-api-key': app.key, 'x-request-id': 'chosen-by-the-client' }],
    ['/v1/launches', {}],
    ['/v1/launches?limit=0', { 'x-api-key': app.key }],
    ['/v1/admin/tree', { 'x-api-key': app.key }],
    ['/v1/nothing', {}],
    ['/%zz', {}],
    ['/metrics', {}]
  ] as const) {
    const answer = await app.get(path, headers)
    t.match(answer.headers['x-request-id'], /^[0-9a-f-]{36}$/, path)
    t.equal(answer.headers['x-data-freshness-seconds'], '3', path)
    t.match(answer.headers, { 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' })
    ids.add(answer.headers['x-request-id'])
  }
  t.equal(ids.size, 8)
})
