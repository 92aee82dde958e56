import t from 'tap'
import { Documents } from '../../storage/documents.ts'
import { WEBHOOK } from '../../src/webhooks/webhook.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { PRIVATE_CHANNEL_SCOPES } from '../../src/stream/channel.ts'
import { tenantsIn } from '../../storage/access-documents.ts'
import { MINT, NOON, PROGRESS, URL_OF, webhookClient } from './webhook-client.ts'
import { tenantShard } from '../../src/access/tenant-shard.ts'

const CREATED = '2026-08-24T12:00:00.000Z'

t.test('a webhook is created with its secret, and listed without it', async (t) => {
  const app = await webhookClient(t)
  const channels = ['launches', `trades:${MINT}`, `wallet:${MINT}`, 'venue:pumpfun']
  const made = await app.send('POST', '/v1/webhooks', { url: URL_OF, channels })
  t.equal(made.status, 201)
  t.equal(made.headers['cache-control'], 'no-store')
  const { id, secret } = made.body
  t.ok(Number.isSafeInteger(id) && Number(id) >= 1 && Number(id) < 2 ** 48)
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.strictSame(made.body, {
    id,
    url: URL_OF,
    channels,
    secret,
    active: true,
    created_at: CREATED,
    delivery_starts_within_seconds: 15
  })
  t.same(app.parts.checked, [URL_OF])
  t.same(app.parts.announced, ['acme'])

  const expected = {
    id,
    url: URL_OF,
    channels,
    active: true,
    created_at: CREATED,
    updated_at: CREATED,
    disabled_at: null,
    disabled_reason: null,
    consecutive_failures: 0,
    last_success_at: null,
    last_failure_at: null,
    last_status: null,
    last_error: null,
    buffered: null,
    dropped_total: 0,
    secret_hint: String(secret).slice(-4)
  }
  const list = await app.send('GET', '/v1/webhooks')
  t.strictSame(list.body, { tenant: 'acme', data: [expected], nextCursor: null, limits: { max: 5 } })
  t.strictSame((await app.send('GET', `/v1/webhooks/${String(id)}`)).body, expected)
  t.notOk(list.text.includes(String(secret)))
})

t.test('webhooks are listed in order of creation, with the progress of their deliveries', async (t) => {
  const app = await webhookClient(t)
  const ids: number[] = []
  for (const second of [0, 1, 2]) {
    app.nowMs = NOON + second * 1000
    ids.push(await app.make(`${URL_OF}/${second}`))
  }
  const documents = new Documents(app.storage.documents, WEBHOOK)
  const stored = await documents.get(tenantShard('acme'), ['acme', ids[1]!])
  const progress = {
    ...PROGRESS,
    droppedTotal: 7,
    consecutiveFailures: 3,
    lastSuccessAtMs: NOON + 5_000,
    lastFailureAtMs: NOON + 9_000,
    lastStatus: 503,
    lastError: 'status_503'
  }
  await documents.putHot(stored!, 1, progress)
  app.parts.waiting = 12
  const { body } = await app.send('GET', '/v1/webhooks')
  t.same(
    body.data.map(({ id }) => id),
    ids
  )
  t.match(body.data[1], {
    consecutive_failures: 3,
    last_success_at: '2026-08-24T12:00:05.000Z',
    last_failure_at: '2026-08-24T12:00:09.000Z',
    last_status: 503,
    last_error: 'status_503',
    dropped_total: 7,
    buffered: 12
  })
})

t.test('every gateway shows the stored number of waiting events, whoever delivers', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const documents = new Documents(app.storage.documents, WEBHOOK)
  const stored = await documents.get(tenantShard('acme'), ['acme', id])
  const other = app.another()
  t.teardown(() => other.close())
  const headers = { 'x-api-key': await app.makeKey(['webhooks']) }
  const shown = async (): Promise<unknown[]> => {
    const [one, two] = await Promise.all(
      [app.app, other].map((gateway) => gateway.inject({ method: 'GET', url: `/v1/webhooks/${id}`, headers }))
    )
    t.equal(one!.body, two!.body)
    return [one, two].map((answer) => answer!.json<{ readonly buffered: number | null }>().buffered)
  }
  t.strictSame(await shown(), [null, null], 'before the first attempt')
  await documents.putHot(stored!, 1, { ...PROGRESS, buffered: 12 })
  t.strictSame(await shown(), [12, 12])
})

t.test('a deleted webhook is unknown from then on', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const path = `/v1/webhooks/${id}`
  const deleted = await app.send('DELETE', path)
  t.strictSame([deleted.status, deleted.body], [200, { id, deleted: true }])
  t.match(await app.send('DELETE', path), { status: 404, body: { code: 'webhook_not_found' } })
  t.match(await app.send('GET', path), { status: 404, body: { code: 'webhook_not_found' } })
  t.strictSame((await app.send('GET', '/v1/webhooks')).body.data, [])
  t.same(app.parts.announced, ['acme', 'acme'])
})

t.test('a sixth webhook is refused until one of the five is deleted', async (t) => {
  const app = await webhookClient(t)
  const ids = []
  for (let count = 0; count < 5; count++) ids.push(await app.make())
  const sixth = await app.send('POST', '/v1/webhooks', { url: URL_OF, channels: ['pools'] })
  t.match(sixth, { status: 409, body: { code: 'webhook_limit_reached' } })
  await app.send('DELETE', `/v1/webhooks/${ids[2]}`)
  await app.make()
  const other = await app.as({ tenant: 'acme' })
  t.match(await other('POST', '/v1/webhooks', { url: URL_OF, channels: ['pools'] }), { status: 409 })
})

t.test('of twelve concurrent creations five succeed and the others reach the limit', async (t) => {
  const app = await webhookClient(t)
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      app.send('POST', '/v1/webhooks', { url: URL_OF, channels: ['launches'] })
    )
  )
  t.same(answers.map(({ status }) => status).toSorted(), [
    ...Array<number>(5).fill(201),
    ...Array<number>(7).fill(409)
  ])
  const { body } = await app.send('GET', '/v1/webhooks')
  t.equal(body.data.length, 5)
})

t.test('fifty different channels are accepted, and repeated ones count once', async (t) => {
  const app = await webhookClient(t)
  const addresses = Array.from({ length: 60 }, (_, at) => addressOf(at))
  const fifty = addresses.slice(0, 50).map((address) => `trades:${address}`)
  const made = await app.send('POST', '/v1/webhooks', { url: URL_OF, channels: [...fifty, ...fifty] })
  t.equal(made.status, 201)
  t.same(made.body.channels, fifty)
  const tooMany = [...fifty, 'launches']
  t.match(await app.send('POST', '/v1/webhooks', { url: URL_OF, channels: tooMany }), {
    status: 400,
    body: { code: 'invalid_parameter', detail: 'channels must be at most 50 different channels' }
  })
})

t.test('each wrong field of a creation is refused by name', async (t) => {
  const app = await webhookClient(t)
  const good = { url: URL_OF, channels: ['launches'] }
  const cases: [field: string, value: unknown, code?: string][] = [
    ['url', undefined],
    ['url', null],
    ['url', 7],
    ['url', ''],
    ['url', [URL_OF]],
    ['url', `https://receiver.example.org/${'x'.repeat(3_000)}`],
    ['channels', undefined],
    ['channels', []],
    ['channels', 'launches'],
    ['channels', [7]],
    ['channels', [null]],
    ['channels', ['launches', 'launch'], 'unknown_channel'],
    ['channels', [''], 'unknown_channel'],
    ['channels', ['launches:'], 'unknown_channel'],
    ['channels', ['LAUNCHES'], 'unknown_channel'],
    ['channels', ['test'], 'unknown_channel'],
    ['channels', ['trades'], 'unknown_channel'],
    ['channels', ['venue:nobody'], 'unknown_channel'],
    ['channels', ['trades:'], 'invalid_address'],
    ['channels', ['trades:abc'], 'invalid_address'],
    ['channels', [`pool:${MINT}1`], 'invalid_address'],
    ['channels', ['wallet'], 'unknown_channel'],
    ['channels', [`wallet:${MINT}1`], 'invalid_address'],
    ['channels', [`Wallet:${MINT}`], 'unknown_channel'],
    ['channels', [`price: ${MINT}`], 'invalid_address']
  ]
  for (const [field, value, code = 'invalid_parameter'] of cases) {
    const { status, body } = await app.send('POST', '/v1/webhooks', { ...good, [field]: value })
    t.equal(status, 400, JSON.stringify(value)?.slice(0, 60))
    t.match(body, { code, detail: new RegExp(`^${field}`) })
  }
  t.match((await app.send('POST', '/v1/webhooks', { ...good, secret: 'mine' })).body, {
    code: 'invalid_parameter',
    detail: 'secret is not a parameter of this endpoint'
  })
  for (const body of ['', '[]', 'null', '"x"', '{"url":']) {
    const { status } = await app.send('POST', '/v1/webhooks', body, { 'content-type': 'application/json' })
    t.equal(status, 400, body)
  }
  t.equal((await app.send('POST', '/v1/webhooks')).status, 400)
  t.same((await app.send('GET', '/v1/webhooks')).body.data, [])
  t.same(app.parts.checked, [], 'no name was resolved for them')
})

t.test('wrong channels are all named, whatever is wrong with them', async (t) => {
  const app = await webhookClient(t)
  const channels = ['launch', 'pools', 'trades:x']
  const { body } = await app.send('POST', '/v1/webhooks', { url: URL_OF, channels })
  t.match(body, {
    code: 'unknown_channel',
    detail: /^channels\.0: "launch" is not a channel; there are trades:<mint>/,
    errors: [{ field: 'channels.0' }, { field: 'channels.2', message: /not an address/ }]
  })
  t.equal(body.errors.length, 2)
  const many = await app.send('POST', '/v1/webhooks', {
    url: URL_OF,
    channels: Array.from({ length: 4_000 }, (_, at) => `x${at}`)
  })
  t.equal(many.body.errors.length, 50)
})

t.test('a channel of the tenant needs its scope, and is a channel of the stream alone', async (t) => {
  const app = await webhookClient(t)
  for (const scope of SCOPES) {
    const send = await app.as({ scopes: [...new Set(['webhooks', scope])] })
    for (const [name, needed] of Object.entries(PRIVATE_CHANNEL_SCOPES)) {
      const isPermitted = needed === 'webhooks' || needed === scope
      t.match(
        await send('POST', '/v1/webhooks', { url: URL_OF, channels: ['launches', name] }),
        isPermitted
          ? {
              status: 400,
              body: {
                code: 'unknown_channel',
                detail: new RegExp(`^channels\\.1: "${name}" is a channel of the stream only`)
              }
            }
          : { status: 403, body: { code: 'insufficient_scope', detail: new RegExp(`${needed}.*${name}`) } },
        `${name} with ${scope}`
      )
    }
  }
  t.same((await app.send('GET', '/v1/webhooks')).body.data, [])
})

t.test('a URL that the guard refuses is answered with its reason', async (t) => {
  const app = await webhookClient(t)
  app.parts.refused.add('http://10.0.0.5/')
  t.match(await app.send('POST', '/v1/webhooks', { url: 'http://10.0.0.5/', channels: ['launches'] }), {
    status: 422,
    body: { code: 'url_not_allowed', detail: /public addresses/ }
  })
  t.same((await app.send('GET', '/v1/webhooks')).body.data, [])
})

t.test('a webhook of another tenant is unknown to each endpoint', async (t) => {
  const app = await webhookClient(t)
  await tenantsIn(app.storage.documents).insert({ name: 'beta', createdAtMs: 1 })
  await app.keys.reload()
  const id = await app.make()
  const stranger = await app.as({ tenant: 'beta' })
  for (const [method, path, body] of ENDPOINTS) {
    t.match(
      await stranger(method, path.replace('{id}', String(id)), body),
      { status: 404, body: { code: 'webhook_not_found' } },
      `${method} ${path}`
    )
  }
  t.same((await stranger('GET', '/v1/webhooks')).body.data, [])
  t.equal((await app.send('GET', `/v1/webhooks/${id}`)).status, 200)
  t.same(app.parts.posts, [])
})

const ENDPOINTS: readonly [method: string, path: string, body?: unknown][] = [
  ['GET', '/v1/webhooks/{id}'],
  ['DELETE', '/v1/webhooks/{id}'],
  ['POST', '/v1/webhooks/{id}/enable'],
  ['POST', '/v1/webhooks/{id}/enable', { since: 1 }],
  ['POST', '/v1/webhooks/{id}/test'],
  ['POST', '/v1/webhooks/{id}/rotate-secret', {}],
  ['GET', '/v1/webhooks/{id}/deliveries']
]

t.test('a whole number that is no id is unknown, and other text is an invalid parameter', async (t) => {
  const app = await webhookClient(t)
  await app.make()
  const unknown = ['0', '1', '-1', String(2 ** 48), String(2 ** 53), '9007199254740993', '9'.repeat(400)]
  const invalid = ['abc', '1.5', '1e3', '0x10', '01', '+1', '%201', 'null', '１']
  for (const [method, path, body] of ENDPOINTS) {
    for (const id of unknown) {
      const answer = await app.send(method, path.replace('{id}', encodeURI(id)), body)
      t.match(answer, { status: 404, body: { code: 'webhook_not_found' } }, `${method} ${path} ${id}`)
    }
    for (const id of invalid) {
      const answer = await app.send(method, path.replace('{id}', encodeURI(decodeURI(id))), body)
      t.match(answer, { status: 400, body: { code: 'invalid_parameter' } }, `${method} ${path} ${id}`)
    }
  }
})

t.test('a key without the scope webhooks reaches no endpoint of webhooks', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const other = await app.makeKey(['data:read', 'stream', 'admin'])
  const paths = [['GET', '/v1/webhooks'], ['POST', '/v1/webhooks'], ...ENDPOINTS] as const
  for (const [method, path] of paths) {
    const answer = await app.ask(method, path.replace('{id}', String(id)), { 'x-api-key': other })
    t.match(answer, { status: 403, body: { code: 'insufficient_scope' } }, `${method} ${path}`)
  }
})

/** Returns an address, different for each number below 256. */
function addressOf(at: number): string {
  const text = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  return `${MINT.slice(0, 40)}${text[Math.floor(at / 58)]}${text[at % 58]}2`
}
