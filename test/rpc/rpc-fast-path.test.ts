import { request, type IncomingHttpHeaders } from 'node:http'
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { RateWindow } from '../../src/access/rate-window.ts'
import type { AppNeeds } from '../http/app-of.ts'
import { listenerApp } from '../../src/kernel/http/listener.ts'
import { requestIds } from '../../src/kernel/http/request-id.ts'
import { rpcFastPath } from '../../src/rpc/routes/rpc-fast-path.ts'
import { marketApp } from '../http/market-app.ts'
import { fakeRpc, fakeUpstreams, resultOf } from './fake-rpc.ts'

interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Two servers over equal services: one with the fast path, and the framework alone. */
async function twoPaths(t: Test, changed: Partial<AppNeeds> = {}) {
  const rpc = fakeRpc(
    fakeUpstreams(({ method: { name }, params }) => {
      if (name === 'getHealth') throw new Error('a fault of ours')
      if (params === '["long"]') return { ...resultOf(''), rest: pieces() }
      return resultOf(
        `{"context":{"slot":1},"value":"${params === '["wide"]' ? 'é'.repeat(2_000) : 'x'}"}`,
        1
      )
    })
  )
  const app = await marketApp(t, undefined, { rpc })
  await app.app.ready()
  const logged: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) })
  const deps: AppNeeds = { ...app.deps, rpc, logger, ...changed }
  const passed: string[] = []
  const listen = async (isFast: boolean): Promise<number> => {
    const lane = listenerApp(deps, {
      bodyBytesMax: 1,
      nextRequestId: requestIds(),
      upgrades: () => false,
      inFront: () => {
        const rest = (...[incoming, outgoing]: Parameters<typeof app.app.routing>): void => {
          passed.push(incoming.headers['x-name'] as string)
          app.app.routing(incoming, outgoing)
        }
        return isFast
          ? rpcFastPath(deps, requestIds(), rest)
          : (incoming, outgoing) => app.app.routing(incoming, outgoing)
      }
    })
    await lane.ready()
    const { server } = lane
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => lane.close())
    return (server.address() as { port: number }).port
  }
  return { app, passed, logged, fast: await listen(true), slow: await listen(false) }
}

async function* pieces(): AsyncGenerator<Buffer> {
  for (let n = 0; n < 3; n++) yield Buffer.from(`"${'y'.repeat(2_000)}"`)
}

function post(
  port: number,
  path: string,
  headers: Record<string, string>,
  body: string | Buffer
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method: 'POST', agent: false, headers }
    request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('latin1')
        })
      )
    })
      .on('error', reject)
      .end(body)
  })
}

/** Leaves out the differences between two answers to one request. */
function lasting({ status, headers, text }: Received) {
  const {
    date,
    ratelimit,
    'x-ratelimit-remaining': left,
    'x-request-id': id,
    'x-millrace-age-ms': age,
    ...others
  } = headers
  const { 'x-millrace-cache': cache, ...rest } = others
  const has = [date, ratelimit, left, id].map(Boolean)
  return { status, rest, has, age: age === undefined, cache, text: text.replaceAll(String(id), 'ID') }
}

const call = (method: string, params = '', id = '"id":1,'): string =>
  `{"jsonrpc":"2.0",${id}"method":"${method}"${params === '' ? '' : `,"params":${params}`}}`

t.test('the fast path answers like the framework: status, header fields and bytes', async (t) => {
  const { app, fast, slow, passed, logged } = await twoPaths(t)
  const key = await app.makeKey(['rpc:read'])
  const type = { 'content-type': 'application/json' }
  const cases: readonly (readonly [
    name: string,
    body: string,
    headers?: Record<string, string>,
    path?: string
  ])[] = [
    ['a read', call('getBalance', '["a"]')],
    ['a kept read', call('getBalance', '["a"]')],
    ['an unusual form', ' {"id":"\\u0031" , "method":"getBalance","params":["a"],"jsonrpc":"2.0"}'],
    ['a long answer', call('getBlock', '["long"]')],
    ['a long answer, compressed', call('getBlock', '["long"]'), { 'accept-encoding': 'gzip' }],
    ['bytes above ASCII', call('getAccountInfo', '["wide"]')],
    ['the same, compressed', call('getAccountInfo', '["wide"]'), { 'accept-encoding': 'gzip' }],
    ['a batch', `[${call('getBalance', '["a"]')},1,${call('getSupply')}]`],
    ['a notification', call('getBalance', '["a"]', '')],
    ['a refused notification', call('getSupply', '', '')],
    ['a rejected method', call('getSupply')],
    ['an unknown method', call('getNothing')],
    ['a missing scope', call('sendTransaction', '["a"]')],
    ['no JSON', '{'],
    ['no object', '[]'],
    ['a long body', call('getBalance', `["${'a'.repeat(200_000)}"]`)],
    [
      'a long batch',
      `[${Array.from({ length: 90 }, () => call('getBalance', `["${'\\\\"'.repeat(500)}"]`)).join(',')}]`
    ],
    ['a long body of brackets', '['.repeat(200_000)],
    ['a long body of zeros', `[${'0,'.repeat(100_000)}0]`],
    ['a fault', call('getHealth')],
    ['the key in a header', call('getSlot'), { 'x-api-key': key }, '/v1/rpc'],
    ['a slash after the path', call('getSlot'), { 'x-api-key': key }, '/v1/rpc/'],
    ['the other name of the key', call('getSlot'), {}, `/v1/rpc?key=${key}`],
    ['both', call('getSlot'), {}, `/v1/rpc/?key=${key}`],
    ['a charset', call('getSlot'), { 'content-type': 'application/json; charset=utf-8' }]
  ]
  for (const [name, body, headers, path = `/v1/rpc?api-key=${key}`] of cases) {
    const given = { ...type, 'x-name': name, ...headers }
    // The first answer is cached, so that both others come from memory.
    await post(slow, path, given, body)
    const framework = await post(slow, path, given, body)
    t.same(lasting(await post(fast, path, given, body)), { ...lasting(framework) }, name)
  }
  t.same(passed, [], 'none of them went to the framework')
  t.equal(logged.length, 1, 'the fault of ours')
})

t.test('what the framework has to look at is passed on, and counted once', async (t) => {
  const { app, fast, passed } = await twoPaths(t)
  const key = await app.makeKey(['rpc:read'], { ratePerMinute: 100, corsOrigins: ['https://a.example'] })
  const type = { 'content-type': 'application/json' }
  const cases: readonly (readonly [
    name: string,
    status: number,
    headers?: Record<string, string>,
    path?: string
  ])[] = [
    ['no key', 401, {}, '/v1/rpc'],
    ['two keys', 401, { 'x-api-key': 'another' }],
    ['another query', 200, {}, `/v1/rpc?api-key=${key}&a=1`],
    ['both names of the key', 200, {}, `/v1/rpc?api-key=${key}&key=${key}`],
    ['two keys under both names', 401, {}, `/v1/rpc?api-key=${key}&key=a`],
    ['two slashes', 404, {}, `/v1/rpc//?api-key=${key}`],
    ['an escaped key', 401, {}, '/v1/rpc?api-key=%41'],
    ['another path', 404, {}, '/v1/rpcs'],
    ['a page', 200, { origin: 'https://a.example' }],
    ['a page of another origin', 403, { origin: 'https://b.example' }],
    ['text', 415, { 'content-type': 'text/plain' }],
    ['gzip', 415, { 'content-encoding': 'gzip' }],
    ['no length', 200, { 'transfer-encoding': 'chunked' }],
    ['a bad host', 400, { host: 'a,b' }]
  ]
  for (const [name, status, headers, path = `/v1/rpc?api-key=${key}`] of cases) {
    const answer = await post(fast, path, { ...type, 'x-name': name, ...headers }, call('getSlot'))
    t.equal(answer.status, status, name)
  }
  t.same(
    passed,
    cases.map(([name]) => name)
  )
  const own = await post(fast, `/v1/rpc?api-key=${key}`, type, call('getSlot'))
  t.equal(own.headers['x-ratelimit-remaining'], '95', 'four that were passed on, and this one')
  app.draining = true
  t.equal(
    (await post(fast, `/v1/rpc?api-key=${key}`, { ...type, 'x-name': 'd' }, call('getSlot'))).status,
    503
  )
})

for (const isShared of [false, true])
  t.test(
    `a batch beyond the quota is refused whole${isShared ? ', of a shared count too' : ''}`,
    async (t) => {
      const window = new RateWindow(10)
      const limits: AppNeeds['limits'] = isShared
        ? {
            work: window.work,
            take: async (...of) => window.take(...of),
            look: async (...of) => window.look(...of)
          }
        : window
      const { app, fast, passed } = await twoPaths(t, { limits })
      const key = await app.makeKey(['rpc:read'], { ratePerMinute: 3 })
      const ask = (body: string): Promise<Received> =>
        post(fast, `/v1/rpc?api-key=${key}`, { 'content-type': 'application/json' }, body)
      const slots = (count: number): string => `[${Array(count).fill(call('getSlot')).join(',')}]`
      t.equal((await ask(slots(2))).headers['x-ratelimit-remaining'], '1')
      const refused = await ask(slots(2))
      t.equal(refused.status, 429)
      t.match(refused.text, /"code":-32429,.*"limit":3/)
      t.ok(Number(refused.headers['retry-after']) > 0)
      t.equal((await ask(call('getSlot'))).status, 200, 'the refused one was not counted')
      const single = await ask('{"jsonrpc":"2.0","id":"last","method":"getSlot"}')
      t.match([single.status, single.text], [429, /"id":"last"\}$/], 'a single request has its id')
      t.same(passed, [])
    }
  )

t.test('a fault of the count of calls is answered, and logged', async (t) => {
  const window = new RateWindow(10)
  const limits: AppNeeds['limits'] = {
    work: window.work,
    take: () => {
      throw new Error('a fault of the count')
    },
    look: (...of) => window.look(...of)
  }
  const { app, fast, logged } = await twoPaths(t, { limits })
  const key = await app.makeKey(['rpc:read'])
  const type = { 'content-type': 'application/json' }
  const failed = await post(fast, `/v1/rpc?api-key=${key}`, type, call('getSlot'))
  t.match([failed.status, failed.text], [500, /"code":-32603.*"id":1\}$/])
  t.match(logged, [/a fault of the count/])
})

t.test('a client that leaves in the middle of its body, or before the answer, is no fault', async (t) => {
  let asked = 0
  let left = 0
  const rpc = fakeRpc({
    ...fakeUpstreams(),
    request: (_call, signal) =>
      new Promise((_resolve, reject) => {
        asked++
        signal!.addEventListener('abort', () => {
          left++
          reject(signal!.reason as Error)
        })
      })
  })
  const { app, fast, logged } = await twoPaths(t, { rpc })
  const key = await app.makeKey(['rpc:read'])
  const body = call('getAccountInfo', '["a"]')
  for (const sent of [body.slice(0, 10), body]) {
    const socket = createConnection({ host: '127.0.0.1', port: fast })
    socket.write(
      `POST /v1/rpc?api-key=${key} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${sent}`
    )
    while (sent === body && asked === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, 20))
    socket.destroy()
  }
  while (left === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  t.same([asked, left, logged], [1, 1, []])
})
