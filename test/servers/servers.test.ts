import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'cassandra-driver'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { CQL_SUPERUSER, type CqlCluster } from './cql-cluster.ts'
import { newKeyspaceName, testWithCql, testWithCqlCluster, type CqlServer } from './cql.ts'
import { endClient, plainClient } from './plain-client.ts'
import { testWithOwnRedis, testWithRedis } from './redis.ts'

const SERVERS = import.meta.dirname
const NO_ANSWER_MS = 500
const SOON_MS = 120_000
/** Milliseconds after the last test until the process ends, whatever a driver has left. Arbitrary. */
const ENDS_WITHIN_MS = 5_000

testWithCql(t, 'the shared CQL server takes a keyspace, a row and a transaction', async (t, server) => {
  const client = clientOf(t, server)
  const keyspace = newKeyspaceName()
  await client.connect()
  t.teardown(() => client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`))
  await makeTable(client, keyspace)
  const insert = `INSERT INTO ${keyspace}.rows (key, value) VALUES (1, 'once') IF NOT EXISTS`
  t.equal((await client.execute(insert)).wasApplied(), true)
  t.equal((await client.execute(insert)).wasApplied(), false)
})

testWithCql(t, 'two processes share one CQL server, which is gone soon after both crashed', async (t) => {
  const directory = shortFolder(t)
  const program = `
    import { sharedCql } from '${SERVERS}/shared-cql.ts'
    console.log(JSON.stringify(await sharedCql()))
    setInterval(() => undefined, 1000)`
  // Their own temporary folder separates them from the server of this run.
  const users = [1, 2].map(() => startProgram(t, program, { TMPDIR: directory, TAP: undefined }))
  const [one, two] = (await Promise.all(users.map(({ line }) => line))) as [string, string]
  t.equal(one, two)
  const [, address, port] = /"(.+):(\d+)"/.exec(one)!
  t.equal(await takesConnections(address!, Number(port)), true)
  t.not(readdirSync(directory).length, 0)
  await crash(users[0]!.child)
  t.equal(await takesConnections(address!, Number(port)), true, 'it stays for the other')
  await crash(users[1]!.child)
  await until(async () => !(await takesConnections(address!, Number(port))))
  await until(() => readdirSync(directory).length === 0)
  t.same(readdirSync(directory), [], 'no data and no socket is left')
})

testWithCqlCluster(
  t,
  'a CQL node of a test asks for a password, can be paused, and keeps its rows over a kill',
  { authentication: true },
  async (t, cluster) => {
    const [node] = cluster.nodes
    const stranger = clientOf(t, {
      ...cqlOf(cluster),
      credentials: { username: 'cassandra', password: 'no' }
    })
    await t.rejects(stranger.connect(), /incorrect/)

    const keyspace = newKeyspaceName()
    const select = `SELECT value FROM ${keyspace}.rows WHERE key = 1`
    const client = clientOf(t, { ...cqlOf(cluster), credentials: CQL_SUPERUSER })
    await client.connect()
    await makeTable(client, keyspace)
    await client.execute(`INSERT INTO ${keyspace}.rows (key, value) VALUES (1, 'kept')`)
    node!.pause()
    const answer = client.execute(select)
    t.equal(await Promise.race([answer.then(() => 'answered'), delay(NO_ANSWER_MS, 'silent')]), 'silent')
    node!.resume()
    t.equal((await answer).first().get('value'), 'kept')

    const { pid } = node!
    await node!.kill()
    t.equal(node!.pid, undefined)
    t.equal(await takesConnections(node!.address, cluster.port), false)
    await node!.start()
    t.not(node!.pid, pid)
    await cluster.ready()
    const later = clientOf(t, { ...cqlOf(cluster), credentials: CQL_SUPERUSER })
    t.equal((await later.execute(select)).first().get('value'), 'kept')
  }
)

testWithRedis(t, 'a Redis for a test takes a key below its prefix', async (t, { url, prefix }) => {
  const redis = new Redis(url, { keyPrefix: prefix })
  t.teardown(() => redis.disconnect())
  await redis.set('key', 'value', 'EX', 60)
  t.equal(await redis.get('key'), 'value')
})

testWithOwnRedis(t, 'a Redis of a test can be paused, and is empty after a kill', async (t, own) => {
  const redis = new Redis(own.url, { retryStrategy: () => 50 })
  redis.on('error', () => undefined)
  t.teardown(() => redis.disconnect())
  await redis.set('key', 'value')
  own.pause()
  const answer = redis.get('key')
  t.equal(await Promise.race([answer, delay(NO_ANSWER_MS, 'silent')]), 'silent')
  own.resume()
  t.equal(await answer, 'value')

  await own.kill()
  t.equal(own.pid, undefined)
  t.equal(await takesConnections('127.0.0.1', own.port), false)
  await own.start()
  t.equal(await redis.get('key'), null)
})

testWithOwnRedis(
  t,
  'a server and its folder are gone after a crash of the process that started it',
  async (t) => {
    const directory = t.testdir()
    const program = `
    import { OwnRedis } from '${SERVERS}/redis.ts'
    const redis = await OwnRedis.start()
    redis.pause()
    console.log(redis.port)
    setInterval(() => undefined, 1000)`
    const { child, line } = startProgram(t, program, { TMPDIR: directory })
    const port = Number(await line)
    t.equal(await takesConnections('127.0.0.1', port), true, 'a paused server still listens')
    t.equal(readdirSync(directory).length, 1)
    await crash(child)
    await until(async () => !(await takesConnections('127.0.0.1', port)))
    await until(() => readdirSync(directory).length === 0)
    t.same(readdirSync(directory), [], 'its folder is gone')
  }
)

t.test('tests say that they were not run where there is no server, and fail where CI is set', async (t) => {
  const file = join(t.testdir(), 'without-servers.test.ts')
  const text = `
    import t from '${import.meta.resolve('tap')}'
    import { testWithCql, testWithCqlCluster } from '${SERVERS}/cql.ts'
    import { testWithOwnRedis, testWithRedis } from '${SERVERS}/redis.ts'
    const never = () => { throw new Error('it runs') }
    testWithCql(t, 'first', never)
    testWithCqlCluster(t, 'second', {}, never)
    testWithRedis(t, 'third', never)
    testWithOwnRedis(t, 'fourth', never)`
  writeFileSync(file, text)
  const bare = { PATH: '/nowhere' }
  const local = spawnSync(process.execPath, [file], { env: bare, encoding: 'utf8' })
  t.equal(local.status, 0, local.stdout)
  t.match(local.stderr, /NOT RUN, there is no Java 17.*CQL_CONTACT_POINTS.*: first\nNOT RUN, .*: second\n/)
  t.match(
    local.stderr,
    /NOT RUN, there is no redis-server \(apt-get install redis-server\): third\nNOT RUN, .*: fourth\n/
  )
  t.equal(local.stdout.match(/# SKIP NOT RUN/g)?.length, 4)
  const ci = spawnSync(process.execPath, [file], { env: { ...bare, CI: 'true' }, encoding: 'utf8' })
  t.equal(ci.status, 1)
  t.equal(ci.stdout.match(/^not ok .*NOT RUN/gm)?.length, 4)
})

t.end()
// Drivers whose server was killed may leave sockets and timers. The tests have ended, and report leftovers themselves.
t.teardown(() => void setTimeout(() => process.exit(), ENDS_WITHIN_MS).unref())

function cqlOf({ contactPoints, port, datacenter }: CqlCluster): CqlServer {
  return { contactPoints, port, datacenter }
}

function clientOf(t: Test, server: CqlServer): Client {
  const client = plainClient(server)
  t.teardown(() => endClient(client))
  return client
}

async function makeTable(client: Client, keyspace: string): Promise<void> {
  const replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
  await client.execute(`CREATE KEYSPACE ${keyspace} WITH replication = ${replication}`)
  await client.execute(`CREATE TABLE ${keyspace}.rows (key int PRIMARY KEY, value text)`)
}

/** Returns a temporary folder whose path is short enough for a socket in it. */
function shortFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs a program in its own process, which prints one line. */
function startProgram(
  t: Test,
  program: string,
  environment: Readonly<Record<string, string | undefined>>
): { readonly child: ChildProcess; readonly line: Promise<string> } {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => {
    child.kill('SIGKILL')
    // Servers that it started may outlive it briefly and hold its output open.
    child.stdout.destroy()
  })
  const line = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`the program ended with ${code} and said nothing`)))
  })
  return { child, line }
}

async function crash(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + SOON_MS
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`it does not come to be: ${holds.toString()}`)
    await delay(50)
  }
}

function takesConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
