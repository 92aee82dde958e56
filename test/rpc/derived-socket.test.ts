import { once } from 'node:events'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { HandshakeListener } from '../../actors/edge/handshake-listener.ts'
import { HandshakeOpening } from '../../actors/edge/handshake-opening.ts'
import { httpBounds } from '../../src/kernel/http/bounds.ts'
import type { RpcSocketGateway } from '../../src/rpc/pubsub/gateway.ts'
import { StartRefused } from '../../machines/start-refused.ts'
import { fakeRpc } from './fake-rpc.ts'
import { answersIn, listeningApp, RawClient, type ListeningApp } from '../http/raw-client.ts'

const HANDSHAKE = [
  // A refused handshake is answered like any request; its connection would stay open.
  'Connection: Upgrade, close',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
]

/** Admits every connection, and closes it at once. */
const CLOSING: RpcSocketGateway = { admits: () => true, open: (socket) => socket.terminate() }

async function served(t: Test): Promise<ListeningApp & { readonly rpcKey: string }> {
  const app = await listeningApp(t, undefined, {
    bounds: { ...httpBounds(Infinity), lingerMs: 50 },
    rpc: fakeRpc(),
    rpcSockets: CLOSING,
    stream: { ...CLOSING, health: null as never }
  })
  return Object.assign(app, { rpcKey: await app.makeKey(['rpc:read', 'stream']) })
}

/** Sends a handshake, and returns everything that was received. */
function shake(port: number, path: string, fields: readonly string[] = []): Promise<string> {
  const head = [`GET ${path} HTTP/1.1`, `Host: localhost:${port}`, ...HANDSHAKE, ...fields, '', '']
  return new RawClient(port).send(head.join('\r\n')).received
}

const opened = async (received: Promise<string>): Promise<string> => answersIn(await received).join()

t.test(
  'a handshake at the RPC URL opens its socket, whatever the slash and the name of the key',
  async (t) => {
    const { port, rpcKey } = await served(t)
    for (const path of ['/v1/rpc', '/v1/rpc/', '/v1/rpc/ws', '/v1/rpc/ws/']) {
      for (const name of ['api-key', 'key'])
        t.equal(await opened(shake(port, `${path}?${name}=${rpcKey}`)), '101', `${path}, ${name}`)
      t.equal(await opened(shake(port, path, [`X-API-Key: ${rpcKey}`])), '101', `${path}, a header`)
      t.equal(await opened(shake(port, path)), '401 missing_api_key', `${path}, no key`)
      t.equal(await opened(shake(port, `${path}?key=${rpcKey}&api-key=another`)), '401 invalid_api_key')
      t.equal(await opened(shake(port, `${path}?key=${rpcKey}&api-key=${rpcKey}`)), '101', 'the key twice')
    }
    for (const name of ['api-key', 'key'])
      t.equal(await opened(shake(port, `/v1/stream?${name}=${rpcKey}`)), '101', `the stream, ${name}`)
    t.equal(await opened(shake(port, `/v1/rpcs?key=${rpcKey}`)), '404 unknown_route')
    t.equal(await opened(shake(port, `/v1/rpc//?key=${rpcKey}`)), '404 unknown_route')
  }
)

t.test('requests that are no handshake are those of the RPC URL, with and without a slash', async (t) => {
  const app = await served(t)
  const { rpcKey } = app
  const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'
  const type = { 'content-type': 'application/json' }
  for (const path of ['/v1/rpc', '/v1/rpc/']) {
    for (const name of ['api-key', 'key'])
      t.match(await app.ask('POST', `${path}?${name}=${rpcKey}`, type, body), {
        status: 200,
        body: { id: 1 }
      })
    t.match(await app.ask('POST', path, type, body), { status: 401, body: { error: { code: -32600 } } })
    const read = await app.get(`${path}?api-key=${rpcKey}`)
    t.match([read.status, read.headers.allow], [405, 'POST'], `${path}: GET`)
  }
  const read = await app.get(`/v1/rpc/ws/?api-key=${rpcKey}`, {})
  t.match([read.status, read.headers.upgrade], [426, 'websocket'])
})

t.test(
  'on the handshake port only handshakes of the RPC URL are served; refusals name the right URL',
  async (t) => {
    const app = await served(t)
    const { port, rpcKey } = app
    const logged: string[] = []
    const logger = { info: (line: string) => logged.push(line), warn: (line: string) => logged.push(line) }
    const place = { host: '127.0.0.1', backlog: 10, isPortShared: false, logger: logger as never }
    const opening = new HandshakeOpening({ ...place, handshakePort: 'next' })
    let listener = await opening.open(app.app, port, true)
    // The next port may be in use; any other does as well.
    const free = listener === null ? await freePort() : port + 1
    listener ??= await HandshakeListener.open(app.app, free, { backlog: 10, reusePort: false })
    t.teardown(() => listener.close())
    for (const path of ['/v1/rpc', '/v1/rpc/', '/v1/rpc/ws'])
      t.equal(await opened(shake(free, `${path}?api-key=${rpcKey}`)), '101', path)
    t.equal(await opened(shake(free, '/v1/rpc')), '401 missing_api_key')
    const page = [`Origin: http://localhost:${port}`]
    t.equal(await opened(shake(free, `/v1/rpc?key=${rpcKey}`, page)), '101', "the service's own page")
    t.equal(
      await opened(shake(free, `/v1/rpc?key=${rpcKey}`, [`Origin: http://localhost:${free + 1}`])),
      '403 origin_not_allowed'
    )
    const stream = await shake(free, `/v1/stream?key=${rpcKey}`)
    t.match(answersIn(stream), ['404 unknown_route'])
    t.match(stream, `use ws://localhost:${port}/v1/stream"`)
    t.notMatch(stream, rpcKey)
    for (const [method, path] of [
      ['POST', '/v1/rpc'],
      ['GET', '/v1/rpc'],
      ['GET', '/v1/health'],
      ['GET', '/v1/launches'],
      ['GET', '/nothing']
    ] as const) {
      const body = method === 'POST' ? '{"jsonrpc":"2.0","id":1,"method":"getSlot"}' : ''
      const fields = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`]
      const head = [
        `${method} ${path}?api-key=${rpcKey} HTTP/1.1`,
        `Host: localhost:${free}`,
        `X-API-Key: ${rpcKey}`,
        ...fields,
        'Connection: close',
        '',
        body
      ]
      const received = await new RawClient(free).send(head.join('\r\n')).received
      // A JSON-RPC client gets the refusal in the form that it reads.
      if (method === 'POST') t.match(received, /^HTTP\/1.1 426 [^]*"code":-32600,"message":"this port/)
      else t.match(answersIn(received), ['426 upgrade_required'], path)
      t.match(received, new RegExp(`use http://localhost:${port}${path}"`))
      t.match(received, /^upgrade: websocket\r$/im)
    }
    t.equal(await opened(new RawClient(free).send('nonsense\r\n\r\n').received), '400 invalid_parameter')

    app.draining = true
    t.equal(await opened(shake(free, `/v1/rpc?key=${rpcKey}`)), '503 draining')
  }
)

t.test('the next port may be in use: the service runs without it, and says what to do', async (t) => {
  const { app } = await served(t)
  const port = (await usedPort(t)) - 1
  const warned: string[] = []
  const logger = { info: () => undefined, warn: (line: string) => void warned.push(line) } as never
  const place = { host: '127.0.0.1', backlog: 10, isPortShared: false, logger }
  t.equal(await new HandshakeOpening({ ...place, handshakePort: 'next' }).open(app, port, true), null)
  t.match(warned, [
    new RegExp(
      `^cannot listen on 127.0.0.1:${port + 1} \\(EADDRINUSE\\): .*web3.js.* ws://.*/v1/rpc .*MILLRACE_RPC_WS_COMPAT_PORT .* off$`
    )
  ])
  await t.rejects(
    new HandshakeOpening({ ...place, handshakePort: port + 1 }).open(app, port, true),
    new StartRefused(
      `cannot listen on 127.0.0.1:${port + 1} (EADDRINUSE): another process listens there: end it, or set MILLRACE_RPC_WS_COMPAT_PORT (--rpc-ws-compat-port) to a free port`
    )
  )
  t.equal(await new HandshakeOpening({ ...place, handshakePort: 'next' }).open(app, 65_535, true), null)
  t.match(warned[1], /65536 \(no such port\)/)
  t.equal(await new HandshakeOpening({ ...place, handshakePort: port + 1 }).open(app, port, false), null)
  t.match(warned[2], /MILLRACE_RPC_WS_COMPAT_PORT .*has no effect/)
  t.equal(await new HandshakeOpening({ ...place, handshakePort: null }).open(app, port, true), null)
  t.equal(warned.length, 3)
})

/** Returns a port that this process listens at until the end of the test. */
async function usedPort(t: Test): Promise<number> {
  const server = createServer().on('connection', (socket) => socket.destroy())
  server.listen({ host: '0.0.0.0', port: 0 })
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as { port: number }).port
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
