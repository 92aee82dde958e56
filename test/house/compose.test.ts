import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { readConfig } from '../../src/config.ts'
import { ROOT } from './sources.ts'

const FILE = join(ROOT, 'docker-compose.yml')

const duration = z.string().regex(/^\d+s$/)
/** `NAME:/path`, `./path:/path` or `.:/path`, perhaps `:ro`. */
const mount = z.string().regex(/^(\.|\.\/[\w-]+|[\w-]+):\/[\w/-]+(:ro)?$/)

/** What we use of the Compose Specification; another key is a mistake until it is written here. */
const service = z.strictObject({
  image: z.string().regex(/^[\w./-]+:\d+\.\d+\.\d+(-[\w.-]+)?$/, 'is no exact version'),
  profiles: z.array(z.string()).optional(),
  working_dir: z.string().optional(),
  command: z.string(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, 'is open to other machines')).optional(),
  volumes: z.array(mount).min(1),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  healthcheck: z.strictObject({
    test: z.array(z.string()).min(2),
    interval: duration,
    timeout: duration,
    retries: z.int(),
    start_period: duration.optional()
  }),
  stop_grace_period: duration.optional(),
  restart: z.literal('on-failure')
})
const compose = z.object({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null())
})

/** Reads the file as Compose does: anchors and merge keys resolved; a fault of its syntax throws. */
function readCompose(): z.infer<typeof compose> {
  const document = parseDocument(readFileSync(FILE, 'utf8'), { merge: true, strict: true, uniqueKeys: true })
  for (const problem of [...document.errors, ...document.warnings]) throw problem
  return compose.parse(document.toJS())
}

t.test('docker-compose.yml is YAML of the shape that Compose reads', async (t) => {
  const { services, volumes } = readCompose()
  t.same(Object.keys(services).sort(), ['embedded', 'millrace', 'redis', 'scylla'])
  const named = Object.values(services).flatMap((each) => each.volumes.map((mount) => mount.split(':')[0]!))
  t.same(
    [...new Set(named)].filter((name) => !name.startsWith('.')).sort(),
    Object.keys(volumes).sort(),
    'every volume is declared and used'
  )
  for (const [name, { depends_on: needed = {} }] of Object.entries(services)) {
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
  t.equal(embedded!.environment?.MILLRACE_STORAGE, 'embedded')
  t.equal(embedded!.depends_on, undefined)
})

t.test('the service in a container gets settings that it has, with values that it takes', async (t) => {
  const { millrace, embedded } = readCompose().services
  for (const { environment = {} } of [millrace!, embedded!]) {
    t.not(Object.keys(environment).length, 0)
    t.match(readConfig([], environment), { kind: 'config' })
  }
})

t.test('the service in a container is well while it answers, if only that its data is old', async (t) => {
  const [, command, ...args] = readCompose().services.millrace!.healthcheck.test
  t.equal(command, 'node')
  const server = createServer((_, response) => response.writeHead(503).end('{"status":"degraded"}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const check = async (): Promise<unknown> => {
    const here = args.map((arg) => arg.replace(':8900/', `:${port}/`))
    const [code] = (await once(spawn(process.execPath, here, { stdio: 'ignore' }), 'exit')) as unknown[]
    return code
  }
  t.equal(await check(), 0)
  server.close()
  server.closeAllConnections()
  t.equal(await check(), 1)
})

const CONFIG = 'docker compose takes docker-compose.yml'
if (spawnSync('docker', ['compose', 'version']).status === 0) {
  t.test(CONFIG, async (t) => {
    for (const profile of [[], ['--profile', 'embedded']]) {
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
