import fc from 'fast-check'
import t from 'tap'
import { IDEMPOTENCY_KEY_MAX, Idempotency, IDEMPOTENT_REQUEST } from '../../src/kernel/http/idempotency.ts'
import { Documents } from '../../storage/documents.ts'
import type { TextSeal } from '../../src/access/text-seal.ts'
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.ts'
import { tenantsIn } from '../../storage/access-documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { randomRuns } from '../random-runs.ts'
import { NOON, URL_OF, webhookClient } from '../webhooks/webhook-client.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const WISH = { url: URL_OF, channels: ['launches', 'pools'] }
const KEY = { 'idempotency-key': 'b0a7c3a2-5f0e-4f0a-9f8e-1d2c3b4a5968' }

t.test('a creation that is repeated with its key gives the same webhook back', async (t) => {
  const app = await webhookClient(t)
  const first = await app.send('POST', '/v1/webhooks', WISH, KEY)
  t.equal(first.status, 201)
  app.nowMs += 3_600_000
  const second = await app.send('POST', '/v1/webhooks', WISH, KEY)
  t.strictSame([second.status, second.body], [201, first.body])
  t.equal(second.headers['cache-control'], 'no-store')
  const reordered = { channels: WISH.channels, url: WISH.url }
  t.strictSame((await app.send('POST', '/v1/webhooks', reordered, KEY)).body, first.body)
  t.equal((await app.send('GET', '/v1/webhooks')).body.data.length, 1)
  const other = await app.send('POST', '/v1/webhooks', WISH, { 'idempotency-key': 'another' })
  t.not(other.body.id, first.body.id)
  const without = await app.send('POST', '/v1/webhooks', WISH)
  t.not(without.body.id, first.body.id)
})

t.test('a key with another body is refused, and belongs to its tenant alone', async (t) => {
  const app = await webhookClient(t)
  const first = await app.send('POST', '/v1/webhooks', WISH, KEY)
  for (const body of [
    { ...WISH, channels: ['launches'] },
    { ...WISH, url: `${URL_OF}/2` }
  ])
    t.match(await app.send('POST', '/v1/webhooks', body, KEY), {
      status: 422,
      body: { code: 'idempotency_key_reused' }
    })
  await tenantsIn(app.storage.documents).insert({ name: 'beta', createdAtMs: 1 })
  await app.keys.reload()
  const stranger = await app.as({ tenant: 'beta' })
  const theirs = await stranger('POST', '/v1/webhooks', { ...WISH, channels: ['curves'] }, KEY)
  t.equal(theirs.status, 201)
  t.not(theirs.body.id, first.body.id)
  t.equal((await app.send('GET', '/v1/webhooks')).body.data.length, 1)
})

t.test('repeats of a creation at once make one webhook', async (t) => {
  const app = await webhookClient(t)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => app.send('POST', '/v1/webhooks', WISH, KEY))
  )
  t.same(
    answers.map(({ status }) => status),
    Array<number>(8).fill(201)
  )
  t.equal(new Set(answers.map(({ text }) => text)).size, 1, 'with one secret')
  t.equal((await app.send('GET', '/v1/webhooks')).body.data.length, 1)
})

t.test('a refused creation leaves its key free, and a deleted webhook is not created again', async (t) => {
  const app = await webhookClient(t)
  app.parts.refused.add(URL_OF)
  t.equal((await app.send('POST', '/v1/webhooks', WISH, KEY)).status, 422)
  t.equal((await app.send('POST', '/v1/webhooks', { ...WISH, url: '' }, KEY)).status, 400)
  const { body, status } = await app.send('POST', '/v1/webhooks', { ...WISH, url: `${URL_OF}/2` }, KEY)
  t.equal(status, 201)
  await app.send('DELETE', `/v1/webhooks/${String(body.id)}`)
  const repeated = await app.send('POST', '/v1/webhooks', { ...WISH, url: `${URL_OF}/2` }, KEY)
  t.strictSame([repeated.status, repeated.body], [201, body], 'the first answer')
  t.same((await app.send('GET', '/v1/webhooks')).body.data, [])
})

t.test('a key belongs to its path: it rotates the secrets of two webhooks, each once', async (t) => {
  const app = await webhookClient(t)
  const rotate = (id: number, body?: object) =>
    app.send('POST', `/v1/webhooks/${id}/rotate-secret`, body, KEY)
  const [one, two] = [await app.make(), await app.make()]
  const first = [await rotate(one), await rotate(two)]
  t.not(first[0]!.body.secret, first[1]!.body.secret)
  app.nowMs += 60_000
  t.same([(await rotate(one)).text, (await rotate(two)).text], [first[0]!.text, first[1]!.text])
  t.match(await rotate(one, { grace_seconds: 0 }), {
    status: 422,
    body: { code: 'idempotency_key_reused' }
  })
})

t.test('a repeat after a later rotation still gets the secret of the first, and makes none', async (t) => {
  const app = await webhookClient(t)
  const id = await app.make()
  const path = `/v1/webhooks/${id}/rotate-secret`
  const first = await app.send('POST', path, { grace_seconds: 60 }, KEY)
  const later = await app.send('POST', path, { grace_seconds: 0 })
  app.nowMs += 120_000
  t.same((await app.send('POST', path, { grace_seconds: 60 }, KEY)).text, first.text)
  const hint = String(later.body.secret).slice(-4)
  t.match((await app.send('GET', `/v1/webhooks/${id}`)).body, { secret_hint: hint })
})

t.test('a stored answer is encrypted, and one of another secret key is not used', async (t) => {
  const app = await webhookClient(t)
  const documents = new Documents(app.storage.documents, IDEMPOTENT_REQUEST)
  const sealed = new Idempotency(app.storage.documents, new WebhookSecrets(Buffer.alloc(32, 1)))
  const call = (seal: TextSeal) =>
    new Idempotency(app.storage.documents, seal).call({
      tenant: 'acme',
      operation: 'POST /x',
      key: 'k',
      body: undefined
    })
  const first = sealed.call({ tenant: 'acme', operation: 'POST /x', key: 'k', body: undefined })
  await first.once(
    {},
    async () => 'made',
    async () => undefined
  )
  const answer = { status: 201, isSecret: true, text: '{"secret":"whsec_visible"}' }
  await first.end(answer)
  const [stored] = (await documents.list('acme', { limit: 9 })).documents
  t.match(stored!.value, { isDone: true, answer: { sealed: String } })
  const bytes = Buffer.from(stored!.value.answer!.sealed, 'base64')
  t.notOk(bytes.includes('whsec_visible') || JSON.stringify(stored!.value).includes('whsec_visible'))
  t.same(await call(new WebhookSecrets(Buffer.alloc(32, 1))).answer(), answer)
  t.equal(await call(new WebhookSecrets(Buffer.alloc(32, 2))).answer(), null)
})

t.test('a request that an earlier version has stored gives its resource back', async (t) => {
  const app = await webhookClient(t)
  const { body } = await app.send('POST', '/v1/webhooks', WISH, KEY)
  const documents = new Documents(app.storage.documents, IDEMPOTENT_REQUEST)
  const [stored] = (await documents.list('acme', { limit: 9 })).documents
  const { answer: _answer, ...legacy } = stored!.value
  await documents.update(stored!, legacy)
  const repeated = await app.send('POST', '/v1/webhooks', WISH, KEY)
  t.strictSame([repeated.status, repeated.body], [201, body])
  t.equal((await app.send('GET', '/v1/webhooks')).body.data.length, 1)
})

t.test('a creation at the limit is tried again when it is repeated', async (t) => {
  const app = await webhookClient(t)
  const ids = []
  for (let count = 0; count < 5; count++) ids.push(await app.make())
  t.equal((await app.send('POST', '/v1/webhooks', WISH, KEY)).status, 409)
  await app.send('DELETE', `/v1/webhooks/${ids[0]}`)
  t.equal((await app.send('POST', '/v1/webhooks', WISH, KEY)).status, 201)
})

t.test('a key of other characters or of another length is refused', async (t) => {
  const app = await webhookClient(t)
  for (const key of ['', ' ', 'a b', 'é', 'a\tb', 'x'.repeat(IDEMPOTENCY_KEY_MAX + 1)])
    t.match(
      await app.send('POST', '/v1/webhooks', WISH, { 'idempotency-key': key }),
      { status: 400, body: { code: 'invalid_parameter', detail: /^Idempotency-Key must be/ } },
      JSON.stringify(key.slice(0, 9))
    )
  const longest = { 'idempotency-key': 'x'.repeat(IDEMPOTENCY_KEY_MAX) }
  t.equal((await app.send('POST', '/v1/webhooks', WISH, longest)).status, 201)
})

t.test('a key is free again after 24 hours', async (t) => {
  let nowMs = NOON
  const clock = { now: () => nowMs, setTimeout, clearTimeout: () => undefined }
  const storage = await openEmbeddedStorage({ directory: t.testdir(), clock })
  t.teardown(() => storage.close())
  const idempotency = new Idempotency(storage.documents)
  let chosen = 0
  const once = (content: string) =>
    idempotency.once(
      { tenant: 'acme', operation: 'POST /x', key: 'k', content },
      async () => String(++chosen),
      async ({ id, isDone }) => [id, isDone] as const
    )
  t.same(await once('a'), ['1', false])
  nowMs += IDEMPOTENT_REQUEST.ttlMs! - 1
  t.same(await once('a'), ['1', true])
  await t.rejects(once('b'), { name: 'ServiceError', kind: ERRORS.IDEMPOTENCY_KEY_REUSED })
  nowMs += 1
  t.same(await once('b'), ['2', false])
})

t.test('with a store that fails at any step, a repeated request makes its resource once', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('refused', 'lost', 'done'), { minLength: 1, maxLength: 6 }),
      async (faults) => {
        const storage = await openEmbeddedStorage({ directory: t.testdir() })
        const left = [...faults]
        const fail = async <T>(work: () => Promise<T>): Promise<T> => {
          const fault = left.shift() ?? 'done'
          if (fault === 'refused') throw new Error('the store is away')
          const result = await work()
          if (fault === 'lost') throw new Error('the answer is lost')
          return result
        }
        const { documents } = storage
        const idempotency = new Idempotency({
          ...documents,
          get: documents.get.bind(documents),
          put: (row, before) => fail(() => documents.put(row, before))
        })
        const made = new Set<string>()
        let chosen = 0
        let answered: string | null = null
        while (answered === null) {
          const request = { tenant: 'acme', operation: 'POST /x', key: 'k', content: {} }
          answered = await idempotency
            .once(
              request,
              async () => String(++chosen),
              async ({ id }) => fail(async () => (made.add(id), id))
            )
            .catch(() => null)
        }
        t.same([...made], [answered])
        await storage.close()
      }
    ),
    randomRuns(20)
  )
})
