import { WebSocket } from 'ws'
import t, { type Test } from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { faultsBesideOutages, leads, linesWith, metricOf, until } from './asking.ts'
import { clusterOf } from './cluster.ts'
import { ADMIN_KEY, runMillrace, type ServiceProcess } from './service-process.ts'

const BLOCKS = 10
/** A node that is configured and not there: what is asked of it is refused before it is needed. */
const NODE = ['--rpc-url', 'http://127.0.0.1:9']
const SOCKETS_PER_KEY = 20

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> & { readonly code?: string }
}

async function post(service: ServiceProcess, path: string, body: unknown, key = ADMIN_KEY): Promise<Answer> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', 'x-millrace-track': 'true' },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

/** Requests that leave work to a delivery process. The second is refused by its own checks where one is there. */
const addWebhook = (service: ServiceProcess) =>
  post(service, '/v1/webhooks', { url: 'https://127.0.0.1/hook', channels: ['launches'] })
const send = (service: ServiceProcess) => post(service, '/v1/tx/send', { tx: 'AAAA' })

const reasonsOf = async (service: ServiceProcess) => {
  const { status, body } = await service.get('/v1/health', null)
  const reasons = body['reasons'] as readonly { readonly code: string; readonly detail: string }[]
  return { status, reasons }
}
const reasonOf = async (service: ServiceProcess, code: string): Promise<string> =>
  (await reasonsOf(service)).reasons.find((each) => each.code === code)?.detail ?? ''

const lacksDelivery = async (service: ServiceProcess): Promise<boolean> =>
  (await send(service)).body.code === 'role_missing'

/** Resolves with the status of the refusal of a socket; null once it is open. */
async function socketStatus(t: Test, service: ServiceProcess, key: string): Promise<number | null> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/stream?key=${key}`)
  t.teardown(() => socket.terminate())
  return new Promise((resolve) => {
    socket.once('open', () => resolve(null))
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    socket.on('error', () => undefined)
  })
}

testWithFixtures(t, 'a fleet of processes', (t) =>
  testWithCql(t, 'on one CQL server', (t, server) => {
    testWithOwnRedis(
      t,
      'with Redis: each process knows which roles are missing, and gateways answer alike',
      async (t, redis) => {
        const { start } = await clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        const ingest = await start('--role', 'ingest,gateway', ...NODE)
        const gateway = await start('--role', 'gateway', ...NODE)
        for (const service of [ingest, gateway]) {
          await until(() => lacksDelivery(service), 'nobody sends')
          t.match(await addWebhook(service), {
            status: 503,
            body: { code: 'role_missing', role: 'delivery' }
          })
          t.match(await reasonOf(service, 'role_missing'), /: delivery$/)
          t.equal(await metricOf(service, 'millrace_role_missing{role="delivery"}'), 1)
          t.equal(await metricOf(service, 'millrace_role_missing{role="ingest"}'), 0)
          t.equal(linesWith(service, 'no process has the role delivery'), 1)
          t.equal((await service.get('/ready', null)).status, 200, 'it serves what it can')
        }
        const sent = { jsonrpc: '2.0', id: 1, method: 'sendTransaction', params: ['AAAA'] }
        t.match(await post(gateway, '/v1/rpc', sent), { body: { error: { data: { code: 'role_missing' } } } })

        const delivery = await start('--role', 'delivery', ...NODE)
        for (const service of [ingest, gateway]) {
          await until(async () => !(await lacksDelivery(service)), 'somebody sends')
          t.match(await send(service), { status: 400, body: { code: 'transaction_invalid' } })
          t.not((await addWebhook(service)).status, 503)
          t.equal(await reasonOf(service, 'role_missing'), '')
        }
        t.match(await delivery.get('/v1/launches'), { status: 503, body: { code: 'not_served_here' } })
        t.match(await delivery.get('/v1/nothing'), { status: 404, body: { code: 'unknown_route' } })

        t.equal(await leads(ingest), true)
        await until(
          async () => (await metricOf(delivery, 'millrace_shards_held{product="webhooks"}')) === 32,
          'its shards'
        )
        const listedRows = async (): Promise<Record<string, unknown>[]> => {
          const listed = await runMillrace(['fleet', '--json', '--url', gateway.url, '--key', ADMIN_KEY])
          t.equal(listed.code, 0, listed.stderr)
          return listed.stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as Record<string, unknown>)
        }
        const shardsOfDelivery = (rows: readonly Record<string, unknown>[]): number | undefined => {
          const owner = rows.find(({ roles }) => String(roles) === 'delivery')
          return (owner?.['shards'] as Record<string, string[]>)['webhooks']?.length
        }
        await until(
          async () => shardsOfDelivery(await listedRows()) === 32,
          'the gateway hears of the shards with the next announcement'
        )
        const rows = await listedRows()
        t.equal(rows.length, 3)
        t.match(rows.find(({ roles }) => String(roles) === 'ingest,gateway')?.['shards'], {
          ingest: ['ingest']
        })
        const table = await runMillrace(['fleet', '--url', gateway.url, '--key', ADMIN_KEY])
        t.match(table.stdout, /webhooks:32/)

        const made = await post(gateway, '/v1/admin/keys', {
          tenant: 'operator',
          scopes: ['data:read', 'stream']
        })
        const key = String(made.body['key'])
        t.equal(
          (await ingest.get('/v1/launches', key)).status,
          200,
          'the first request with it, at another gateway'
        )
        t.equal((await ingest.get('/v1/launches', `${key}x`)).status, 401)

        for (let opened = 0; opened < SOCKETS_PER_KEY; opened++)
          t.equal(await socketStatus(t, opened % 3 === 0 ? ingest : gateway, key), null)
        for (const service of [ingest, gateway]) t.equal(await socketStatus(t, service, key), 429)

        const stray = await start('--role', 'gateway', '--venues', 'phoenix')
        await until(async () => (await reasonOf(stray, 'deployment_differs')) !== '', 'it knows its peers')
        t.match(await reasonOf(stray, 'deployment_differs'), /: MILLRACE_RPC_URL, MILLRACE_VENUES$/)
        t.equal((await reasonsOf(stray)).status, 503)
        t.match(await stray.get('/v1/tx/x/status'), { status: 503, body: { code: 'not_served_here' } })
        for (const service of [ingest, gateway]) t.equal(await reasonOf(service, 'deployment_differs'), '')

        const killedAtMs = performance.now()
        await delivery.end('SIGKILL')
        await until(() => lacksDelivery(gateway), 'it is missed')
        t.comment(
          `a killed delivery process was missed after ${Math.round(performance.now() - killedAtMs)} ms`
        )
        for (const service of [ingest, gateway, stray]) {
          t.strictSame(faultsBesideOutages(service), [])
          t.match(await service.end('SIGTERM'), { code: 0 })
        }
      }
    )
    void t.test(
      'without Redis: the store says which roles are missing, and quotas are divided among gateways',
      async (t) => {
        const { start } = await clusterOf(t, server, { redisUrl: null, blocks: BLOCKS })
        const ingest = await start('--role', 'ingest,gateway', ...NODE)
        const gateway = await start('--role', 'gateway', ...NODE)
        for (const service of [ingest, gateway]) await until(() => lacksDelivery(service), 'nobody sends')
        const delivery = await start('--role', 'delivery', ...NODE)
        for (const service of [ingest, gateway])
          await until(async () => !(await lacksDelivery(service)), 'somebody sends')
        const made = await post(gateway, '/v1/admin/keys', {
          ...{ tenant: 'operator', scopes: ['data:read'], rate_limit_per_minute: 20 }
        })
        const key = String(made.body['key'])
        t.equal(
          (await ingest.get('/v1/launches', key)).status,
          200,
          'the first request with it, at another gateway'
        )
        const leftAt = async (service: ServiceProcess): Promise<number> =>
          Number((await service.get('/v1/launches', key)).headers.get('x-ratelimit-remaining'))
        for (const service of [ingest, gateway]) t.ok((await leftAt(service)) < 10, 'half of the quota')
        await delivery.end('SIGTERM')
        await until(() => lacksDelivery(gateway), 'it is missed')
        for (const service of [ingest, gateway]) {
          t.strictSame(faultsBesideOutages(service), [])
          t.match(await service.end('SIGTERM'), { code: 0 })
        }
      }
    )
    testWithOwnRedis(
      t,
      'a process with all roles misses none: not in its first moment, and not while Redis is away',
      async (t, redis) => {
        const { start } = await clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        const all = await start(...NODE)
        const statuses = new Set<string>()
        const ask = async (times: number): Promise<void> => {
          for (let at = 0; at < times; at++) statuses.add(String((await send(all)).body.code))
        }
        await ask(5)
        await redis.kill()
        await until(async () => (await reasonOf(all, 'redis_away')) !== '', 'Redis is away')
        await ask(20)
        t.equal(await reasonOf(all, 'role_missing'), '')
        await redis.start()
        await until(async () => (await reasonOf(all, 'redis_away')) === '', 'it is back')
        await ask(20)
        t.same([...statuses], ['transaction_invalid'])
        t.equal(linesWith(all, 'no process has the role'), 0)
        t.match(await all.end('SIGTERM'), { code: 0 })
      }
    )
  })
)
