import { createServer, request, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import { RateWindow } from '../../src/access/rate-window.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { AppNeeds } from './app-of.ts'
import { cachedFastPath } from '../../src/kernel/http/cached-fast-path.ts'
import { requestIds } from '../../src/kernel/http/request-id.ts'
import { block, buy, NOON, TOKEN } from '../market/world.ts'
import { marketApp, type MarketApp } from './market-app.ts'

const TRADES = `/v1/tokens/${pubkeyToBase58(TOKEN)}/trades`
const PRICE = `/v1/tokens/${pubkeyToBase58(TOKEN)}/price`

interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A market with a few trades, behind the cached fast path, on its own socket. */
async function laneApp(t: Test, changed: Partial<AppNeeds> = {}) {
  const app = await marketApp(t)
  app.nowMs = NOON * 1000
  await app.commit(
    block(
      1,
      NOON - 5,
      Array.from({ length: 9 }, () => buy(10n ** 9n, 10n ** 9n))
    )
  )
  await app.app.ready()
  const world = { app, passed: 0, ask, make: makeKey }
  const deps = { ...app.deps, logger: pino({ level: 'warn' }), ...changed }
  const fastPath = cachedFastPath(deps, app.app.responseCache, requestIds(), (incoming, outgoing) => {
    world.passed++
    app.app.routing(incoming, outgoing)
  })
  const server = createServer({ joinDuplicateHeaders: true }, fastPath).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo

  function makeKey(...[scopes, attributes]: Parameters<MarketApp['makeKey']>): Promise<string> {
    return app.makeKey(scopes, attributes)
  }

  function ask(path: string, headers: object = {}, method = 'GET'): Promise<Received> {
    const options = { host: '127.0.0.1', port, path, method, agent: false }
    return new Promise((resolve, reject) => {
      request({ ...options, headers: { 'x-api-key': app.key, ...headers } }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) })
        )
      })
        .on('error', reject)
        .end()
    })
  }
  return world
}

/** Removes the fields that differ between two answers to one request, from either path. */
function lasting({ status, headers, body }: Received) {
  const {
    date,
    connection,
    'x-request-id': id,
    ratelimit,
    'x-ratelimit-remaining': left,
    'x-work-units': units,
    ...rest
  } = headers
  return {
    status,
    body: body.toString('hex'),
    headers: rest,
    has: [date, connection, id, ratelimit, left, units].map(Boolean)
  }
}

t.test('a cached answer is sent without the framework, byte for byte as with it', async (t) => {
  const { app, ask, ...world } = await laneApp(t)
  let passed = 0
  const paths = [TRADES, `${TRADES}?limit=1`, PRICE, '/v1/launches', '/v1/stats']
  for (const path of [...paths, `${TRADES}?format=csv&limit=1`, `${TRADES}?fields=price`]) {
    const headersOfList = path.startsWith(TRADES) ? [{ accept: 'application/x-ndjson' }] : []
    for (const headers of [
      {},
      { 'accept-encoding': 'gzip' },
      { 'if-none-match': '*' },
      ...headersOfList,
      ...headersOfList.map((accept) => ({ ...accept, 'accept-encoding': 'gzip' }))
    ]) {
      const first = await app.app.inject({
        url: path,
        headers: { 'x-api-key': app.key, connection: 'close', ...headers }
      })
      const second = await ask(path, headers)
      t.equal(second.headers['x-work-units'], String(WORK_PRICES.call), 'next to nothing')
      t.strictSame(
        lasting(second),
        lasting({
          status: first.statusCode,
          headers: first.headers as IncomingHttpHeaders,
          body: first.rawPayload
        }),
        `${path} ${JSON.stringify(headers)}`
      )
    }
    t.equal(world.passed, passed, 'nothing was passed on')
    passed = world.passed
  }
})

t.test('each request has an id of its own, and takes one call', async (t) => {
  const { ask, app } = await laneApp(t)
  await app.get(PRICE)
  const answers = [await ask(PRICE), await ask(PRICE), await ask(PRICE)]
  t.equal(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, 3)
  const left = answers.map(({ headers }) => Number(headers['x-ratelimit-remaining']))
  t.strictSame(left, [999_998, 999_997, 999_996])
  t.equal(answers[0]!.headers['x-data-freshness-seconds'], '5')
})

t.test('a request that the fast path may not answer reaches the framework, once', async (t) => {
  const world = await laneApp(t)
  const { ask, app } = world
  const cases: readonly (readonly [string, () => Promise<Received>, number])[] = [
    ['nothing is kept yet', () => ask(PRICE), 200],
    ['a wrong key', () => ask(PRICE, { 'x-api-key': 'wrong' }), 401],
    ['two keys', () => ask(PRICE, { authorization: 'Bearer other' }), 401],
    ['another method', () => ask(PRICE, {}, 'HEAD'), 200],
    ['another method that no route has', () => ask(PRICE, {}, 'DELETE'), 405],
    ['a page of another origin', () => ask(PRICE, { origin: 'https://example.com' }), 403],
    ['another spelling of the path', () => ask(`${PRICE}?`), 200]
  ]
  for (const [name, asked, status] of cases) {
    world.passed = 0
    t.equal((await asked()).status, status, name)
    t.equal(world.passed, 1, name)
  }
  world.passed = 0
  app.draining = true
  t.equal((await ask(PRICE)).status, 503, 'while it drains')
  app.draining = false
  await app.commit(block(2, NOON, [buy(10n ** 9n, 2n * 10n ** 9n)]))
  t.not((await ask(PRICE)).body.toString(), '', 'a block has changed the price')
  t.equal(world.passed, 2)
  t.equal((await ask(PRICE)).status, 200)
  t.equal(world.passed, 2, 'and it is kept again')
})

t.test('a key of the same tenant without the scope, revoked or from elsewhere is refused', async (t) => {
  const world = await laneApp(t)
  const { ask, app, make } = world
  await ask(PRICE)
  t.equal((await ask(PRICE, { 'x-api-key': await make(['data:read']) })).status, 200)
  t.equal(world.passed, 1, 'tenants share what is kept')
  t.equal((await ask(PRICE, { 'x-api-key': await make(['stream']) })).status, 403)
  const elsewhere = await make(['data:read'], { allowedIps: ['10.0.0.0/8'] })
  t.equal((await ask(PRICE, { 'x-api-key': elsewhere })).status, 403)
  const revoked = await make(['data:read'])
  t.equal((await ask(PRICE, { 'x-api-key': revoked })).status, 200)
  await app.keys.revoke(app.keys.keys.at(-1)!.id, app.nowMs)
  t.equal((await ask(PRICE, { 'x-api-key': revoked })).status, 401)
})

t.test('a call beyond the quota is refused by the framework, and costs nothing', async (t) => {
  const { ask, app, make } = await laneApp(t)
  await app.get(PRICE)
  const headers = { 'x-api-key': await make(['data:read'], { ratePerMinute: 2 }) }
  const answers: Received[] = []
  for (let n = 0; n < 4; n++) answers.push(await ask(PRICE, headers))
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 200, 429, 429]
  )
  t.equal(answers[3]!.headers['retry-after'], '60')
  app.nowMs += 60_000
  t.equal((await ask(PRICE, headers)).headers['x-ratelimit-remaining'], '1')
})

t.test('a counter that gives a promise is waited for', async (t) => {
  const counter = new RateWindow(10)
  const limits = {
    work: counter.work,
    take: async (...asked: Parameters<RateWindow['take']>) => counter.take(...asked),
    look: async (...asked: Parameters<RateWindow['look']>) => counter.look(...asked)
  }
  const world = await laneApp(t, { limits })
  await world.app.get(PRICE)
  t.equal((await world.ask(PRICE)).headers['x-ratelimit-remaining'], '999999')
  t.equal(world.passed, 0)
})

t.test('every request passes the framework where each has a line in the log', async (t) => {
  const world = await laneApp(t, { logger: pino({ level: 'debug' }, { write: () => undefined }) })
  await world.ask(PRICE)
  await world.ask(PRICE)
  t.equal(world.passed, 2)
})

t.test('an answer of the fast path is counted with its route', async (t) => {
  const { ask, app } = await laneApp(t)
  const seen = async (): Promise<string> => (await app.get('/metrics', {})).text
  await app.get(PRICE)
  await ask(PRICE)
  const line = /http_request_seconds_count\{route="\/v1\/tokens\/:mint\/price",status="200"\} (\d)/
  t.equal(line.exec(await seen())?.[1], '2')
})
