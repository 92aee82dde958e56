import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WRITE_LIMIT_MS } from '../../src/http/deadline.ts'
import { key } from '../accounts/account-data.ts'
import { fakeTransactions, TIP_ACCOUNT } from '../transactions/fake-transactions.ts'
import { fakeParts } from '../webhooks/fake-parts.ts'
import { marketApp, type Answer } from './market-app.ts'
import { StalledStore, type WriteFault } from './stalled-store.ts'
import { NOON, transferText } from './transaction-client.ts'

/**
 * Milliseconds of a stalled write, and of a silent one. The first is beyond the deadline of checks and the second beyond that
 * of writes, which are shortened while a store has such a fault.
 */
const STALLED = { checksMs: 300, writeMs: 1_000 }
const SILENT = { limitMs: 1_000, writeMs: 1_300 }

interface Request {
  readonly path: string
  readonly body?: object
}

type Ask = (method: string, path: string, body?: object, key?: string) => Promise<Answer>

/** Makes a request of an endpoint that changes something each time. */
type Prepare = (ask: Ask) => Promise<Request>

let serial = 0
const newAddress = (): string => {
  const address = key(9)
  new DataView(address.buffer).setUint32(0, ++serial)
  return pubkeyToBase58(address)
}
const HOOK = { url: 'https://receiver.example.org/hook', channels: ['launches'] }
const made = async (ask: Ask, path: string, body: object): Promise<string> =>
  String((await ask('POST', path, body)).body['id'])
const webhook = (ask: Ask): Promise<string> => made(ask, '/v1/webhooks', HOOK)
const apiKey = (ask: Ask): Promise<string> => made(ask, '/v1/admin/keys', { tenant: 'acme' })

/** A request for each endpoint that changes something; null for one that changes nothing of the store. */
const REQUESTS: Readonly<Record<string, Prepare | null>> = {
  'POST /v1/admin/tenants': async () => ({ path: '/v1/admin/tenants', body: { name: `t${++serial}` } }),
  'POST /v1/admin/keys': async () => ({ path: '/v1/admin/keys', body: { tenant: 'acme' } }),
  'DELETE /v1/admin/keys/{id}': async (ask) => ({ path: `/v1/admin/keys/${await apiKey(ask)}` }),
  'POST /v1/admin/keys/{id}/rotate': async (ask) => ({
    path: `/v1/admin/keys/${await apiKey(ask)}/rotate`,
    body: { grace_seconds: 60 }
  }),
  'POST /v1/admin/programs': async () => ({ path: '/v1/admin/programs', body: { program: newAddress() } }),
  'DELETE /v1/admin/programs/{program}': async (ask) => {
    const program = newAddress()
    await ask('POST', '/v1/admin/programs', { program })
    return { path: `/v1/admin/programs/${program}` }
  },
  'POST /v1/webhooks': async () => ({ path: '/v1/webhooks', body: HOOK }),
  'DELETE /v1/webhooks/{id}': async (ask) => ({ path: `/v1/webhooks/${await webhook(ask)}` }),
  'POST /v1/webhooks/{id}/enable': async (ask) => ({
    path: `/v1/webhooks/${await webhook(ask)}/enable`,
    body: { since: 2 ** 22 }
  }),
  'POST /v1/webhooks/{id}/rotate-secret': async (ask) => ({
    path: `/v1/webhooks/${await webhook(ask)}/rotate-secret`,
    body: { grace_seconds: 60 }
  }),
  'POST /v1/webhooks/{id}/test': null,
  'POST /v1/revenue/accounts': async () => ({
    path: '/v1/revenue/accounts',
    body: { address: newAddress(), label: 'fees' }
  }),
  'DELETE /v1/revenue/accounts/{address}': async (ask) => {
    const address = newAddress()
    await ask('POST', '/v1/revenue/accounts', { address })
    return { path: `/v1/revenue/accounts/${address}` }
  },
  'POST /v1/tx/send': async () => ({ path: '/v1/tx/send', body: { tx: transferText(BigInt(++serial)) } }),
  'POST /v1/tx/bundle': async () => ({
    path: '/v1/tx/bundle',
    body: { txs: [transferText(BigInt(1_000_000 + ++serial), TIP_ACCOUNT)] }
  }),
  'POST /v1/rpc': null
}

async function world(t: Test) {
  const store = new StalledStore({ stalled: STALLED.writeMs, silent: SILENT.writeMs })
  const app = await marketApp(
    t,
    (storage) => Object.defineProperty({ ...storage }, 'documents', { value: store.over(storage.documents) }),
    {
      webhooks: fakeParts(),
      transactions: fakeTransactions(),
      hasFaultyKeys: true,
      timerMs: (ms) => {
        if (store.fault === 'stalled') return ms === WRITE_LIMIT_MS ? ms : Math.min(ms, STALLED.checksMs)
        return store.fault === 'silent' && ms === WRITE_LIMIT_MS ? SILENT.limitMs : ms
      }
    }
  )
  app.nowMs = NOON
  const secret = await app.makeKey(['admin', 'webhooks', 'revenue', 'tx:send'])
  const ask: Ask = (method, path, body, idempotencyKey) =>
    app.ask(
      method,
      path,
      {
        'x-api-key': secret,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey })
      },
      body && JSON.stringify(body)
    )
  return { app, store, ask }
}

t.test(
  'each endpoint that changes something has a request here, and says where its change is seen',
  async (t) => {
    const { app } = await world(t)
    await app.app.ready()
    const names = app.app.served.flatMap(({ endpoint }) =>
      endpoint.method === 'GET' ? [] : [`${endpoint.method} ${endpoint.path}`]
    )
    t.strictSame(names.toSorted(), Object.keys(REQUESTS).toSorted())
    for (const { endpoint } of app.app.served) {
      const name = `${endpoint.method} ${endpoint.path}`
      if (endpoint.method === 'GET' || name === 'POST /v1/rpc') continue
      t.match(endpoint.shownBy, /^GET \/v1\//, name)
      if (endpoint.method === 'POST' && !name.endsWith('/test'))
        t.ok(endpoint.isIdempotent, `${name} accepts an Idempotency-Key`)
    }
  }
)

for (const [name, prepare] of Object.entries(REQUESTS)) {
  if (prepare === null) continue
  const [method = ''] = name.split(' ')

  t.test(`${name} waits for a store that stalls, beyond the deadline of reads`, async (t) => {
    const { store, ask } = await world(t)
    const { path, body } = await prepare(ask)
    store.begin('stalled')
    const { status, text } = await ask(method, path, body)
    t.ok(status < 300, `${status} ${text}`)
    t.ok(store.effects > 0)
  })

  t.test(`${name} with a refused write: nothing was done, or it says that it cannot know`, async (t) => {
    let isDone = false
    for (let nth = 1; !isDone && nth <= 3; nth++)
      await t.test(`write ${nth}`, async (t) => {
        const { store, ask } = await world(t)
        const { path, body } = await prepare(ask)
        store.begin(nth)
        const { status, body: answer, text } = await ask(method, path, body)
        isDone = status < 300
        t.equal(status < 300 ? 200 : status, isDone ? 200 : 503, text)
        t.notMatch(text, /request less data/)
        const mayBeDone = isDone || answer.code === 'outcome_unknown'
        t.equal(store.effects > 0, mayBeDone, text)
      })
    t.ok(isDone, 'some write is the last one')
  })

  for (const fault of ['silent', 'lost'] satisfies WriteFault[])
    t.test(`${name} whose write is ${fault}: outcome unknown, and a repeat is done once`, async (t) => {
      const { store, ask } = await world(t)
      const { path, body } = await prepare(ask)
      const idempotencyKey = method === 'POST' ? randomUUID() : undefined
      store.begin(fault)
      const first = await ask(method, path, body, idempotencyKey)
      t.match(first, { status: 503, body: { code: 'outcome_unknown' } }, first.text)
      t.match(first.body.detail, /GET \/v1\/.* shows it; repeating it .*is safe/)
      const done = store.effects
      t.ok(done > 0)
      store.begin('sound')
      const repeat = await ask(method, path, body, idempotencyKey)
      if (method === 'DELETE') return void t.ok(repeat.status < 300 || repeat.status === 404, repeat.text)
      t.ok(repeat.status < 300, repeat.text)
      const again = await ask(method, path, body, idempotencyKey)
      t.strictSame(secretsOf(again), secretsOf(repeat), 'each repeat gets the same')
      store.begin('sound')
      await ask(method, path, body, idempotencyKey)
      t.equal(store.effects, 0, 'a repeat of what is done changes nothing')
    })
}

/** Fields that identify what a request made. */
const secretsOf = ({ body }: Answer) => [
  body['id'],
  body['key'],
  body['secret'],
  body['name'],
  body['signature']
]
