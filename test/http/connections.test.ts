import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { httpBounds } from '../../src/kernel/http/bounds.ts'
import { until } from '../until.ts'
import { marketApp, type MarketApp } from './market-app.ts'
import { answersIn, listeningApp, RawClient } from './raw-client.ts'

const BOUNDS = {
  ...httpBounds(Infinity),
  requestMs: 300,
  checkMs: 20,
  stalledMs: 400,
  unreadMs: 400,
  lingerMs: 100
}
const CROWDED = { ...httpBounds(Infinity), lingerMs: 500, connectionsPerAddress: 4, connections: 6 }
const GET = 'GET /v1/launches HTTP/1.1\r\nHost: x\r\n'
const lines = (...fields: readonly string[]): string => [...fields, '', ''].join('\r\n')
const create = (key: string, ...fields: readonly string[]): string =>
  lines('POST /v1/admin/tenants HTTP/1.1', 'Host: x', `X-API-Key: ${key}`, ...fields)
const JSON_TYPE = 'Content-Type: application/json'

t.test('a request whose header or body trickles is refused with 408 after the deadline', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: BOUNDS })
  const slow: readonly [name: string, start: string, byte: string][] = [
    ['a header', `${GET}X-Slow: `, 'a'],
    ['a request line', 'GET /v1/', 'a'],
    ['a body of a stated length', create(app.adminKey, JSON_TYPE, 'Content-Length: 60000'), ' '],
    ['a body in chunks', create(app.adminKey, JSON_TYPE, 'Transfer-Encoding: chunked'), '1\r\n \r\n']
  ]
  for (const [name, start, byte] of slow) {
    const received = await app.connect().send(start).trickle(byte)
    t.strictSame(answersIn(received), ['408 request_timeout'], name)
    t.match(received, /^connection: close\r$/im)
  }
  t.equal(await app.refused('request_timeout'), slow.length)
  t.strictSame(answersIn(await app.connect().received), ['408 request_timeout'], 'nothing at all')
})

t.test('a request that was refused as late has no effect when the rest of it arrives', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: { ...BOUNDS, lingerMs: 5_000 } })
  const body = '{"name":"late"}'
  const client = app
    .connect()
    .send(create(app.adminKey, JSON_TYPE, `Content-Length: ${body.length}`) + body.slice(0, 5))
  await client.heard('request_timeout')
  client.send(body.slice(5)).send(create(app.adminKey, JSON_TYPE, 'Content-Length: 16') + '{"name":"later"}')
  t.strictSame(answersIn(await client.received), ['408 request_timeout'])
  t.strictSame(
    app.keys.tenants.map(({ name }) => name),
    ['acme']
  )
})

t.test(
  'a request that is refused before its body has arrived is answered once, and its connection closed',
  async (t) => {
    // The client reads an answer within the linger time, or has lost it: a starved one takes long.
    const bounds = { ...BOUNDS, requestMs: 60_000, lingerMs: 1_500 }
    const app = await listeningApp(t, undefined, { bounds })
    const LONG = 'Content-Length: 60000'
    const early: readonly [answer: string, start: string][] = [
      ['401 missing_api_key', lines('POST /v1/admin/tenants HTTP/1.1', 'Host: x', JSON_TYPE, LONG)],
      ['401 invalid_api_key', create('wrong', JSON_TYPE, 'Transfer-Encoding: chunked') + 'ff\r\n'],
      ['403 insufficient_scope', create(app.key, JSON_TYPE, LONG)],
      ['404 unknown_route', lines('POST /v1/nothing HTTP/1.1', 'Host: x', JSON_TYPE, LONG)],
      ['405 method_not_allowed', lines('POST /v1/launches HTTP/1.1', 'Host: x', JSON_TYPE, LONG)],
      ['413 body_too_large', create(app.adminKey, JSON_TYPE, 'Content-Length: 10000000')],
      ['415 unsupported_media_type', create(app.adminKey, 'Content-Type: text/plain', LONG)]
    ]
    const refused = early.map(async ([answer, start]) => {
      const received = await app.connect().send(start).trickle('x')
      t.strictSame(answersIn(received), [answer], answer)
      t.match(received, /^connection: close\r$/im, answer)
    })
    await Promise.all(refused)
    const get = await app.connect().send(`${GET}X-API-Key: ${app.key}\r\n${LONG}\r\n\r\n`).trickle('x')
    t.strictSame(answersIn(get), ['200'], 'an answer that needs no body does not wait for one')
  }
)

t.test('bytes after the last answer of a connection are ignored', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: BOUNDS })
  const next = create(app.adminKey, JSON_TYPE, 'Content-Length: 16') + '{"name":"hidden"}'
  const client = app.connect().send(create('wrong', JSON_TYPE, 'Content-Length: 4'))
  await client.heard('invalid_api_key')
  client.send('{}  ' + next)
  t.strictSame(answersIn(await client.received), ['401 invalid_api_key'])
  t.equal(app.keys.tenants.length, 1)
})

t.test('a connection whose requests arrive whole is kept', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: BOUNDS })
  const client = app.connect()
  for (const name of ['one', 'two']) {
    const body = JSON.stringify({ name })
    client.send(create(app.adminKey, JSON_TYPE, `Content-Length: ${body.length}`)).send(body)
    await client.heard(`"name":"${name}"`)
  }
  await sleep(2 * BOUNDS.requestMs)
  client.send(`${GET}X-API-Key: ${app.key}\r\nConnection: close\r\n\r\n`)
  t.strictSame(answersIn(await client.received), ['201', '201', '200'])
})

t.test('bytes that are no request are refused after the answers to the requests before them', async (t) => {
  const app = await listeningApp(t)
  const client = app
    .connect()
    .send(`${GET}X-API-Key: ${app.key}\r\n\r\nnonsense\r\n\r\nmore nonsense\r\n\r\n`)
  t.strictSame(answersIn(await client.received), ['200', '400 invalid_parameter'])
})

t.test('a client that reads nothing of its answers is cut off', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: BOUNDS })
  const client = app.connect()
  client.socket.pause()
  client.send('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200))
  await until(async () => app.app.connections.size === 1, 'it is connected')
  await until(async () => app.app.connections.size === 0, 'it is gone')
  t.pass()
})

t.test('an address at its bound loses the connection that has waited longest, for a new one', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: CROWDED })
  const connected = async (client: RawClient, size: number): Promise<RawClient> => {
    await until(async () => app.app.connections.size === size, `${size} connections`)
    return client
  }
  const header = await connected(app.connect().send(`${GET}X-Slow: `), 1)
  const body = await connected(app.connect().send(create(app.adminKey, JSON_TYPE, 'Content-Length: 99')), 2)
  const idle = await connected(app.connect().send(`${GET}X-API-Key: ${app.key}\r\n\r\n`), 3)
  await idle.heard('"nextCursor"')
  const other = await connected(app.connect('127.0.0.2').send(GET), 4)
  await connected(app.connect().send(GET), 5)

  const whole = `${GET}X-API-Key: ${app.key}\r\n\r\n`
  const served: RawClient[] = []
  for (const [i, left] of [header, body, idle].entries()) {
    const client = app.connect().send(whole)
    served.push(client)
    await client.heard('"nextCursor"')
    const expected = left === idle ? ['200'] : ['429 too_many_connections']
    t.strictSame(answersIn(await left.received), expected, `the connection that waited longest: ${i}`)
  }
  t.equal(app.app.connections.size, 5)
  t.equal(await app.refused('too_many_connections'), 3)
  t.notOk(other.isClosed, 'another address keeps its own')
})

t.test('an address all of whose connections are being answered gets no other', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = 0
  const held = await listeningApp(
    t,
    (storage) => ({
      ...storage,
      blocks: storage.blocks,
      trades: storage.trades,
      launches: {
        get: (mint) => storage.launches.get(mint),
        page: async (page) => {
          asked++
          await promise
          return storage.launches.page(page)
        }
      }
    }),
    { bounds: CROWDED }
  )
  const asking = Array.from({ length: 4 }, (_, i) =>
    held
      .connect()
      .send(
        lines(
          `GET /v1/launches?limit=${i + 1} HTTP/1.1`,
          'Host: x',
          'Connection: close',
          `X-API-Key: ${held.key}`
        )
      )
  )
  await until(async () => asked === 4, 'all are being answered')
  const fifth = await held.connect().received
  t.strictSame(answersIn(fifth), ['429 too_many_connections'])
  t.match(fifth, /^retry-after: 1\r$/im)
  resolve()
  for (const client of asking) t.strictSame(answersIn(await client.received), ['200'])
})

t.test('all addresses together are bounded, too', async (t) => {
  const app = await listeningApp(t, undefined, { bounds: CROWDED })
  const slow: RawClient[] = []
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) {
    for (let i = 0; i < 2; i++) {
      slow.push(app.connect(address).send(GET))
      await until(async () => app.app.connections.size === slow.length, 'one more')
    }
  }
  const client = app.connect('127.0.0.5').send(`${GET}X-API-Key: ${app.key}\r\n\r\n`)
  await client.heard('"nextCursor"')
  t.strictSame(answersIn(await slow[0]!.received), ['429 too_many_connections'])
  t.equal(app.app.connections.size, CROWDED.connections)
})

t.test('one address gets at most half of what the system lets a process open', async (t) => {
  t.match(httpBounds(Infinity), { connections: 65_536, connectionsPerAddress: 8_192 })
  t.match(httpBounds(20_000), { connections: 18_000, connectionsPerAddress: 8_192 })
  t.match(httpBounds(1_024), { connections: 512, connectionsPerAddress: 256 })
})

t.test('of pipelined requests, one answer is made at a time, and sent in their order', async (t) => {
  const app = await marketApp(t)
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
  const began: number[] = []
  app.app.get<{ Params: { n: string } }>('/slow/:n', { config: { scope: 'open' } }, async ({ params }) => {
    const n = Number(params.n)
    began.push(n)
    await gates[n]!.promise
    return { n }
  })
  const client = new RawClient(await listening(app))
  t.teardown(() => client.socket.destroy())
  const request = (n: number): string => `GET /slow/${n} HTTP/1.1\r\nHost: x\r\n\r\n`
  client.send([0, 1, 2].map(request).join(''))
  await until(async () => began.length === 1, 'the first one has begun')
  client.send([3, 4, 5].map(request).join(''))
  for (const [n, gate] of gates.entries()) {
    await sleep(20)
    t.equal(began.length, n + 1, 'the next one has not begun')
    gate.resolve()
    await client.heard(`{"n":${n}}`)
    await until(async () => began.length === Math.min(n + 2, gates.length), 'the next one has begun')
  }
  t.strictSame(began, [0, 1, 2, 3, 4, 5])
})

t.test(
  'no answer is begun for a client that does not read the last one, which is closed and counted',
  async (t) => {
    const app = await marketApp(t, undefined, { bounds: { ...BOUNDS, stalledMs: 60_000, unreadMs: 400 } })
    const large = Buffer.alloc(64 * 2 ** 20)
    let began = 0
    app.app.get('/large', { config: { scope: 'open' } }, async () => {
      began++
      return large
    })
    const port = await listening(app)
    const clients = Array.from({ length: 10 }, () => {
      const client = new RawClient(port)
      client.socket.pause()
      return client.send('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20))
    })
    t.teardown(() => clients.forEach(({ socket }) => socket.destroy()))
    await until(async () => app.app.connections.size === 0 && began > 0, 'all are closed')
    t.equal(began, clients.length, 'one of each connection')
    const { values } = await app.deps.metrics.connectionsRefused.get()
    t.equal(values.find(({ labels }) => labels.code === 'answer_not_read')?.value, clients.length)
  }
)

async function listening({ app }: MarketApp): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}
