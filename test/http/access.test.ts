import t from 'tap'
import { hashApiKey, isWellFormedApiKey, makeApiKey, sameHash } from '../../src/access/api-key.ts'
import { bootstrapKeys } from '../../src/access/bootstrap.ts'
import { block, NOON } from '../market/world.ts'
import { marketApp } from './market-app.ts'

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
  t.ok(app.logged.length >= 15, 'every request is logged at this level')
  const metrics = (await app.get('/metrics')).text
  for (const secret of [app.key, wrong, 'typed-by-mistake', 'another-one'])
    for (const said of [app.logged.join(''), metrics]) t.notOk(said.includes(secret.slice(-14)), secret)
  t.match(app.logged.join(''), /"key_id":"id-/, 'lines name the key by its id')
})

t.test('the store is asked for a hash of the key and never for the key', async (t) => {
  const asked: Uint8Array[] = []
  const app = await marketApp(t, (storage) => ({
    ...storage,
    keys: {
      ...storage.keys,
      byHash: (hash) => {
        asked.push(hash)
        return storage.keys.byHash(hash)
      }
    }
  }))
  await app.get('/v1/launches')
  t.strictSame(asked, [hashApiKey(app.key)])
  await app.get('/v1/launches', { 'x-api-key': 'short' })
  t.equal(asked.length, 1, 'what cannot be a key costs no look-up')
})

t.test('a row of another hash does not open, whatever the store says', async (t) => {
  const app = await marketApp(t, (storage) => ({
    ...storage,
    keys: { ...storage.keys, byHash: async () => (await storage.keys.all())[0] ?? null }
  }))
  t.equal((await app.get('/v1/launches', { 'x-api-key': makeApiKey() })).status, 401)
  t.equal((await app.get('/v1/launches')).status, 200)
})

t.test('a made key is well formed, and a mistyped one is not', (t) => {
  const keys = Array.from({ length: 200 }, makeApiKey)
  t.equal(new Set(keys).size, 200)
  for (const key of keys) {
    t.ok(isWellFormedApiKey(key))
    const at = 8 + (key.charCodeAt(9) % 24)
    const typo = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1)
    t.notOk(isWellFormedApiKey(typo))
  }
  t.ok(sameHash(hashApiKey('a'), hashApiKey('a')))
  t.notOk(sameHash(hashApiKey('a'), hashApiKey('b')))
  t.notOk(sameHash(hashApiKey('a'), hashApiKey('a').subarray(1)))
  t.end()
})

t.test('first keys are made once; an operator key is stored on every store that lacks it', async (t) => {
  const { storage } = await marketApp(t)
  t.equal(await bootstrapKeys(storage.keys, null, 5), null, 'the store has a key already')
  t.equal(await bootstrapKeys(storage.keys, 'a-key-of-the-operator', 5), null)
  await bootstrapKeys(storage.keys, 'a-key-of-the-operator', 6)
  const rows = await storage.keys.all()
  t.equal(rows.length, 2)
  const own = await storage.keys.byHash(hashApiKey('a-key-of-the-operator'))
  t.match(own, { tenant: 'operator', createdAtMs: 5 })
  t.ok(own?.scopes.includes('admin'))
  t.notOk(JSON.stringify(rows).includes('a-key-of-the-operator'), 'only its hash and prefix are stored')
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
