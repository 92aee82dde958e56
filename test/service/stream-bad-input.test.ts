import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { until } from './asking.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import { ADMIN_KEY, type ServiceProcess } from './service-process.ts'
import { ownDirectory } from '../own-directory.ts'

interface Message {
  readonly type: string
  readonly code?: string
  readonly message?: string
  readonly channels?: readonly string[]
}

/** A client whose messages a test awaits one by one. */
class Client {
  readonly socket: WebSocket
  readonly closed: Promise<number>
  readonly #messages: Message[] = []
  #wake: () => void = () => undefined

  constructor(url: string, options: WebSocket.ClientOptions = {}) {
    this.socket = new WebSocket(url, options)
    this.socket.on('message', (data: Buffer) => {
      this.#messages.push(JSON.parse(data.toString()) as Message)
      this.#wake()
    })
    this.socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => this.socket.once('close', resolve))
  }

  async next(): Promise<Message> {
    while (this.#messages.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.#messages.shift()!
  }
}

async function keyOf(
  service: ServiceProcess,
  scopes: readonly string[]
): Promise<{ key: string; id: string }> {
  const body = JSON.stringify({ tenant: 'operator', scopes, rate_limit_per_minute: 10_000 })
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  for (;;) {
    const made = await fetch(`${service.url}/v1/admin/keys`, { method: 'POST', headers, body })
    // A busy machine may pass the deadline of a request.
    if (made.status !== 503) return (await made.json()) as { key: string; id: string }
  }
}

/** Returns the status of a refused upgrade; 101 if it succeeds. */
function upgradeStatus(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const socket = new WebSocket(url, { headers })
  socket.on('error', () => undefined)
  return new Promise((resolve) => {
    socket.once('unexpected-response', (_request, response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    socket.once('open', () => {
      socket.terminate()
      resolve(101)
    })
  })
}

/** Opens a connection without a client library, to write frames that no client writes. */
async function rawUpgrade(url: URL, key: string): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname)
  socket.on('error', () => undefined)
  socket.write(
    `GET /v1/stream?key=${key} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n'
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString().startsWith('HTTP/1.1 101')) throw new Error(head.toString())
  if (/permessage-deflate/i.test(head.toString())) throw new Error('compression was agreed to')
  return socket
}

t.test('a stream and what it is not meant for', async (t) => {
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '100'])
  const stream = `${service.url.replace('http', 'ws')}/v1/stream`
  const { key, id } = await keyOf(service, ['stream'])
  const good = new Client(`${stream}?key=${key}`)
  t.match(await good.next(), { type: 'hello', tenant: 'operator' })
  good.socket.send(JSON.stringify({ subscribe: ['venue:pumpswap'] }))
  t.match(await good.next(), { type: 'subscribed' })

  void t.test(
    'a missing or wrong key is refused with 403, another scope too; a key in the header is taken',
    async (t) => {
      const other = await keyOf(service, ['data:read'])
      t.equal(await upgradeStatus(stream), 403)
      t.equal(await upgradeStatus(`${stream}?key=nonsense`), 403)
      t.equal(await upgradeStatus(`${stream}?key=${other.key}`), 403)
      t.equal(await upgradeStatus(`${stream}?key=${key}`, { 'x-api-key': other.key }), 403, 'two that differ')
      t.equal(await upgradeStatus(stream, { 'x-api-key': key }), 101)
      t.equal(await upgradeStatus(stream, { authorization: `Bearer ${key}` }), 101)
      t.equal(
        await upgradeStatus(`${service.url.replace('http', 'ws')}/openapi.json`),
        200,
        'no other path is upgraded'
      )
      t.equal((await fetch(`${service.url}/v1/stream?key=${key}`)).status, 426)
      t.equal(
        (await fetch(`${service.url}/v1/me?key=${key}`)).status,
        401,
        'nor does another take a key in the query'
      )
    }
  )

  void t.test('what is no message is answered, and the connection goes on', async (t) => {
    const client = new Client(`${stream}?key=${key}`)
    await client.next()
    for (const text of ['{', '[1]', '{"subscribe":"launches"}', '{"__proto__":{"ping":true}}']) {
      client.socket.send(text)
      t.match(await client.next(), { type: 'error', code: 'invalid_json' }, text)
    }
    client.socket.send(Buffer.from([1, 2, 3]), { binary: true })
    t.match(await client.next(), { code: 'invalid_json', message: /binary/ })
    client.socket.send(JSON.stringify({ subscribe: ['x'.repeat(30_000)] }))
    t.match(await client.next(), { code: 'unknown_channel' })
    client.socket.send(JSON.stringify({ subscribe: ['venue:uniswap', 'trades:0', 'launches'] }))
    t.match(await client.next(), { code: 'unknown_channel', channels: ['venue:uniswap'] })
    t.match(await client.next(), { code: 'invalid_address', channels: ['trades:0'] })
    t.match(await client.next(), { type: 'subscribed', channels: ['launches'] })
    client.socket.terminate()
  })

  void t.test('a message of 2 MB closes its connection with 1009', async (t) => {
    const client = new Client(`${stream}?key=${key}`)
    await client.next()
    client.socket.send(JSON.stringify({ subscribe: ['y'.repeat(2 ** 21)] }))
    t.equal(await client.closed, 1009)
  })

  void t.test('a thousand messages a second are not read, and far more close with 4429', async (t) => {
    const client = new Client(`${stream}?key=${key}`)
    await client.next()
    for (let n = 0; n < 5_000; n++) client.socket.send('{"ping":true}')
    t.equal(await client.closed, 4429)
  })

  void t.test('a compressed frame ends its connection: nothing is ever unpacked', async (t) => {
    const socket = await rawUpgrade(new URL(service.url), key)
    const ended = once(socket, 'close')
    // A final text frame with the compression bit, masked, of 4 bytes.
    socket.write(Buffer.from([0xc1, 0x84, 0, 0, 0, 0, 0x4b, 0x4c, 0x04, 0x00]))
    await ended
    t.pass('it is gone')
  })

  void t.test('the 21st connection of a key is refused with 429', async (t) => {
    const crowd = await keyOf(service, ['stream'])
    const clients = Array.from({ length: 20 }, () => new Client(`${stream}?key=${crowd.key}`))
    for (const client of clients) t.match(await client.next(), { type: 'hello' })
    t.equal(await upgradeStatus(`${stream}?key=${crowd.key}`), 429)
    clients[0]!.socket.close()
    await clients[0]!.closed
    await until(
      async () => (await upgradeStatus(`${stream}?key=${crowd.key}`)) === 101,
      'there is room again'
    )
    for (const { socket } of clients) socket.terminate()
  })

  void t.test('all the while the good client is told, and its revoked key closes it', async (t) => {
    t.match(await good.next(), { type: 'event', channel: 'venue:pumpswap' })
    const health = await service.get('/v1/stream/health', null)
    t.match(health, { status: 200, body: { status: 'ok', dropped_total: 0 } })
    const answer = await fetch(`${service.url}/v1/admin/keys/${id}`, {
      method: 'DELETE',
      headers: { 'x-api-key': ADMIN_KEY }
    })
    t.equal(answer.status, 200)
    t.equal(await good.closed, 4401)
    await endsWell(t, service)
  })
})

/** Asserts that the service has noticed nothing and ends normally. */
async function endsWell(t: Test, service: ServiceProcess): Promise<void> {
  t.match(await service.end('SIGTERM'), { code: 0 })
  t.strictSame(
    service.stderr.filter((line) => /"level":[56]0/.test(line)),
    []
  )
}
