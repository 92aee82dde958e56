import { WRITE_LIMIT_MS } from '../../src/kernel/http/deadline.ts'
import t from 'tap'
import { Documents } from '../../storage/documents.ts'
import type { DeliveryAttempt, WebhookProgress } from '../../src/webhooks/webhook.ts'
import { WEBHOOK } from '../../src/webhooks/webhook.ts'
import { closedStream } from '../http/market-app.ts'
import { NOON, PROGRESS, URL_OF, webhookClient, type WebhookClient } from './webhook-client.ts'
import { tenantShard } from '../../src/access/tenant-shard.ts'

/** Reads and changes a stored webhook as a delivery process does. */
async function stored(app: WebhookClient, id: number) {
  const documents = new Documents(app.storage.documents, WEBHOOK)
  const found = (await documents.get(tenantShard('acme'), ['acme', id]))!
  return {
    value: found.value,
    progress: (changes: Partial<WebhookProgress>) => documents.putHot(found, 1, { ...PROGRESS, ...changes }),
    deactivate: () =>
      documents.update(found, {
        ...found.value,
        active: false,
        disabledAtMs: NOON,
        disabledReason: 'consecutive_failures' as const
      })
  }
}

t.test('an enabled webhook begins anew without failures, with the next event or after since', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  for (const [body, since] of [
    [undefined, null],
    [{}, null],
    [{ since: 77 }, 77],
    [{ since: '9007199254740991' }, 9007199254740991]
  ] as const) {
    const before = await stored(app, id)
    await before.progress({ activation: before.value.activation })
    await before.deactivate()
    t.match((await app.send('GET', `/v1/webhooks/${id}`)).body, {
      active: false,
      disabled_reason: 'consecutive_failures',
      disabled_at: '2026-08-24T12:00:00.000Z',
      consecutive_failures: 20
    })
    app.nowMs += 60_000
    const { status, body: enabled } = await app.send('POST', `/v1/webhooks/${id}/enable`, body)
    t.equal(status, 200, JSON.stringify(body))
    t.match(enabled, {
      id,
      active: true,
      disabled_at: null,
      disabled_reason: null,
      consecutive_failures: 0,
      dropped_total: 4,
      warnings: []
    })
    const { value } = await stored(app, id)
    t.match(value, { active: true, activation: before.value.activation + 1, since, failuresAtStart: 0 })
  }
})

t.test('an active webhook changes only with since, and keeps its failures', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  await (await stored(app, id)).progress({ consecutiveFailures: 3 })
  const { value: before } = await stored(app, id)
  app.nowMs += 60_000
  app.parts.announced.splice(0)
  const unchanged = await app.send('POST', `/v1/webhooks/${id}/enable`)
  t.match(unchanged.body, { active: true, consecutive_failures: 3, updated_at: '2026-08-24T12:00:00.000Z' })
  t.strictSame((await stored(app, id)).value, before)
  t.same(app.parts.announced, [])
  const again = await app.send('POST', `/v1/webhooks/${id}/enable`, { since: 0 })
  t.match(again.body, { active: true, consecutive_failures: 3, updated_at: '2026-08-24T12:01:00.000Z' })
  t.match((await stored(app, id)).value, { activation: 2, since: 0, failuresAtStart: 3 })
  t.same(app.parts.announced, ['acme'])
})

t.test('a webhook is enabled six times in a minute, and the seventh call waits for the next', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const other = await app.make()
  const enable = (of: number) => app.send('POST', `/v1/webhooks/${of}/enable`)
  for (let call = 1; call <= 6; call++) t.equal((await enable(id)).status, 200, `call ${call}`)
  app.nowMs += 20_000
  const seventh = await enable(id)
  t.match(seventh, { status: 429, body: { code: 'rate_limited', limit: 6, retry_after: 40 } })
  t.equal(String(seventh.headers['retry-after']), '40')
  t.equal((await enable(other)).status, 200, 'another webhook has calls of its own')
  app.nowMs += 40_000
  t.equal((await enable(id)).status, 200)
})

t.test('a since that is no cursor is refused', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const cases: [since: unknown, code: string][] = [
    [-1, 'invalid_cursor'],
    ['-1', 'invalid_cursor'],
    ['', 'invalid_cursor'],
    ['1.5', 'invalid_cursor'],
    ['now', 'invalid_cursor'],
    ['9'.repeat(17), 'invalid_cursor'],
    [1.5, 'invalid_cursor'],
    [2 ** 53, 'invalid_cursor'],
    [true, 'invalid_parameter'],
    [{}, 'invalid_parameter'],
    [[1], 'invalid_parameter']
  ]
  for (const [since, code] of cases)
    t.match(
      await app.send('POST', `/v1/webhooks/${id}/enable`, { since }),
      { status: 400, body: { code, detail: /^since must be / } },
      JSON.stringify(since)
    )
  for (const body of ['null', '[]', '7', '"x"', '{"from":1}'])
    t.equal(
      (await app.send('POST', `/v1/webhooks/${id}/enable`, body, { 'content-type': 'application/json' }))
        .status,
      400,
      body
    )
  t.match((await stored(app, id)).value, { activation: 1 })
})

t.test('an answer to since says which events cannot be delivered', async (t) => {
  const stream = closedStream({ head: 900, horizon: { cursor: 400, tsMs: 1, slot: 1 } })
  const app = await webhookClient(t, { stream })
  const { body: made } = await app.send('POST', '/v1/webhooks', {
    url: URL_OF,
    channels: ['pools', 'curves']
  })
  const warnings = async (since: number) => {
    app.nowMs += 60_000
    return (await app.send('POST', `/v1/webhooks/${String(made.id)}/enable`, { since })).body.warnings
  }
  const codes = async (since: number) =>
    ((await warnings(since)) as { code: string }[]).map(({ code }) => code)
  t.match(await warnings(399), [{ code: 'beyond_replay_horizon', horizon: 400 }])
  t.strictSame(await codes(400), [], 'the past of pools is delivered too')
  t.strictSame(await codes(900), [])
  t.strictSame(await codes(901), ['cursor_ahead_of_head'])
  const id = Number(made.id)
  t.match((await stored(app, id)).value, { since: 901 }, 'another process may have sent it')
  t.strictSame(await codes(2 ** 40), ['cursor_ahead_of_head'])
  t.match((await stored(app, id)).value, { since: 900 }, 'deliveries begin at the head')
})

t.test('a test event is one signed POST, which is listed and counts for nothing', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const path = `/v1/webhooks/${id}/test`
  const tested = await app.send('POST', path)
  t.strictSame(tested.body, { delivered: true, status_code: 204, duration_ms: 12, error: null })
  t.equal(app.parts.posts.length, 1)
  const { tenant, post } = app.parts.posts[0]!
  t.equal(tenant, 'acme')
  t.match(post, {
    url: URL_OF,
    headers: { 'X-MR-Webhook-Id': String(id) }
  })
  const batch = JSON.parse(Buffer.from(post.body).toString()) as { batch_id: string }
  t.strictSame(batch, {
    webhook_id: id,
    batch_id: batch.batch_id,
    batch_ts: NOON,
    events: [{ channel: 'test', data: { event: 'test', webhook_id: id, message: 'Test event', ts_ms: NOON } }]
  })
  t.equal(post.headers['webhook-id'], `msg_${batch.batch_id}`)

  app.parts.outcome = { kind: 'answered', status: 301, retryAfterMs: null, durationMs: 3 }
  t.match((await app.send('POST', path)).body, { delivered: false, status_code: 301, error: 'status_301' })
  app.parts.outcome = { kind: 'failed', error: 'timeout', durationMs: 10_000 }
  await (await stored(app, id)).deactivate()
  t.strictSame((await app.send('POST', path)).body, {
    delivered: false,
    status_code: null,
    duration_ms: 10_000,
    error: 'timeout'
  })
  t.match((await app.send('GET', `/v1/webhooks/${id}`)).body, { consecutive_failures: 0, last_error: null })
  const { body } = await app.send('GET', `/v1/webhooks/${id}/deliveries`)
  t.match(body.data, [
    { attempt: 0, status_code: null, error: 'timeout', duration_ms: 10_000 },
    { attempt: 0, status_code: 301, error: 'status_301' },
    { attempt: 0, status_code: 204, error: null, batch_id: batch.batch_id, next_retry_at: null }
  ])
})

t.test('a test event that takes longer than other answers is waited for', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const timers: number[] = []
  const { clock } = app.deps
  const start = clock.setTimeout.bind(clock)
  Object.assign(clock, {
    setTimeout: (run: () => void, ms: number) => {
      timers.push(ms)
      return start(run, ms)
    }
  })
  await app.send('POST', `/v1/webhooks/${id}/test`)
  await app.send('GET', '/v1/webhooks')
  t.same(timers, [WRITE_LIMIT_MS, WRITE_LIMIT_MS, 2_000])
})

t.test('a rotated secret is shown once, and the previous one signs until the end of its grace', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const path = `/v1/webhooks/${id}/rotate-secret`
  const day = 86_400
  // The secrets that sign after each rotation: a graceless one ends all before it.
  for (const [body, seconds, signing] of [
    [undefined, day, 2],
    [{}, day, 3],
    [{ grace_seconds: 0 }, 0, 1],
    [{ grace_seconds: 30 * day }, 30 * day, 2]
  ] as const) {
    app.nowMs += 60_000
    const { value: before } = await stored(app, id)
    const rotated = await app.send('POST', path, body)
    t.equal(rotated.status, 200, JSON.stringify(body))
    t.equal(rotated.headers['cache-control'], 'no-store')
    t.match(rotated.body, {
      secret: /^whsec_/,
      previous_secret_expires_at: new Date(app.nowMs + seconds * 1000).toISOString()
    })
    const { value } = await stored(app, id)
    t.equal(Buffer.from(value.secrets[0]!.sealed).toString(), rotated.body.secret)
    t.equal(value.secrets.length, signing)
    if (signing > 1)
      t.same(value.secrets[1], { ...before.secrets[0], expiresAtMs: app.nowMs + seconds * 1000 })
    t.match((await app.send('GET', `/v1/webhooks/${id}`)).body, {
      secret_hint: String(rotated.body.secret).slice(-4),
      updated_at: new Date(app.nowMs).toISOString()
    })
    await app.send('POST', `/v1/webhooks/${id}/test`)
    t.match(app.parts.posts.at(-1)?.post.headers, { 'X-MR-Signature': `of ${signing} secrets` })
  }
  for (const grace_seconds of [-1, 1.5, 30 * day + 1, '60', true, 1e300])
    t.match(
      await app.send('POST', path, { grace_seconds }),
      { status: 400, body: { code: 'invalid_parameter', detail: /^grace_seconds / } },
      String(grace_seconds)
    )
})

t.test('deliveries are listed newest first, page by page', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const attempts = Array.from({ length: 25 }, (_, at): DeliveryAttempt => ({
    batchId: `batch-${at}`,
    attempt: (at % 3) + 1,
    statusCode: at % 2 === 0 ? 500 : null,
    error: at % 2 === 0 ? 'status_500' : 'timeout',
    events: 64,
    dropped: at,
    startedAtMs: NOON - at * 1000,
    durationMs: 10.6,
    nextRetryAtMs: at % 3 === 2 ? null : NOON + 5_000
  }))
  app.parts.attemptsOf.set(id, attempts)
  const path = `/v1/webhooks/${id}/deliveries`
  const first = await app.send('GET', `${path}?limit=10`)
  t.equal(first.body.tenant, 'acme')
  t.strictSame(first.body.data[0], {
    batch_id: 'batch-0',
    attempt: 1,
    status_code: 500,
    error: 'status_500',
    events: 64,
    dropped: 0,
    started_at: '2026-08-24T12:00:00.000Z',
    duration_ms: 11,
    next_retry_at: '2026-08-24T12:00:05.000Z'
  })
  const seen = [...first.body.data]
  for (let next = first.body.nextCursor; next !== null;) {
    const { body } = await app.send('GET', `${path}?limit=10&after=${next}`)
    seen.push(...body.data)
    next = body.nextCursor
  }
  const other = await app.make()
  t.match(
    await app.send('GET', `/v1/webhooks/${other}/deliveries?after=${first.body.nextCursor}`),
    { status: 400, body: { code: 'invalid_cursor' } },
    'a cursor of another webhook'
  )
  t.same(
    seen.map(({ batch_id: batchId }) => batchId),
    attempts.map(({ batchId }) => batchId)
  )
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'offset=1', 'limit=1&limit=2'])
    t.match(
      await app.send('GET', `${path}?${query}`),
      { status: 400, body: { code: 'invalid_parameter' } },
      query
    )
  for (const after of ['', 'x'.repeat(129), '%00', 'a/b'])
    t.match(
      await app.send('GET', `${path}?after=${after}`),
      { status: 400, body: { code: 'invalid_cursor' } },
      after.slice(0, 20)
    )
})

t.test('changes of one webhook at once are all applied', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const answers = await Promise.all([
    ...[1, 2, 3, 4, 5].map((since) => app.send('POST', `/v1/webhooks/${id}/enable`, { since })),
    app.send('POST', `/v1/webhooks/${id}/rotate-secret`)
  ])
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200]
  )
  const { value } = await stored(app, id)
  t.equal(value.activation, 6)
  t.equal(value.secrets.length, 2)
})

t.test('a webhook that is deleted during a change ends as deleted', async (t) => {
  const app = await webhookClient(t)
  for (let round = 0; round < 8; round++) {
    const id = await app.make()
    const [deleted, enabled] = await Promise.all([
      app.send('DELETE', `/v1/webhooks/${id}`),
      app.send('POST', `/v1/webhooks/${id}/enable`, { since: 1 })
    ])
    t.equal(deleted.status, 200)
    t.ok(enabled.status === 200 || enabled.status === 404)
    t.equal((await app.send('GET', `/v1/webhooks/${id}`)).status, 404)
  }
})

t.test(
  'each change by its tenant is told on the channel of webhooks, and what changes nothing is not',
  async (t) => {
    const app = await webhookClient(t)
    const id = await app.make()
    const path = `/v1/webhooks/${id}`
    await app.send('POST', `${path}/rotate-secret`)
    await app.send('POST', `${path}/enable`)
    await app.send('POST', `${path}/test`)
    await app.send('POST', `${path}/enable`, { since: 0 })
    await app.send('DELETE', path)
    await app.send('DELETE', path)
    const told = (event: string) => ({ tenant: 'acme', id, event })
    t.strictSame(app.parts.told, ['created', 'rotated', 'enabled', 'deleted'].map(told))
  }
)
