import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { parseDocument } from 'yaml'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { environmentOf, only, readDockerfile } from '../house/dockerfile.ts'
import { ROOT } from '../house/sources.ts'
import { ownDirectory } from '../own-directory.ts'
import { testWithCql, type CqlServer } from '../servers/cql.ts'
import { freePort } from '../servers/free-port.ts'
import { notShown } from '../servers/not-run.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { scyllaOptions } from '../storage/scylla-keyspace.ts'
import { slotOf, until } from './asking.ts'
import { isRunning } from './chain-fleet.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { drains } from './drains.ts'
import { makeBusyLocalnet } from './localnet-process.ts'
import { RoundRobin } from './round-robin.ts'
import { startProcess, type Body, type ServiceProcess } from './service-process.ts'
import { judgeReceiver, WebhookReceiver } from './webhook-receiver.ts'
import { CHANNELS } from './webhook-run.ts'

const NGINX = ['/usr/sbin/nginx', '/usr/local/sbin/nginx'].find((path) => existsSync(path))
const LOCALNET_KEY = 'an-admin-key-of-the-localnet'
/** Slots of the fleet before its webhook is created. */
const PAST_SLOTS = 10
/** Pause of a caller after each answer, in milliseconds. */
const PAUSE_MS = 20
const MEMBERS = ['ingest', 'standby', 'delivery1', 'delivery2', 'gateway1', 'gateway2'] as const
type MemberName = (typeof MEMBERS)[number]

interface ComposeService {
  readonly profiles?: readonly string[]
  readonly command?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** Services of docker-compose.yml by name, with anchors and merge keys resolved. */
function composeServices(): Readonly<Record<string, ComposeService>> {
  const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
  return (parseDocument(text, { merge: true }).toJS() as { services: Record<string, ComposeService> })
    .services
}

/** Environment that the image sets, except for its address and the place of its volume. */
function imageEnvironment(): Record<string, string> {
  const {
    MILLRACE_HOST: _host,
    MILLRACE_DATA_DIR: _place,
    ...environment
  } = environmentOf(readDockerfile().at(-1)!)
  return environment
}

/** Runs the health check of the image against a process. Resolves with its exit code. */
async function healthOf({ url }: ServiceProcess): Promise<number> {
  const [, command] = /CMD (\[.*\])/.exec(only(readDockerfile().at(-1)!, 'HEALTHCHECK'))!
  const [program, ...args] = JSON.parse(command!) as [string, ...string[]]
  const env = { PATH: process.env['PATH'], MILLRACE_PORT: new URL(url).port }
  return promisify(execFile)(program === 'node' ? process.execPath : program, args, { env }).then(
    () => 0,
    (error: { readonly code: number }) => error.code
  )
}

/**
 * Starts the balancer in front of the gateways, and returns its URL: nginx with the site of the compose file. Without nginx it is
 * the one of the tests, which forwards reads alone.
 */
async function startBalancer(
  t: Test,
  directory: string,
  gateways: Readonly<Record<string, string>>
): Promise<string> {
  if (NGINX === undefined) {
    notShown(t, 'nginx serves the fleet of docker-compose.yml', 'there is no nginx')
    const balancer = await RoundRobin.start(t)
    for (const url of Object.values(gateways)) balancer.add(url)
    return balancer.url
  }
  const port = await freePort(['127.0.0.1'])
  // Versions before 1.27.3 resolve names only at their start.
  const published = readFileSync(join(ROOT, 'src/operations/proxy/fleet.conf'), 'utf8')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace(/^resolver .*$/m, '')
    .replaceAll(' resolve;', ';')
  const site = Object.entries(gateways).reduce(
    (text, [name, url]) => text.replace(`${name}:8900`, new URL(url).host),
    published
  )
  mkdirSync(join(directory, 'logs'))
  const file = join(directory, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}\nhttp { access_log off;\n${site}\n}\n`
  )
  const checked = spawnSync(NGINX, ['-t', '-p', directory, '-c', file], { encoding: 'utf8' })
  t.equal(checked.status, 0, checked.stderr)
  const nginx: ChildProcess = spawn(NGINX, ['-p', directory, '-c', file], { stdio: 'ignore' })
  const ended = once(nginx, 'exit')
  t.teardown(async () => {
    nginx.kill('SIGTERM')
    await ended
  })
  return `http://127.0.0.1:${port}`
}

testWithCql(t, 'the profile `cluster` of docker-compose.yml, its commands run by hand', (t, server) =>
  testWithOwnRedis(
    t,
    'indexes its localnet, serves behind its balancer, and refuses nothing while a gateway is restarted',
    async (t, redis) => {
      const directory = ownDirectory(t)
      const services = composeServices()
      const start = async (
        name: string,
        data: string,
        flags: readonly string[],
        environment: Readonly<Record<string, string>>
      ): Promise<ServiceProcess> => {
        const service = await startProcess({
          ...{ dataDir: join(directory, data), recordedDir: null, more: flags },
          environment: { ...imageEnvironment(), ...environment }
        })
        t.teardown(async () => {
          if (isRunning(service)) await service.end('SIGKILL')
          if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(`${name}: ${line}`)
        })
        return service
      }
      // The node of the fleet: the service `millrace`, on the same servers in a keyspace of its own.
      await makeBusyLocalnet(join(directory, 'localnet'))
      const millrace = await start('millrace', 'localnet', [], {
        ...services['millrace']!.environment,
        ...serversOf(server, ownKeyspace(t, server), redis.url),
        MILLRACE_ADMIN_KEY: LOCALNET_KEY
      })
      const rpcUrl = /http:\S+/.exec(millrace.stdout.find((line) => line.includes('its node'))!)![0]

      const keyspace = ownKeyspace(t, server)
      const startMember = (name: MemberName): Promise<ServiceProcess> => {
        const { command, environment } = services[name]!
        const [verb, ...flags] = command!.split(' ')
        t.equal(verb, 'serve')
        return start(name, 'fleet', flags, {
          ...environment,
          // Addresses of this machine, one CQL node, a receiver here, no quota, and keys as a first start prints them.
          ...serversOf(server, keyspace, redis.url),
          MILLRACE_SCYLLA_REPLICATION: '1',
          MILLRACE_RPC_URL: rpcUrl,
          MILLRACE_ALLOW_PRIVATE_WEBHOOKS: 'true',
          MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000',
          MILLRACE_ADMIN_KEY: ''
        })
      }
      t.same(
        Object.entries(services)
          .filter(
            ([, { profiles, command }]) => profiles?.includes('cluster') && command?.startsWith('serve')
          )
          .map(([name]) => name),
        MEMBERS
      )
      // All at once, as compose starts them, in one data folder.
      const members = await Promise.all(MEMBERS.map(startMember))
      const member = (name: MemberName): ServiceProcess => members[MEMBERS.indexOf(name)]!
      const keys = members.flatMap(({ stdout }) => stdout.filter((line) => line.startsWith('admin key')))
      t.equal(keys.length, 1, 'one process prints the admin key of the service')
      const adminKey = keys[0]!.split(' ').at(-1)!
      t.ok(readdirSync(join(directory, 'fleet')).includes('webhook-secret.key'), 'they share a secret key')
      for (const service of [millrace, ...members]) {
        await until(async () => (await service.get('/ready', null)).status === 200, 'it is ready')
        t.equal(await healthOf(service), 0, 'the health check of the image passes')
      }

      const [gateway1, gateway2] = [member('gateway1'), member('gateway2')]
      const url = await startBalancer(t, directory, { gateway1: gateway1.url, gateway2: gateway2.url })
      const writeUrl = NGINX === undefined ? gateway2.url : url
      const ask = async (path: string, body?: object) => {
        const answer = await fetch((body === undefined ? url : writeUrl) + path, {
          headers: { 'x-api-key': adminKey, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { method: 'POST', body: JSON.stringify(body) })
        })
        const text = await answer.text()
        return { status: answer.status, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Body }
      }
      await until(async () => (await ask('/ready').catch(() => null))?.status === 200, 'the balancer answers')
      if (NGINX !== undefined) t.equal((await ask('/metrics')).status, 404, 'metrics are for the inside')
      const rows = async (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
        (await ask('/v1/admin/fleet')).body.data
      await until(async () => (await rows()).length === MEMBERS.length, 'they know each other')
      t.same((await rows()).flatMap(({ roles }) => roles as string[]).toSorted(), [
        ...['delivery', 'delivery', 'gateway', 'gateway', 'ingest', 'ingest']
      ])
      t.same(
        (await rows()).flatMap(({ differs }) => differs as string[]),
        [],
        'and have the same settings'
      )
      const held = async (product: string): Promise<readonly number[]> =>
        (await rows())
          .map(({ shards }) => (shards as Readonly<Record<string, readonly string[]>>)[product]?.length ?? 0)
          .filter((count) => count > 0)
      await until(async () => (await held('ingest')).join() === '1', 'one of two ingests')
      for (const product of ['webhooks', 'transactions'])
        await until(async () => (await held(product)).join() === '16,16', `each has half of the ${product}`)
      t.equal((await ask('/v1/launches?limit=1')).status, 200)

      const receiver = await WebhookReceiver.start(t)
      const first = await slotOf(gateway1)
      await until(async () => (await slotOf(gateway1)) > first + PAST_SLOTS, 'a past')
      receiver.beginsBefore = first + PAST_SLOTS
      const made = await ask('/v1/webhooks', { url: receiver.url, channels: CHANNELS })
      t.equal(made.status, 201, JSON.stringify(made.body))
      receiver.secret = String(made.body['secret'])
      t.equal((await ask(`/v1/webhooks/${String(made.body['id'])}/enable`, { since: 0 })).status, 200)
      const socket = new WebSocket(`${writeUrl.replace('http', 'ws')}/v1/stream?key=${adminKey}`)
      t.teardown(() => socket.terminate())
      const events = new Set<number>()
      socket.on('message', (bytes: Buffer) => {
        const { type, cursor } = JSON.parse(bytes.toString()) as { type: string; cursor: number }
        if (type === 'event') events.add(cursor)
      })
      await once(socket, 'open')
      socket.send(JSON.stringify({ subscribe: ['venue:pumpswap'] }))
      await until(async () => events.size > 5, 'events come through the balancer')
      await until(async () => receiver.accepted.size > 2, 'batches are delivered')

      // As `docker compose restart gateway1` stops it.
      const statuses = new Map<number, number>()
      let isOver = false
      const asking = (async () => {
        while (!isOver) {
          const { status } = await ask('/v1/launches?limit=1')
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          await delay(PAUSE_MS)
        }
      })()
      await drains(t, gateway1)
      isOver = true
      await asking
      t.same(
        [...statuses.keys()],
        [200],
        `no request is refused while a gateway stops: ${[...statuses].join('; ')}`
      )

      // A standby and the other delivery take over.
      const leads = async ({ child }: ServiceProcess): Promise<boolean> =>
        (await rows()).some(
          ({ name, shards }) =>
            String(name).endsWith(`/${child.pid}`) &&
            'ingest' in (shards as Readonly<Record<string, unknown>>)
        )
      const [leader, standby] = (await leads(member('ingest')))
        ? [member('ingest'), member('standby')]
        : [member('standby'), member('ingest')]
      await leader.end('SIGKILL')
      await member('delivery1').end('SIGKILL')
      const slot = await slotOf(gateway2)
      await until(async () => (await slotOf(gateway2)) > slot + 5, 'blocks go on')
      await until(() => leads(standby), 'the standby ingests')
      const { size } = receiver.accepted
      await until(async () => receiver.accepted.size > size + 2, 'deliveries go on')
      const last = await slotOf(gateway2)
      await until(async () => receiver.slot >= last, 'it has heard of them')
      for (const service of [standby, member('delivery2'), gateway2]) await drains(t, service)
      await drains(t, millrace)
      const storage = await openScyllaStorage(scyllaOptions(server, keyspace))
      t.teardown(() => storage.close())
      await judgeReceiver(t, receiver, { storage, id: Number(made.body['id']) }, CHANNELS, last)
    }
  )
)

/** Addresses of the servers, in place of the names that compose gives them. The webhooks' key is that of the data folder. */
function serversOf(server: CqlServer, keyspace: string, redisUrl: string): Record<string, string> {
  const { MILLRACE_WEBHOOK_SECRET_KEY: _, ...environment } = clusterEnvironment(server, keyspace, redisUrl)
  return environment
}
