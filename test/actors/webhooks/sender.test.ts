import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import t from 'tap'
import { version } from '../../../src/version.ts'
import type { HostLookup } from '../../../src/webhooks/url-guard.ts'
import type { PostOutcome } from '../../../src/webhooks/webhook.ts'
import { virtualClock } from '../../virtual-time.ts'
import { startRawReceiver, startReceiver, startUnreadReceiver } from './receiver.ts'
import { BODY, never, senderOf, post, at, atDeadline } from './sender-under-test.ts'
import { until } from '../../until.ts'

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
    // On a slow machine the sender may end the unused connection first.
    socket.once('close', () => hasRead.resolve())
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
