import type { ServerResponse } from 'node:http'
import t from 'tap'
import { sendTestEvent } from '../../../src/webhooks/test-event.ts'
import { PooledSender } from '../../../actors/webhooks/sender.ts'
import { systemPorts } from '../../../src/ports.ts'
import { type HostLookup, UrlGuard } from '../../../src/webhooks/url-guard.ts'
import type { PostOutcome, Webhook } from '../../../src/webhooks/webhook.ts'
import { virtualClock } from '../../virtual-time.ts'
import { makeCertificate, startReceiver, type Receiver } from './receiver.ts'
import { senderOf, post, at } from './sender-under-test.ts'
import { until } from '../../until.ts'

const HOOK = { tenant: 'acme', id: 7, secrets: [] } as unknown as Webhook

t.test('TLS is verified, whatever the environment says', async (t) => {
  const pair = makeCertificate(t, 'localhost')
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end(), pair)
  const [good, byAddress] = [`https://localhost:${receiver.port}/`, `https://127.0.0.1:${receiver.port}/`]
  const lookup: HostLookup = async () => ['127.0.0.1']
  t.match(await post(senderOf(t, { lookup }), good), { error: 'tls_failed' }, 'signed by itself')
  t.match(await post(senderOf(t, { ca: pair.cert, lookup }), good), { status: 204 }, 'trusted')
  t.match(await post(senderOf(t, { ca: pair.cert }), byAddress), { error: 'tls_failed' }, 'another name')
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED)
  t.match(await post(senderOf(t, { lookup }), good), { error: 'tls_failed' })
  const plain = await startReceiver(t, (_, response) => response.writeHead(204).end())
  t.match(await post(senderOf(t), `https://127.0.0.1:${plain.port}/`), { error: 'tls_failed' }, 'no TLS')
})

t.test('a URL that is not allowed is not connected to', async (t) => {
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end())
  const refused = { kind: 'failed', error: 'url_not_allowed' }
  const { port } = receiver
  const sender = senderOf(t, { allowPrivate: false, lookup: async () => ['8.8.8.8', '127.0.0.1'] })
  for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]', 'mixed.example'])
    t.match(await post(sender, `http://${host}:${port}/`), refused, host)
  t.match(await post(sender, `http://user@public.example:${port}/`), refused)
  t.match(await post(sender, 'http://public.example:22/'), refused)
  t.equal(receiver.connections, 0)
})

t.test('a name that resolves to nothing is an outcome', async (t) => {
  const lookup: HostLookup = () => Promise.reject(new Error('ENOTFOUND'))
  t.match(await post(senderOf(t, { lookup }), 'http://unknown.example/'), { error: 'dns_failed' })
})

t.test('a name that changes after the check does not lead to the new address', async (t) => {
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end())
  const answers = [['8.8.8.8'], ['127.0.0.1']]
  let asked = 0
  const lookup: HostLookup = async () => answers[Math.min(asked++, 1)]!
  const guard = new UrlGuard({ allowPrivate: false, lookup })
  const url = `http://rebinding.example:${receiver.port}/`
  await t.resolves(guard.check(url), 'the first answer passes the check')
  const sender = new PooledSender({ guard, clock: systemPorts.clock })
  t.teardown(() => sender.close())
  t.match(await post(sender, url), { kind: 'failed', error: 'url_not_allowed' })
  t.equal(asked, 2, 'a connection resolves the name once')
  t.equal(receiver.connections, 0)
})

t.test('connections are used again without resolving the name, for a minute', async (t) => {
  const clock = virtualClock()
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end())
  let asked = 0
  const lookup: HostLookup = async () => {
    asked++
    return ['127.0.0.1']
  }
  const sender = senderOf(t, { clock, lookup })
  const url = `http://receiver.example:${receiver.port}/`
  for (let each = 0; each < 20; each++) t.match(await post(sender, url), { status: 204 })
  // A connection is free again a moment after its answer: the next POST may need a second one.
  const opened = receiver.connections
  t.ok(opened <= 2)
  t.equal(asked, opened)
  clock.increment(60_000)
  t.equal(sender.origins, 0)
  t.match(await post(sender, url), { status: 204 })
  t.same([asked, receiver.connections], [opened + 1, opened + 1])
})

t.test('a POST in flight survives the age of its connection', async (t) => {
  const clock = virtualClock()
  const open: ServerResponse[] = []
  const receiver = await startReceiver(t, (_, response) => void open.push(response))
  const sender = senderOf(t, { clock, tuning: { connectionAgeMs: 5_000 } })
  const outcome = post(sender, at(receiver))
  await until(() => open.length === 1)
  clock.increment(5_000)
  t.equal(sender.origins, 0)
  open[0]!.writeHead(204).end()
  t.match(await outcome, { status: 204 })
})

t.test('connections are kept to a limited number of receivers, the last used ones', async (t) => {
  const sender = senderOf(t, { tuning: { poolsMax: 2 } })
  const receivers: Receiver[] = []
  for (let each = 0; each < 3; each++)
    receivers.push(await startReceiver(t, (_, response) => response.writeHead(204).end()))
  const ports = async (index: number): Promise<number> => {
    await post(sender, at(receivers[index]!))
    return receivers[index]!.received.at(-1)!.remotePort
  }
  const used = new Set([await ports(0)])
  const evicted = await ports(1)
  used.add(await ports(0))
  await ports(2)
  t.ok(used.has(await ports(0)), 'the first was used after the second')
  t.not(await ports(1), evicted)
  t.equal(sender.origins, 2)
})

t.test('a tenant of hanging receivers delays no POST of another tenant', async (t) => {
  const hanging = await startReceiver(t, () => undefined)
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end())
  const sender = senderOf(t, { tuning: { concurrency: 4, tenantConcurrency: 2, tenantWaitingMax: 3 } })
  const end = new AbortController()
  const stuck = Array.from({ length: 8 }, () =>
    post(sender, at(hanging), { tenant: 'stuck', signal: end.signal })
  )
  await until(() => hanging.received.length === 2)
  t.same([sender.inFlight, sender.waiting], [2, 3])
  t.match(await stuck.at(-1), { kind: 'failed', error: 'too_many_posts' }, 'further POSTs fail at once')
  for (let each = 0; each < 5; each++)
    t.match(await post(sender, at(receiver), { tenant: 'healthy' }), { status: 204 })
  end.abort()
  t.match(await Promise.all(stuck.slice(0, 5)), Array(5).fill({ kind: 'failed', error: 'aborted' }))
  await until(() => sender.inFlight === 0 && sender.waiting === 0)
  t.equal(hanging.received.length, 2, 'those that waited were never sent')
})

t.test('thirty test events to a receiver that hangs all have an outcome within 25 s', async (t) => {
  const clock = virtualClock()
  const hanging = await startReceiver(t, () => undefined)
  const sender = senderOf(t, { clock })
  const hook = { ...HOOK, url: at(hanging) }
  const signer = { headers: () => ({}) }
  const outcomes: string[] = []
  const events = Array.from({ length: 30 }, async () => {
    const { error } = await sendTestEvent(hook, { signer, sender, clock }, new AbortController().signal)
    outcomes.push(String(error))
  })
  await until(() => hanging.received.length === 8)
  clock.increment(10_000)
  await until(() => hanging.received.length === 16)
  t.equal(outcomes.length, 8)
  clock.increment(5_000)
  await until(() => outcomes.length === 22)
  clock.increment(10_000)
  await Promise.all(events)
  t.strictSame(
    Object.entries(Object.groupBy(outcomes, (error) => error)).map(([error, all]) => [error, all!.length]),
    [
      ['timeout', 16],
      ['too_many_posts', 14]
    ]
  )
  t.equal(hanging.received.length, 16, 'those that waited too long were never sent')
})

t.test('receivers that timed out have half of the places at most', async (t) => {
  const clock = virtualClock()
  const hanging = await startReceiver(t, () => undefined)
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end())
  const sender = senderOf(t, { clock, tuning: { concurrency: 4 } })
  const tenants = ['a', 'b', 'c', 'd', 'e']
  const posts = (): Promise<PostOutcome>[] =>
    tenants.slice(0, 4).map((tenant) => post(sender, at(hanging, `/${tenant}`), { tenant }))
  const first = posts()
  await until(() => hanging.received.length === 4)
  clock.increment(10_000)
  t.match(await Promise.all(first), Array(4).fill({ error: 'timeout' }))
  const second = posts()
  await until(() => hanging.received.length === 6)
  t.same([sender.inFlight, sender.waiting], [2, 2])
  t.match(await post(sender, at(receiver), { tenant: 'e' }), { status: 204 })
  await sender.close()
  t.match(await Promise.all(second), Array(4).fill({ error: 'aborted' }))
})

t.test('an aborted POST ends at once, while it waits and in flight', async (t) => {
  const hanging = await startReceiver(t, () => undefined)
  const sender = senderOf(t, { tuning: { tenantConcurrency: 1 } })
  const [first, second] = [new AbortController(), new AbortController()]
  const inFlight = post(sender, at(hanging), { signal: first.signal })
  const waiting = post(sender, at(hanging), { signal: second.signal })
  await until(() => hanging.received.length === 1)
  second.abort()
  t.match(await waiting, { kind: 'failed', error: 'aborted', durationMs: 0 })
  first.abort()
  t.match(await inFlight, { kind: 'failed', error: 'aborted' })
  t.match(await post(sender, at(hanging), { signal: AbortSignal.abort() }), { error: 'aborted' })
  t.equal(hanging.received.length, 1)
})

t.test('a sender that closes ends its POSTs, and takes no more', async (t) => {
  const hanging = await startReceiver(t, () => undefined)
  const sender = senderOf(t)
  const outcome = post(sender, at(hanging))
  await until(() => hanging.received.length === 1)
  await sender.close()
  t.match(await outcome, { kind: 'failed', error: 'aborted' })
  t.match(await post(sender, at(hanging)), { kind: 'failed', error: 'aborted' })
  t.equal(hanging.connections, 1)
})

t.test('an error that nobody has met yet is a failed connection', async (t) => {
  const sender = senderOf(t)
  const outcome = await post(sender, 'http://127.0.0.1:9999/', { headers: { 'bad\nname': 'x' } })
  t.match(outcome, { kind: 'failed', error: 'connection_failed' })
})
