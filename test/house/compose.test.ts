import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { readConfig } from '../../src/configuration.ts'
import { deploymentRefusal } from '../../src/kernel/config/deployment.ts'
import { environmentOf, only, readDockerfile } from './dockerfile.ts'
import { ROOT } from './sources.ts'

const FILE = join(ROOT, 'docker-compose.yml')
/** Seconds that the drain of a process takes at most, with its kill. */
const DRAIN_SECONDS = 12

/** Services of the profile `cluster`. */
const CLUSTER = [
  ...['balancer', 'cql1', 'cql2', 'cql3', 'delivery1', 'delivery2'],
  ...['gateway1', 'gateway2', 'ingest', 'standby']
]

const duration = z.string().regex(/^\d+s$/)
/** `NAME:/path` of a volume, or `./path:/path:ro` of a file or folder of the project. */
const mount = z.string().regex(/^(?:[\w-]+:\/[\w/-]+|\.\/[\w./-]+:\/[\w./-]+:ro)$/)

/** The section of the Compose Specification that is used here; any other key is a mistake until it is added. */
const service = z.strictObject({
  image: z
    .string()
    .regex(/^[\w./-]+:v?\d+\.\d+\.\d+(-[\w.-]+)?$/, 'is no exact version')
    .optional(),
  build: z.literal('.').optional(),
  init: z.literal(true).optional(),
  profiles: z.array(z.string()).optional(),
  network_mode: z.literal('service:millrace').optional(),
  command: z.string().optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, 'is open to other machines')).optional(),
  volumes: z.array(mount).min(1),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  // The project's own image has its health check in the Dockerfile.
  healthcheck: z
    .strictObject({
      test: z.array(z.string()).min(2),
      interval: duration,
      timeout: duration,
      retries: z.int(),
      start_period: duration.optional()
    })
    .optional(),
  stop_grace_period: duration.optional(),
  restart: z.literal('unless-stopped')
})
const compose = z.object({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null())
})

/** Reads the file as Compose does, with anchors and merge keys resolved. Throws on a syntax error. */
function readCompose(): z.infer<typeof compose> {
  const document = parseDocument(readFileSync(FILE, 'utf8'), { merge: true, strict: true, uniqueKeys: true })
  for (const problem of [...document.errors, ...document.warnings]) throw problem
  return compose.parse(document.toJS())
}

t.test('docker-compose.yml is YAML of the shape that Compose reads', async (t) => {
  const { services, volumes } = readCompose()
  const inCluster = Object.entries(services).filter(
    ([, { profiles }]) => profiles?.includes('cluster') === true
  )
  const others = Object.keys(services).filter((name) => !inCluster.some(([each]) => each === name))
  t.same(others.sort(), ['embedded', 'grafana', 'millrace', 'prometheus', 'redis', 'scylla'])
  t.same(inCluster.map(([name]) => name).sort(), CLUSTER)
  const mounted = Object.values(services).flatMap((each) => each.volumes.map((mount) => mount.split(':')[0]!))
  const [files, named] = [
    mounted.filter((name) => name.startsWith('.')),
    mounted.filter((name) => !name.startsWith('.'))
  ]
  for (const file of files) t.ok(existsSync(join(ROOT, file)), `${file} is there`)
  const own = named.filter((name) => name !== 'fleet')
  t.same(
    [...own, 'fleet'].sort(),
    Object.keys(volumes).sort(),
    'every volume is declared, and used by one service'
  )
  t.equal(named.length - own.length, 6, 'one is shared by the processes of the fleet')
  for (const [name, { depends_on: needed = {}, image, build, healthcheck }] of Object.entries(services)) {
    t.equal((image === undefined) !== (build === undefined), true, `${name} has an image or is built`)
    t.equal(healthcheck === undefined, build !== undefined, `${name} says when it is well`)
    for (const other of Object.keys(needed)) t.ok(services[other], `${name} needs ${other}, which is there`)
  }
})

t.test('one command starts the service on ScyllaDB and Redis, another on the embedded store', async (t) => {
  const { millrace, embedded, scylla, redis } = readCompose().services
  t.same(
    [millrace, scylla, redis].map((each) => each!.profiles),
    [undefined, undefined, undefined]
  )
  t.same(Object.keys(millrace!.depends_on ?? {}), ['scylla', 'redis'])
  t.equal(millrace!.environment?.MILLRACE_STORAGE, 'scylla')
  t.equal(millrace!.environment?.MILLRACE_SCYLLA_CONTACT_POINTS, 'scylla')
  t.equal(new URL(millrace!.environment?.MILLRACE_REDIS_URL ?? '').hostname, 'redis')
  t.match(scylla!.command, /--tablets-mode-for-new-keyspaces disabled/)
  t.same(embedded!.profiles, ['embedded'])
  t.equal(embedded!.depends_on, undefined)
})

t.test(
  'the service in a container is a localnet, from settings that it has, with values that it takes',
  async (t) => {
    const { millrace, embedded } = readCompose().services
    const given = environmentOf(readDockerfile().at(-1)!)
    for (const [{ environment = {}, volumes, ports = [] }, storage] of [
      [millrace!, 'scylla'],
      [embedded!, 'embedded']
    ] as const) {
      const reading = readConfig([], { ...given, ...environment })
      t.match(reading, {
        kind: 'config',
        config: { source: 'localnet', storage, host: '0.0.0.0', port: 8900 }
      })
      t.match(volumes, [/:\/data$/])
      t.same(
        ports.map((port) => port.split(':').at(-1)),
        only(readDockerfile().at(-1)!, 'EXPOSE').split(' ')
      )
    }
  }
)

t.test('the profile `cluster` is a fleet of every role twice, behind a balancer', async (t) => {
  const { services } = readCompose()
  const given = environmentOf(readDockerfile().at(-1)!)
  const roles: string[] = []
  for (const name of CLUSTER) {
    const { build, image, command, environment = {}, depends_on: needed = {} } = services[name]!
    if (build === undefined) {
      t.ok(name === 'balancer' || image === services['scylla']!.image, `${name} is the same ScyllaDB`)
      continue
    }
    const [verb, ...flags] = command!.split(' ')
    t.equal(verb, 'serve')
    const reading = readConfig(flags, { ...given, ...environment })
    if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
    const { config } = reading
    t.equal(deploymentRefusal(config), null)
    roles.push(...config.role)
    t.same(
      [
        ...config.scyllaContactPoints,
        new URL(config.redisUrl!).hostname,
        new URL(config.rpcUrl[0]!).hostname
      ],
      Object.keys(needed),
      `${name} waits for the servers of its settings`
    )
    t.equal(config.scyllaReplication, config.scyllaContactPoints.length)
    const grace = Number(/^\d+/.exec(services[name]!.stop_grace_period!))
    t.ok(grace >= config.drainDelaySeconds + DRAIN_SECONDS, 'it is not killed while it drains')
  }
  t.same(roles.toSorted(), ['delivery', 'delivery', 'gateway', 'gateway', 'ingest', 'ingest'])
  t.ok(services['millrace']!.ports!.includes('127.0.0.1:8902:8902'), 'their node')
  const site = readFileSync(join(ROOT, 'src/operations/proxy/fleet.conf'), 'utf8')
  const gateways = [...site.matchAll(/server (\w+):8900/g)].map(([, host]) => host)
  t.same(gateways, Object.keys(services['balancer']!.depends_on!))
  t.match(services['balancer']!.ports, [/:8080$/])
  t.match(site, /listen 8080;/)
})

t.test('the commented block for a node of one’s own has settings that the service takes', async (t) => {
  const [, block] = /# A node of your own[^\n]*\n((?: *# \w+: \S+\n)+)/.exec(readFileSync(FILE, 'utf8'))!
  const settings = [...block!.matchAll(/# (\w+): (\S+)/g)].map(([, name, value]) => [name!, value!] as const)
  t.ok(settings.length > 1)
  const { millrace } = readCompose().services
  const reading = readConfig([], { ...millrace!.environment, ...Object.fromEntries(settings) })
  t.match(reading, { kind: 'config', config: { source: 'yellowstone', storage: 'scylla' } })
})

const CONFIG = 'docker compose takes docker-compose.yml'
if (spawnSync('docker', ['compose', 'version']).status === 0) {
  t.test(CONFIG, async (t) => {
    for (const profile of [[], ['--profile', 'embedded'], ['--profile', 'cluster']]) {
      const said = spawnSync('docker', ['compose', '--file', FILE, ...profile, 'config', '--quiet'], {
        encoding: 'utf8'
      })
      t.equal(said.status, 0, said.stderr)
    }
  })
} else {
  process.stderr.write(`NOT RUN, there is no docker compose: ${CONFIG}\n`)
  void t.test(CONFIG, { skip: 'NOT RUN' }, () => undefined)
}
