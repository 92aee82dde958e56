import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { PooledSender, type SenderTuning } from '../../../actors/webhooks/sender.ts'
import { systemPorts, type Clock } from '../../../src/ports.ts'
import { version } from '../../../src/version.ts'
import { UrlGuard, type HostLookup } from '../../../src/webhooks/url-guard.ts'
import type { PostOutcome } from '../../../src/webhooks/webhook.ts'
import { settle, virtualClock, type VirtualClock } from '../../virtual-time.ts'
import {
  makeCertificate,
  startRawReceiver,
  startReceiver,
  startUnreadReceiver,
  type Receiver
} from './receiver.ts'

const BODY = Buffer.from('{"webhook_id":1,"batch_ts":1,"events":[]}')
const never = new AbortController().signal

interface Options {
  readonly clock?: Clock
  readonly lookup?: HostLookup
  readonly allowPrivate?: boolean
  readonly tuning?: Partial<SenderTuning>
  readonly ca?: string
}

function senderOf(
  t: Test,
  { clock = systemPorts.clock, lookup, allowPrivate = true, tuning = {}, ca }: Options = {}
): PooledSender {
  const guard = new UrlGuard({ allowPrivate, ...(lookup !== undefined && { lookup }) })
  const sender = new PooledSender({ guard, clock, tuning, ...(ca !== undefined && { ca }) })
  t.teardown(() => sender.close())
  return sender
}

const post = (
  sender: PooledSender,
  url: string,
  { tenant = 'acme', signal = never, headers = {} } = {}
): Promise<PostOutcome> => sender.post(tenant, { url, headers, body: BODY }, signal)

const at = ({ port }: { readonly port: number }, path = '/hook'): string => `http://127.0.0.1:${port}${path}`

/** Resolves when a condition holds. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** Moves a virtual clock to the deadline, and resolves with the outcome. */
async function atDeadline(clock: VirtualClock, outcome: Promise<PostOutcome>): Promise<PostOutcome> {
  clock.increment(9_999)
  await settle()
  let isOver = false
  void outcome.then(() => (isOver = true))
  await settle()
  if (isOver) return { ...(await outcome), kind: 'failed', error: 'ended before the deadline' }
  clock.increment(1)
  return outcome
}

t.test('an answer of any status is its outcome', async (t) => {
  const sender = senderOf(t)
  for (const status of [200, 201, 204, 299, 300, 301, 400, 401, 404, 410, 429, 500, 503, 599]) {
    const receiver = await startReceiver(t, (_, response) => response.writeHead(status).end())
    const outcome = await post(sender, at(receiver))
    t.match(outcome, { kind: 'answered', status, retryAfterMs: null, durationMs: Number })
    t.equal(receiver.received.length, 1)
  }
})

t.test('a receiver gets a POST with the bytes, the type, and the headers that were given', async (t) => {
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end())
  await post(senderOf(t), at(receiver, '/hook?a=b'), { headers: { 'X-MR-Attempt': '2' } })
  t.match(receiver.received, [
    {
      method: 'POST',
      url: '/hook?a=b',
      body: BODY,
      headers: {
        host: `127.0.0.1:${receiver.port}`,
        'content-type': 'application/json',
        'content-length': String(BODY.length),
        'user-agent': `Millrace-Webhooks/${version}`,
        'x-mr-attempt': '2'
      }
    }
  ])
})

t.test('a body is given back once it was sent, and no sooner', async (t) => {
  const sender = senderOf(t)
  const send = (port: number, body: Uint8Array): Promise<PostOutcome> =>
    sender.post('acme', { url: at({ port }), headers: {}, body }, never)
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end())
  const sent = Buffer.alloc(100_000, 'a')
  t.match(await send(receiver.port, sent), { kind: 'answered', status: 204 })
  t.equal(sent.length, 0)
  t.equal(receiver.received[0]!.body.toString(), 'a'.repeat(100_000))

  const memory = Buffer.alloc(100_000, 'b')
  const part = memory.subarray(0, 50_000)
  t.match(await send(receiver.port, part), { kind: 'answered', status: 204 })
  t.equal(part.length, 50_000, 'others use the memory, too')

  // More than the sockets of both sides hold.
  const unread = Buffer.alloc(32 * 2 ** 20, 'c')
  const hasRead = Promise.withResolvers<void>()
  let [read, wrong] = [0, 0]
  const hasty = await startUnreadReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    const take = (bytes: Buffer): void => {
      read += bytes.length
      // The head has other bytes.
      wrong += bytes.subarray(read < 100_000 ? bytes.lastIndexOf('\n') + 1 : 0).some((byte) => byte !== 0x63)
        ? 1
        : 0
      if (read > unread.length) hasRead.resolve()
    }
    void outcome.then(() => socket.on('data', take))
  })
  const outcome = send(hasty.port, unread)
  t.match(await outcome, { kind: 'answered', status: 200 })
  t.equal(unread.length, 32 * 2 ** 20, 'the socket still refers to it')
  await hasRead.promise
  t.equal(wrong, 0)
})

t.test('a redirect is an outcome, and is not followed', async (t) => {
  const other = await startReceiver(t, (_, response) => response.writeHead(200).end())
  for (const status of [301, 302, 303, 307, 308]) {
    const receiver = await startReceiver(t, (_, response) =>
      response.writeHead(status, { location: at(other) }).end()
    )
    t.match(await post(senderOf(t), at(receiver)), { kind: 'answered', status })
  }
  t.equal(other.received.length, 0)
})

t.test('a proxy of the environment is not used', async (t) => {
  const proxy = await startReceiver(t, (_, response) => response.writeHead(500).end())
  const receiver = await startReceiver(t, (_, response) => response.writeHead(204).end())
  const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY']
  for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : at(proxy, '')
  t.teardown(() => names.forEach((name) => delete process.env[name]))
  t.match(await post(senderOf(t), at(receiver)), { status: 204 })
  t.equal(proxy.connections, 0)
})

t.test('Retry-After is handed on with the status', async (t) => {
  const receiver = await startReceiver(t, (_, response) =>
    response.writeHead(429, { 'retry-after': '120' }).end('slow down')
  )
  t.match(await post(senderOf(t), at(receiver)), { kind: 'answered', status: 429, retryAfterMs: 120_000 })
})

t.test('a receiver that ends the connection or answers in no HTTP fails with a word for it', async (t) => {
  const OK = 'HTTP/1.1 200 OK\r\n'
  const answers: [name: string, bytes: string, error: string][] = [
    ['nothing', '', 'connection_reset'],
    ['half of the headers', OK, 'connection_reset'],
    ['half of the body', `${OK}content-length: 10\r\n\r\nhalf`, 'connection_reset'],
    ['half of a chunk', `${OK}transfer-encoding: chunked\r\n\r\n10\r\nhalf`, 'connection_reset'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'invalid_response'],
    ['a status of no number', 'HTTP/1.1 abc OK\r\n\r\n', 'invalid_response'],
    ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, 'invalid_response'],
    ['a length of no number', `${OK}content-length: ten\r\n\r\n`, 'invalid_response'],
    ['a chunk of no length', `${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`, 'invalid_response'],
    ['headers of 100 KB', `${OK}x: ${'x'.repeat(100_000)}\r\n\r\n`, 'invalid_response'],
    ['an upgrade', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'connection_reset']
  ]
  for (const [name, bytes, error] of answers) {
    const receiver = await startRawReceiver(t, (socket) => socket.end(bytes))
    t.match(await post(senderOf(t), at(receiver)), { kind: 'failed', error }, name)
  }
})

t.test('a body that is longer than stated does not spoil the next delivery', async (t) => {
  let answers = 0
  const receiver = await startRawReceiver(t, (socket) => {
    answers++
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n')
  })
  const sender = senderOf(t)
  for (let each = 0; each < 2; each++) t.match(await post(sender, at(receiver)), { status: 200 })
  t.equal(answers, 2, 'each POST had a connection of its own')
})

t.test('a reset is an outcome', async (t) => {
  const receiver = await startRawReceiver(t, (socket) => socket.resetAndDestroy())
  t.match(await post(senderOf(t), at(receiver)), { kind: 'failed', error: 'connection_reset' })
})

t.test('a port on which nothing listens is an outcome', async (t) => {
  t.match(await post(senderOf(t), 'http://127.0.0.1:1025/'), { kind: 'failed', error: 'connection_refused' })
})

t.test('a receiver that does not come to an end has until the deadline', async (t) => {
  const OK = 'HTTP/1.1 200 OK\r\n'
  const hanging: [name: string, act: (socket: Socket) => void][] = [
    ['says nothing', () => undefined],
    ['never ends its headers', (socket) => void socket.write(`${OK}x-a: b\r\n`)],
    ['begins a body and stops', (socket) => void socket.write(`${OK}content-length: 10\r\n\r\nhal`)],
    [
      'trickles bytes',
      (socket) => {
        socket.write(`${OK}content-length: 1000000\r\n\r\n`)
        const timer = setInterval(() => socket.write('x'), 1)
        socket.on('close', () => clearInterval(timer))
      }
    ]
  ]
  for (const [name, act] of hanging) {
    const clock = virtualClock()
    const sender = senderOf(t, { clock })
    let hasClosed = false
    let hasCome = false
    const receiver = await startRawReceiver(t, (socket) => {
      hasCome = true
      socket.on('close', () => (hasClosed = true))
      act(socket)
    })
    const outcome = post(sender, at(receiver))
    await until(() => hasCome)
    t.match(await atDeadline(clock, outcome), { kind: 'failed', error: 'timeout' }, name)
    await until(() => hasClosed)
    t.equal(sender.inFlight, 0, 'and has no connection afterwards')
  }
})

t.test('a name server that does not answer has until the deadline, too', async (t) => {
  const clock = virtualClock()
  const asked: string[] = []
  const lookup: HostLookup = (host) => {
    asked.push(host)
    return new Promise(() => undefined)
  }
  const outcome = post(senderOf(t, { clock, lookup }), 'http://slow.example/')
  await until(() => asked.length === 1)
  t.match(await atDeadline(clock, outcome), { kind: 'failed', error: 'timeout' })
})

t.test('of an endless body a little is read, and its connection is closed', async (t) => {
  let hasClosed = false
  let bytes = 0
  const flood = (response: ServerResponse): void => {
    const chunk = Buffer.alloc(64 * 1024)
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) bytes += chunk.length
    }
    response.writeHead(200).on('drain', more)
    response.on('close', () => (hasClosed = true))
    more()
  }
  const receiver = await startReceiver(t, (_, response) => flood(response))
  t.match(await post(senderOf(t), at(receiver)), { kind: 'answered', status: 200 })
  await until(() => hasClosed)
  t.ok(bytes < 64 * 2 ** 20)
})

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
