import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WRITE_LIMIT_MS } from '../../src/kernel/http/deadline.ts'
import { key } from '../accounts/account-data.ts'
import { fakeTransactions, TIP_ACCOUNT } from '../transactions/fake-transactions.ts'
import { fakeParts } from '../webhooks/fake-parts.ts'
import { virtualClock } from '../virtual-time.ts'
import { marketApp, type Answer, type MarketApp } from './market-app.ts'
import { STALL_MS, StalledStore, WRITE_FAULTS, type WriteFault } from './stalled-store.ts'
import { NOON, transferText } from '../transactions/transaction-client.ts'

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
const watched = async (ask: Ask): Promise<string> => {
  const address = newAddress()
  await ask('POST', '/v1/revenue/accounts', { address })
  return `/v1/revenue/accounts/${address}`
}
const NODE = '/v1/admin/nodes/rpc.example.org:8899'
const HOOK = { url: 'https://receiver.example.org/hook', channels: ['launches'] }
const made = async (ask: Ask, path: string, body: object): Promise<string> =>
  String((await ask('POST', path, body)).body['id'])
const webhook = (ask: Ask): Promise<string> => made(ask, '/v1/webhooks', HOOK)
const apiKey = (ask: Ask): Promise<string> => made(ask, '/v1/admin/keys', { tenant: 'acme' })

/** A request for each endpoint that changes data; null for one that does not change the store. */
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
  'POST /v1/admin/nodes/{id}/cordon': async (ask) => {
    await ask('POST', `${NODE}/free`)
    return { path: `${NODE}/cordon` }
  },
  'POST /v1/admin/nodes/{id}/free': async (ask) => {
    await ask('POST', `${NODE}/cordon`)
    return { path: `${NODE}/free` }
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
  'DELETE /v1/revenue/accounts/{address}': async (ask) => ({ path: await watched(ask) }),
  'POST /v1/revenue/accounts/{address}/backfill': async (ask) => ({
    path: `${await watched(ask)}/backfill`,
    body: { since: 0 }
  }),
  'POST /v1/revenue/accounts/{address}/archive': async (ask) => ({
    path: `${await watched(ask)}/archive`,
    body: { rows: [], ranges: [{ from_slot: 0, to_slot: 1 }] }
  }),
  'POST /v1/tx/send': async () => ({ path: '/v1/tx/send', body: { tx: transferText(BigInt(++serial)) } }),
  'POST /v1/tx/bundle': async () => ({
    path: '/v1/tx/bundle',
    body: { txs: [transferText(BigInt(1_000_000 + ++serial), TIP_ACCOUNT)] }
  }),
  'POST /v1/rpc': null
}

/** An app whose clock moves only when a fault has happened, so that a slow machine causes no timeouts. */
async function world(t: Test) {
  const clock = virtualClock()
  const store = new StalledStore(clock)
  const app = await marketApp(
    t,
    (storage) => Object.defineProperty({ ...storage }, 'documents', { value: store.over(storage.documents) }),
    {
      webhooks: fakeParts(),
      transactions: fakeTransactions(),
      hasFaultyKeys: true,
      clock: {
        now: () => NOON + clock.now(),
        setTimeout: (run, ms) => clock.setTimeout(run, ms),
        clearTimeout: (timer) => clock.clearTimeout(timer as never)
      }
    }
  )
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
  /** Makes a request whose n-th write has a fault. Returns its answer, and whether it made n writes. */
  const askWith = async (kind: WriteFault, nth: number, ...request: Parameters<Ask>) => {
    store.begin({ kind, nth })
    const answering = ask(...request)
    const fault = await Promise.race([store.reached, answering.then(() => null)])
    if (fault === 'stalled') clock.increment(STALL_MS)
    if (fault === 'silent' || fault === 'stuck') clock.increment(WRITE_LIMIT_MS)
    return { answer: await answering, isReached: fault !== null, effects: store.effects }
  }
  return { app, store, ask, askWith }
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

/** More writes than any request has. */
const WRITES_MAX = 8

for (const [name, prepare] of Object.entries(REQUESTS)) {
  if (prepare === null) continue
  const [method = ''] = name.split(' ')
  const isRepeatable = method !== 'DELETE'

  for (const kind of WRITE_FAULTS)
    for (const isKeyed of isRepeatable ? [true, false] : [false])
      t.test(`${name}${isKeyed ? ' with a key' : ''}, a write of which is ${kind}`, async (t) => {
        const { app, store, ask, askWith } = await world(t)
        let nth = 1
        for (; nth <= WRITES_MAX; nth++) {
          if (name === 'POST /v1/webhooks' || name.includes('/webhooks/')) await removeWebhooks(ask)
          const { path, body } = await prepare(ask)
          const key = isKeyed ? randomUUID() : undefined
          const { answer, isReached, effects } = await askWith(kind, nth, method, path, body, key)
          const of = `write ${nth}: ${answer.text}`
          if (!isReached) break
          t.notMatch(answer.text, /request less data/)
          const isDone = answer.status < 300
          if (kind === 'stalled') t.ok(isDone, of)
          if (!isDone) {
            t.equal(answer.status, 503, of)
            if (answer.body.code === 'outcome_unknown') {
              t.match(answer.body.detail, /; GET \/v1\/.* shows it; /, of)
              t.match(answer.body.detail, isKeyed ? /same Idempotency-Key is safe/ : /safe|check before/, of)
            } else t.equal(effects, 0, of)
          }
          if (kind === 'refused' && effects === 0) t.not(answer.body.code, 'outcome_unknown', of)
          if (!isKeyed) {
            store.begin(null)
            if (isDone || method !== 'DELETE') continue
            const repeat = await ask(method, path)
            t.ok(repeat.status < 300 || repeat.status === 404, repeat.text)
            continue
          }
          store.begin(null)
          const repeat = await ask(method, path, body, key)
          t.ok(repeat.status < 300, `${of}, then ${repeat.text}`)
          if (isDone) t.strictSame(identityOf(repeat), identityOf(answer), 'of what the first made')
          // Where the store failed before it had the answer, a repeat gets the resource as it is.
          if (isDone && kind !== 'unsure' && kind !== 'refused')
            t.same([repeat.status, repeat.text], [answer.status, answer.text], 'the first answer')
          const done = effects + store.effects
          store.begin(null)
          const again = await ask(method, path, body, key)
          t.same([again.status, again.text], [repeat.status, repeat.text], 'each repeat gets the same')
          t.equal(store.effects, 0, 'a repeat of what is done changes nothing')
          t.equal(done, await effectsOf(name, { store, ask, prepare }), `${of}: it is done once`)
          await worksOf(t, repeat, app)
        }
        t.ok(nth > 1 && nth <= WRITES_MAX, `${nth - 1} writes`)
      })
}

/** Returns the number of effects of a request without faults. */
async function effectsOf(
  name: string,
  { store, ask, prepare }: { readonly store: StalledStore; readonly ask: Ask; readonly prepare: Prepare }
): Promise<number> {
  if (name.includes('/webhooks')) await removeWebhooks(ask)
  const [method = ''] = name.split(' ')
  const { path, body } = await prepare(ask)
  store.begin(null)
  await ask(method, path, body)
  return store.effects
}

/** Checks that a shown key is in effect. */
async function worksOf(t: Test, { body }: Answer, app: MarketApp): Promise<void> {
  if (typeof body['key'] !== 'string') return
  t.equal((await app.ask('GET', '/v1/me', { 'x-api-key': body['key'] })).status, 200, 'the key works')
}

/** A tenant has five webhooks at most. */
async function removeWebhooks(ask: Ask): Promise<void> {
  const { body } = await ask('GET', '/v1/webhooks')
  for (const { id } of body.data) await ask('DELETE', `/v1/webhooks/${String(id)}`)
}

/** Fields that identify the object that a request made. */
const identityOf = ({ body }: Answer) =>
  ['id', 'key', 'secret', 'name', 'signature', 'bundle_id', 'address', 'program', 'activation'].map(
    (field) => body[field]
  )
