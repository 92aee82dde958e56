import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { testWithCql } from '../servers/cql.ts'
import { freePort } from '../servers/free-port.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { spawnMillrace } from './service-process.ts'

/** Starts the service with a setting that prevents serving, and returns its exit. */
async function failing(
  recordedDir: string,
  environment: Readonly<Record<string, string>>,
  ...more: readonly string[]
) {
  const flags = ['--recorded-dir', recordedDir, '--port', '0', ...more]
  const child = spawnMillrace(['serve', '--source', 'recorded', ...flags], environment)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>
  ])
  return { stdout, lines: stderr.trim().split('\n'), code }
}

/** A server that accepts connections and never sends anything. */
async function silentServer() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    end() {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
}

t.test(
  'a cluster that cannot be reached ends the start, after a line that says for what and how long it waits',
  async (t) => {
    const silent = await silentServer()
    t.teardown(() => silent.end())
    const closed = await freePort(['127.0.0.1'])
    const at = (port: number) => ({
      MILLRACE_STORAGE: 'scylla',
      MILLRACE_SCYLLA_CONTACT_POINTS: '127.0.0.1',
      MILLRACE_SCYLLA_PORT: String(port),
      MILLRACE_STARTUP_WAIT_SECONDS: '3',
      MILLRACE_WEBHOOK_SECRET_KEY: 'a'.repeat(64)
    })
    const [nobody, mute, unknown] = await Promise.all([
      failing(t.testdir(), at(closed)),
      failing(t.testdirName, at(silent.port)),
      failing(t.testdirName, { ...at(closed), MILLRACE_SCYLLA_CONTACT_POINTS: 'no-such-host.invalid' })
    ])
    for (const { stdout, lines, code } of [nobody, mute, unknown]) {
      t.equal(code, 1)
      t.equal(stdout, '')
      const waiting = lines.slice(0, -1)
      t.ok(waiting.length >= 1)
      for (const line of waiting)
        t.match(line, /the start waits up to 3 s \(MILLRACE_STARTUP_WAIT_SECONDS\): no CQL server answers at/)
      t.match(lines.at(-1), /^millrace: .*MILLRACE_SCYLLA_CONTACT_POINTS/)
    }
  }
)

t.test('settings that do not go together end the start with one line and with 2', async (t) => {
  const { stdout, lines, code } = await failing(t.testdir(), { MILLRACE_ROLE: 'gateway' })
  t.equal(code, 2)
  t.equal(stdout, '')
  t.strictSame(lines, [
    'millrace: MILLRACE_ROLE=gateway leaves work to other processes, but only one process can open the embedded store; set MILLRACE_STORAGE=scylla'
  ])
})

testWithCql(
  t,
  'a cluster that does not let the service in ends the start with one line',
  async (t, server) => {
    const environment = clusterEnvironment(server, ownKeyspace(t, server), null)
    const { lines, code } = await failing(t.testdir(), environment, '--scylla-datacenter', 'elsewhere')
    t.equal(code, 1)
    t.equal(lines.length, 1, lines.join('\n'))
    t.match(lines[0], /no datacenter elsewhere: set MILLRACE_SCYLLA_DATACENTER to datacenter1/)
  }
)

testWithOwnRedis(t, 'a Redis that refuses ends the start with one line', async (t, redis) => {
  testWithCql(t, 'beside a good cluster', async (t, server) => {
    const { host } = new URL(redis.url)
    const environment = clusterEnvironment(server, ownKeyspace(t, server), `redis://me:secret@${host}`)
    const { lines, code } = await failing(t.testdir(), environment)
    t.equal(code, 1)
    t.equal(lines.length, 1, lines.join('\n'))
    t.match(lines[0], /^millrace: Redis at .* refuses: WRONGPASS.*MILLRACE_REDIS_URL/)
    t.notMatch(lines[0], /secret/)
  })
})
