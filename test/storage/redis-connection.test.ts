import { createServer } from 'node:net'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { RedisConnection } from '../../storage/redis/connection.ts'
import type { Script } from '../../storage/redis/script.ts'
import { testWithOwnRedis, testWithRedis } from '../servers/redis.ts'
import { virtualClock } from '../virtual-time.ts'
import { joinService } from './redis-processes.ts'
import { until } from '../until.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const ONE: Script = { name: 'one', keys: 0, lua: 'return 1' }

/** Returns the error of a failed start. */
async function refusalOf(url: string): Promise<unknown> {
  const logger = { info: () => undefined, warn: () => undefined } as unknown as never
  return RedisConnection.open({ url, logger, ...systemPorts }).then(
    (connection) => connection.close(),
    (error: Error) => error.message
  )
}

/** Opens a plain connection, through which a test changes the server. */
function administrator(t: Test, url: string): Redis {
  const admin = new Redis(url)
  admin.on('error', () => undefined)
  t.teardown(() => admin.disconnect())
  return admin
}

testWithOwnRedis(
  t,
  'a server that is killed is away at once and back by itself, said once each',
  async (t, redis) => {
    const connection = await joinService(t, redis)
    const one = connection.define(ONE)
    t.equal(await one([], []), 1)
    t.ok(connection.available)
    t.equal(connection.outage, null)
    const heard: boolean[] = []
    connection.onChange((available) => heard.push(available))
    for (let round = 1; round <= 2; round++) {
      const beforeMs = Date.now()
      await redis.kill()
      await until(() => !connection.available)
      t.ok(connection.outage!.sinceMs >= beforeMs)
      await t.rejects(one([], []), { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE })
      await t.rejects(connection.publish('x', 'y'), {
        name: 'ServiceError',
        kind: ERRORS.STORAGE_UNAVAILABLE
      })
      await until(() => connection.outage?.detail.includes('ECONNREFUSED') ?? false)
      await redis.start()
      await until(() => connection.available)
      t.equal(await one([], []), 1)
      t.equal(connection.said.warn.length, round)
      t.equal(connection.said.info.length, round)
    }
    t.match(connection.said.warn[0], /^Redis at 127\.0\.0\.1:\d+ is unreachable \(.+\); retrying/)
    t.match(connection.said.info[0], /is back after \d+ s$/)
    t.strictSame(heard, [false, true, false, true])
  }
)

testWithOwnRedis(
  t,
  'a server that stands still is away, what waits for it fails, and it is back when it goes on',
  async (t, redis) => {
    const connection = await joinService(t, redis)
    const one = connection.define(ONE)
    redis.pause()
    await t.rejects(one([], []))
    await until(() => !connection.available)
    t.match(connection.outage?.detail, /timeout/i)
    redis.resume()
    await until(() => connection.available)
    t.equal(await one([], []), 1)
    t.equal(connection.said.warn.length, 1)
  }
)

testWithOwnRedis(t, 'a service starts without its server, and finds it later', async (t, redis) => {
  await redis.kill()
  const connection = await joinService(t, redis)
  t.notOk(connection.available)
  t.equal(connection.processes, null)
  t.equal(connection.said.warn.length, 1)
  await redis.start()
  await until(() => connection.available)
  t.equal(connection.processes, 1)
})

t.test(
  'a server that takes connections and says nothing holds up no start, and is away after it',
  async (t) => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const connection = await joinService(t, { url: `redis://127.0.0.1:${port}` })
    t.notOk(connection.available)
    await connection.close()
    silent.close()
  }
)

testWithOwnRedis(t, 'a server that refuses a start stops it with a line that says why', async (t, redis) => {
  t.match(
    await refusalOf(`${redis.url}/99`),
    /refuses: ERR DB index is out of range; check MILLRACE_REDIS_URL/
  )
  t.match(await refusalOf(`${redis.url}/main`), /not the number of a database/)
  t.match(await refusalOf(redis.url.replace('//', '//somebody:wrong@')), /refuses: WRONGPASS/)
  const admin = administrator(t, redis.url)
  await admin.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@connection', '+info', '+get')
  t.match(await refusalOf(redis.url.replace('//', '//reader:secret@')), /refuses: NOPERM/)
  await admin.config('SET', 'requirepass', 'p@ss/word')
  t.match(await refusalOf(redis.url), /refuses: NOAUTH/)
  const connection = await joinService(t, { url: redis.url.replace('//', '//:p%40ss%2Fword@') })
  t.ok(connection.available)
  // A server that refuses later counts as unreachable, and as reachable once it stops refusing.
  await admin.config('SET', 'requirepass', 'another')
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await until(() => connection.outage?.detail.includes('WRONGPASS') ?? false)
  await admin.config('SET', 'requirepass', 'p@ss/word')
  await until(() => connection.available)
})

testWithOwnRedis(
  t,
  'a server that answers and takes no writes is away, and back once it does',
  async (t, redis) => {
    const connection = await joinService(t, redis)
    const admin = administrator(t, redis.url)
    await admin.config('SET', 'maxmemory', '1')
    await until(() => !connection.available)
    t.match(connection.outage?.detail, /OOM/)
    await admin.config('SET', 'maxmemory', '0')
    await until(() => connection.available)
    t.equal(connection.said.warn.length, 1)
    t.equal(connection.said.info.length, 1)
  }
)

testWithRedis(
  t,
  'processes know how many they are, and that fewer are left after some beats',
  async (t, redis) => {
    const clock = virtualClock()
    const first = await joinService(t, redis, { clock, random: Math.random })
    t.equal(first.processes, 1)
    const others = [await joinService(t, redis), await joinService(t, redis)]
    t.equal(others[1]!.processes, 3)
    clock.increment(1_000)
    await until(() => first.processes === 3)
    await joinService(t, { ...redis, prefix: `${redis.prefix}another:` })
    for (const other of others) await other.close()
    let beats = 0
    while (first.processes !== 1) {
      const before = first.serverNowMs - clock.now()
      clock.increment(1_000)
      // The server's clock runs, and the test's advanced by a second. The clocks are compared again when a heartbeat is
      // answered.
      await until(() => first.serverNowMs - clock.now() !== before)
      t.ok(++beats <= 12)
    }
    t.ok(beats > 5, `${beats} beats`)
  }
)

testWithRedis(t, 'a script that the server has forgotten is sent again', async (t, redis) => {
  const connection = await joinService(t, redis)
  const one = connection.define(ONE)
  t.equal(await one([], []), 1)
  const admin = administrator(t, redis.url)
  await admin.script('FLUSH')
  t.equal(await one([], []), 1)
})
