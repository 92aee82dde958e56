import t from 'tap'
import type { TransactionStatus, TxApi } from '../../src/client/api.ts'
import type { Subscription } from '../../src/client/subscription.ts'
import { SubmissionChanges } from '../../src/client/submission-changes.ts'
import { transactionsOf } from '../../src/client/transactions.ts'
import { advance, settle, virtualClock } from '../virtual-time.ts'
import { json, lost, problem, ScriptedService } from './scripted-service.ts'

const status = (more: Partial<TransactionStatus> = {}): TransactionStatus =>
  ({
    signature: 'S',
    status: 'unknown',
    state: 'sent',
    slot: null,
    err: null,
    expired: false,
    tracking: true,
    evidence: null,
    ...more
  }) as TransactionStatus
const CONFIRMED = status({ status: 'confirmed', state: 'confirmed', slot: 5, tracking: false })
const FINALIZED = status({ status: 'finalized', state: 'finalized', slot: 5, tracking: false })

/** A stream whose items a test gives. */
class FakeStream {
  readonly opened: FakeSubscription[] = []

  subscribe(): Subscription<'tx'> {
    const subscription = new FakeSubscription()
    this.opened.push(subscription)
    return subscription as unknown as Subscription<'tx'>
  }
}

class FakeSubscription implements AsyncIterableIterator<object> {
  isClosed = false
  #next: PromiseWithResolvers<IteratorResult<object>> = Promise.withResolvers()

  give(item: object): void {
    this.#next.resolve({ done: false, value: item })
  }

  fail(error: Error): void {
    this.#next.reject(error)
  }

  async next(): Promise<IteratorResult<object>> {
    const result = await this.#next.promise
    this.#next = Promise.withResolvers()
    return result
  }

  close(): void {
    this.isClosed = true
    this.#next.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** Transactions over a status that the test sets, and a stream. */
function world(stream: FakeStream | null) {
  const clock = virtualClock()
  const state = { status: status(), reads: 0 }
  const api = {
    status: async () => {
      state.reads++
      return state.status
    }
  } as unknown as TxApi
  const changes = new SubmissionChanges(() => {
    if (stream === null) throw new TypeError('this platform has no WebSocket')
    return stream as never
  })
  return { clock, state, tx: transactionsOf(api, changes, clock) }
}

const changeOf = (signature: string): object => ({ kind: 'transaction', data: { signature } })

t.test('follow yields each change that the stream reports, and reads nothing in between', async (t) => {
  const stream = new FakeStream()
  const { clock, state, tx } = world(stream)
  const seen: unknown[] = []
  const following = (async () => {
    for await (const one of tx.follow('S')) seen.push(one.state)
  })()
  await settle()
  t.same(seen, ['sent'])
  await advance(clock, 5_000)
  stream.opened[0]!.give(changeOf('of another'))
  await settle()
  t.equal(state.reads, 1)
  for (const next of [CONFIRMED, CONFIRMED, FINALIZED]) {
    state.status = next
    stream.opened[0]!.give(changeOf('S'))
    await settle()
  }
  await following
  t.same(seen, ['sent', 'confirmed', 'finalized'], 'an equal status is no change')
  t.equal(state.reads, 4)
  t.ok(stream.opened[0]!.isClosed)
})

t.test('all that are followed share one subscription, which ends with the last of them', async (t) => {
  const stream = new FakeStream()
  const { state, tx } = world(stream)
  const leaving = new AbortController()
  const reason = new Error('left')
  const first = tx.wait('S')
  const second = tx.wait('T', { signal: leaving.signal })
  await settle()
  t.equal(stream.opened.length, 1)
  leaving.abort(reason)
  await t.rejects(second, reason)
  t.notOk(stream.opened[0]!.isClosed)
  state.status = CONFIRMED
  stream.opened[0]!.give({ kind: 'gap' })
  t.match(await first, { state: 'confirmed' }, 'a gap makes it read the status')
  t.ok(stream.opened[0]!.isClosed)
  state.status = status()
  const third = tx.wait('U')
  await settle()
  t.equal(stream.opened.length, 2)
  state.status = CONFIRMED
  stream.opened[1]!.give(changeOf('U'))
  await third
})

t.test('without a stream, or without its scope, the status is polled every two seconds', async (t) => {
  const bare = world(null)
  const waiting = bare.tx.wait('S')
  await advance(bare.clock, 3_999)
  t.equal(bare.state.reads, 2)
  bare.state.status = CONFIRMED
  await advance(bare.clock, 1)
  t.match(await waiting, { slot: 5 })
  const stream = new FakeStream()
  const refused = world(stream)
  const polled = refused.tx.wait('S')
  await settle()
  stream.opened[0]!.fail(new Error('insufficient_scope'))
  await advance(refused.clock, 1)
  refused.state.status = CONFIRMED
  await advance(refused.clock, 2_000)
  t.match(await polled, { slot: 5 })
  await settle()
  t.equal(stream.opened.length, 1, 'it is not tried again')
})

t.test('with a stream that reports nothing, the status is read every 15 seconds', async (t) => {
  const { clock, state, tx } = world(new FakeStream())
  const waiting = tx.wait('S')
  await advance(clock, 14_999)
  t.equal(state.reads, 1)
  state.status = CONFIRMED
  await advance(clock, 1)
  t.match(await waiting, { state: 'confirmed' })
})

t.test('a transaction ends where nothing is left to wait for', async (t) => {
  for (const [last, until] of [
    [CONFIRMED, 'confirmed'],
    [FINALIZED, 'finalized'],
    [status({ state: 'failed', status: 'finalized', err: { code: 1 } }), 'finalized'],
    [status({ state: 'expired', expired: true, tracking: false }), 'confirmed'],
    [status({ state: 'sent', tracking: false }), 'confirmed'],
    [status({ state: null, status: 'finalized', tracking: false }), 'finalized'],
    [{ ...CONFIRMED, err: { code: 1 } }, 'finalized']
  ] as const) {
    const { state, tx } = world(new FakeStream())
    state.status = last
    t.equal(await tx.wait('S', { until }), last, JSON.stringify(last))
  }
  const { clock, state, tx } = world(new FakeStream())
  state.status = CONFIRMED
  const waiting = tx.wait('S', { until: 'finalized' })
  await advance(clock, 15_000)
  t.equal(state.reads, 2, 'a confirmed one is not final yet')
  state.status = FINALIZED
  await advance(clock, 15_000)
  t.match(await waiting, { state: 'finalized' })
})

t.test('a transaction is taken as bytes, as base64, and from an object of web3.js', async (t) => {
  const service = new ScriptedService(json({ signature: 'S' }))
  const { tx } = service.client()
  const bytes = Uint8Array.of(1, 2, 250)
  await tx.send(bytes, { skip_preflight: false, idempotencyKey: 'k' })
  await tx.send({ serialize: () => bytes })
  await tx.send('AQL6', { via: 'jito', revert_protection: true })
  await tx.bundles.send([bytes, 'AQL6'])
  t.same(
    service.sent.map(({ path, body }) => [path.replace('/millrace', ''), body]),
    [
      ['/v1/tx/send', { tx: 'AQL6', skip_preflight: false }],
      ['/v1/tx/send', { tx: 'AQL6' }],
      ['/v1/tx/send', { tx: 'AQL6', via: 'jito', revert_protection: true }],
      ['/v1/tx/bundle', { txs: ['AQL6', 'AQL6'] }]
    ]
  )
  t.equal(service.sent[0]!.headers.get('idempotency-key'), 'k')
  t.equal(service.sent[1]!.headers.get('idempotency-key'), null, 'its signature identifies it')
})

t.test('a transaction is sent again after a lost answer, without an idempotency key', async (t) => {
  const service = new ScriptedService(lost, json({ signature: 'S', repeated: true }))
  t.match(await service.outcome(service.client().tx.send('AQL6')), { signature: 'S' })
  t.same(
    service.sent.map(({ headers }) => headers.get('idempotency-key')),
    [null, null]
  )
})

t.test('a bundle is polled until it has landed, or has failed', async (t) => {
  const service = new ScriptedService(
    json({ status: 'pending', submitted_at: 'x' }),
    json({ status: 'landed', confirmation_status: 'processed' }),
    json({ status: 'landed', confirmation_status: 'confirmed' })
  )
  t.match(await service.outcome(service.client().tx.bundles.wait('b')), { confirmation_status: 'confirmed' })
  t.equal(service.sent.length, 3)
  const failed = new ScriptedService(json({ status: 'failed', reason: 'blockhash_expired' }))
  t.match(await failed.client().tx.bundles.wait('b'), { reason: 'blockhash_expired' })
})

t.test('JSON-RPC has the URLs of a service, and its errors', async (t) => {
  const service = new ScriptedService(
    json({ jsonrpc: '2.0', id: 1, result: 42 }),
    json({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'Invalid param', data: { field: 'x' } } }),
    json({ jsonrpc: '2.0', id: 1, error: { code: -32010, message: 'not whitelisted' } }, 403),
    problem(401, 'invalid_api_key')
  )
  const { rpc } = service.client({ key: 'a&b' })
  t.equal(rpc.url, 'https://api.example/millrace/v1/rpc?api-key=a%26b')
  t.equal(rpc.socketUrl, 'wss://api.example/millrace/v1/rpc?api-key=a%26b')
  t.equal(await rpc.call<number>('getSlot', [{ commitment: 'confirmed' }]), 42)
  t.match(service.sent[0]!.body, { method: 'getSlot', params: [{ commitment: 'confirmed' }] })
  await t.rejects(rpc.call('getBalance'), { name: 'RpcError', code: -32602, data: { field: 'x' } })
  await t.rejects(rpc.call('getProgramAccounts'), { name: 'RpcError', code: -32010 })
  await t.rejects(rpc.call('getSlot'), { name: 'ApiError', code: 'invalid_api_key' })
})

t.test('a read over JSON-RPC is repeated after a lost answer, an airdrop is not', async (t) => {
  const away = json({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no node' } }, 502)
  const service = new ScriptedService(away)
  await t.rejects(service.outcome(service.client().rpc.call('getSlot')), { code: -32603 })
  t.equal(service.sent.length, 3)
  await t.rejects(service.outcome(service.client().rpc.call('requestAirdrop')), { code: -32603 })
  t.equal(service.sent.length, 4)
})
