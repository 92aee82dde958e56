import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import type { Lease } from '../../storage/cluster/coordination.ts'
import { systemPorts } from '../../src/ports.ts'
import type { RedisConnection } from '../../storage/redis/connection.ts'
import { RedisLeases } from '../../storage/redis/leases.ts'
import { ROOT } from '../house/sources.ts'
import { testWithOwnRedis, testWithRedis } from '../servers/redis.ts'
import { linkTo } from './pausable-link.ts'
import { joinService } from './redis-processes.ts'
import { until } from '../until.ts'

/** Length of a lease, which a process loses if it pauses for longer: ten times the longest pause seen on a busy machine. */
const LENGTH_MS = 1_500

interface Contender {
  readonly connection: RedisConnection
  readonly leases: RedisLeases
}

async function contend(
  t: Test,
  server: { readonly url: string; readonly prefix?: string },
  lengthMs = LENGTH_MS
): Promise<Contender> {
  const connection = await joinService(t, server)
  return { connection, leases: new RedisLeases(connection, { ...systemPorts, lengthMs }) }
}

/** Tries to acquire a lease until it succeeds. Returns the lease and the time of the successful attempt. */
async function acquire({ leases }: Contender, withinMs = 60_000): Promise<{ lease: Lease; askedMs: number }> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const askedMs = performance.now()
    const lease = await leases.acquire('work')
    if (lease !== null) return { lease, askedMs }
    if (askedMs > deadline) throw new Error(`no lease within ${withinMs} ms`)
    await delay(2)
  }
}

/** Returns the time at which a lease is no longer known to be held. */
async function lapseOf(lease: Lease): Promise<number> {
  while (lease.held) await delay(1)
  return performance.now()
}

/** Resolves once a lease is lost. */
async function lossOf(lease: Lease): Promise<void> {
  if (!lease.lost.aborted) await once(lease.lost, 'abort')
}

function administrator(t: Test, url: string): Redis {
  const admin = new Redis(url)
  t.teardown(() => admin.disconnect())
  return admin
}

testWithRedis(
  t,
  'one contender has a lease as long as it renews it, then another has it with a greater token',
  async (t, redis) => {
    const [one, two] = [await contend(t, redis), await contend(t, redis)]
    const askedAtMs = Date.now()
    const { lease } = await acquire(one)
    t.ok(lease.held)
    t.ok(lease.token >= askedAtMs && lease.token <= Date.now() + 1, 'tokens follow the clock')
    const since = performance.now()
    let given = 0
    while (performance.now() - since < 4 * LENGTH_MS) {
      for (const { leases } of [one, two]) if ((await leases.acquire('work')) !== null) given++
      await delay(20)
    }
    t.equal(given, 0, 'neither to another nor to its holder again')
    t.ok(lease.held)
    const other = await two.leases.acquire('other work')
    t.ok(other?.held, 'names are apart')
    await lease.release()
    t.notOk(lease.held)
    t.ok(lease.lost.aborted)
    const next = await two.leases.acquire('work')
    t.ok(next !== null && next.token > lease.token)
    await lease.release()
    t.equal(await one.leases.acquire('work'), null, 'who has it no more cannot release it')
    await next?.release()
    await other?.release()
  }
)

testWithRedis(
  t,
  'leases that pass from hand to hand within a millisecond have tokens that grow',
  async (t, redis) => {
    const both = [await contend(t, redis), await contend(t, redis)]
    let { lease } = await acquire(both[0]!)
    for (let i = 1; i <= 200; i++) {
      const releasing = lease.release()
      const next = await acquire(both[i % 2]!)
      await releasing
      if (next.lease.token <= lease.token) t.fail(`${next.lease.token} after ${lease.token}`)
      lease = next.lease
    }
    await lease.release()
    t.pass('200 times')
  }
)

testWithRedis(
  t,
  'a holder whose connection stands still holds its lease no more before another can have it, and then has lost it',
  async (t, redis) => {
    const link = await linkTo(t, redis.url)
    const holder = await contend(t, { ...redis, url: link.url })
    const other = await contend(t, redis)
    const { lease } = await acquire(holder)
    // In the middle of renewals.
    await delay(LENGTH_MS)
    t.ok(lease.held)
    link.pause()
    const [lapsedMs, next] = await Promise.all([lapseOf(lease), acquire(other)])
    t.ok(
      lapsedMs < next.askedMs,
      `not held ${Math.round(next.askedMs - lapsedMs)} ms before another asked for it and had it`
    )
    t.notOk(lease.lost.aborted, 'nobody can have said so')
    t.ok(next.lease.token > lease.token)
    link.resume()
    await lossOf(lease)
    t.match(lease.lost.reason, /another process/)
    t.notOk(lease.held)
    t.ok(next.lease.held)
    t.equal(await holder.leases.acquire('work'), null)
    await next.lease.release()
  }
)

testWithRedis(
  t,
  'a process that stands still past its lease knows that it has lost it before it does anything',
  async (t, redis) => {
    const other = await contend(t, redis)
    const args = [join(ROOT, 'test/storage/lease-holder.ts'), redis.url, redis.prefix, String(LENGTH_MS)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => child.kill('SIGKILL'))
    const lines: string[] = []
    createInterface(child.stdout).on('line', (line) => lines.push(line))
    const ended = once(child, 'exit')
    await until(() => lines.length > 20)
    t.equal(await other.leases.acquire('work'), null)
    child.kill('SIGSTOP')
    const { lease } = await acquire(other)
    const grantedAtMs = Date.now()
    // Another process could acquire it meanwhile: the renewals of the stopped one are long due.
    await delay(LENGTH_MS)
    child.kill('SIGCONT')
    const [code] = (await ended) as [number]
    const said = lines.map((line) => line.split(' '))
    const token = Number(said[0]![1])
    t.ok(lease.token > token)
    t.equal(said.at(-1)![0], 'not')
    const heldAfter = said.filter(([state, , ms]) => state === 'held' && Number(ms) >= grantedAtMs)
    t.strictSame(heldAfter, [], 'it never took the lease for its own after another had it')
    t.equal(code, 0, 'and its signal has aborted')
    t.ok(lease.held, 'its late renewals take nothing from the other')
    await lease.release()
  }
)

for (const how of ['killed and started empty', 'hung'] as const) {
  testWithOwnRedis(
    t,
    `a server that was ${how} for longer than a lease gives it to nobody meanwhile, and finds the holder in place`,
    async (t, redis) => {
      const [one, two] = [await contend(t, redis), await contend(t, redis)]
      const { lease } = await acquire(one)
      if (how === 'hung') redis.pause()
      else await redis.kill()
      await lapseOf(lease)
      await until(() => !two.connection.available)
      t.equal(await two.leases.acquire('work'), null)
      await delay(2 * LENGTH_MS)
      t.notOk(lease.lost.aborted)
      if (how === 'hung') redis.resume()
      else await redis.start()
      await until(() => lease.held)
      await until(() => two.connection.available)
      await delay(2 * LENGTH_MS)
      t.ok(lease.held)
      t.equal(await two.leases.acquire('work'), null)
      await lease.release()
    }
  )
}

testWithOwnRedis(
  t,
  'a holder that died while the server was away is followed by another, with a greater token',
  async (t, redis) => {
    const [one, two] = [await contend(t, redis), await contend(t, redis)]
    const { lease } = await acquire(one)
    await redis.kill()
    await one.connection.close()
    const startedMs = performance.now()
    await redis.start()
    const next = await acquire(two)
    t.ok(next.lease.token > lease.token)
    t.ok(performance.now() - startedMs >= LENGTH_MS, 'after as long as a lease that it may have forgotten')
    await next.lease.release()
    await lease.release()
  }
)

testWithRedis(
  t,
  'a token is above the one that is asked for, also where the server never gave so great a one',
  async (t, redis) => {
    const [one, two] = [await contend(t, redis), await contend(t, redis)]
    await (await acquire(one)).lease.release()
    const above = Date.now() + 3_600_000
    const lease = (await one.leases.acquire('work', above))!
    t.ok(lease.token > above)
    await lease.release()
    const next = await acquire(two)
    t.ok(next.lease.token > lease.token, 'and so is the next, whoever asks')
    await next.lease.release()
  }
)

testWithOwnRedis(
  t,
  'a server that comes back at once, or forgets all, finds the holder in place',
  async (t, redis) => {
    // Long enough for a server that starts on a busy machine.
    const lengthMs = 2_500
    const [one, two] = [await contend(t, redis, lengthMs), await contend(t, redis, lengthMs)]
    const admin = administrator(t, redis.url)
    admin.on('error', () => undefined)
    const { lease } = await acquire(one)
    const key = one.connection.key('lease', 'work', 'holder')
    let offered = 0
    let asking = true
    const asked = (async () => {
      while (asking) {
        if ((await two.leases.acquire('work')) !== null) offered++
        await delay(5)
      }
    })()
    for (const forget of [() => redis.restart(), () => admin.flushall()]) {
      await forget()
      await until(() => one.connection.available && admin.status === 'ready')
      while ((await admin.get(key)) === null) await delay(5)
      await delay(1.2 * lengthMs)
      t.ok(lease.held, String(lease.lost.reason))
    }
    asking = false
    await asked
    t.equal(offered, 0, 'nobody else had it meanwhile')
    await lease.release()
    await admin.flushall()
    const next = await acquire(two)
    t.ok(next.lease.token > lease.token, 'a token grows over the loss of the one before')
    await next.lease.release()
  }
)

testWithOwnRedis(
  t,
  'a lease that another has been given is lost at the next renewal, and nobody can release it but its holder',
  async (t, redis) => {
    const one = await contend(t, redis)
    const admin = administrator(t, redis.url)
    const { lease } = await acquire(one)
    const key = one.connection.key('lease', 'work', 'holder')
    await admin.set(key, 'somebody else', 'PX', 60_000)
    await lossOf(lease)
    t.match(lease.lost.reason, /another process/)
    await lease.release()
    t.equal(await admin.get(key), 'somebody else')
  }
)

testWithOwnRedis(
  t,
  'a renewal that the server reads late, of a holder that has died meanwhile, renews nothing',
  async (t, redis) => {
    const [holder, other] = [await contend(t, redis), await contend(t, redis)]
    const { lease } = await acquire(holder)
    redis.pause()
    // By then a renewal is in flight.
    await lapseOf(lease)
    await Promise.all([lease.release(), holder.connection.close()])
    await delay(LENGTH_MS)
    redis.resume()
    await until(() => other.connection.available)
    const next = await other.leases.acquire('work')
    t.ok(next?.held, 'the lease is free at once')
    await next?.release()
  }
)

testWithOwnRedis(t, 'a request for a lease that the server reads too late is refused', async (t, redis) => {
  const [one, two] = [await contend(t, redis), await contend(t, redis)]
  await (await acquire(one)).lease.release()
  redis.pause()
  t.equal(await one.leases.acquire('work'), null, 'it is given up with its connection')
  redis.resume()
  await until(() => two.connection.available)
  const lease = await two.leases.acquire('work')
  t.ok(lease?.held, 'nobody has it')
  await lease?.release()
})

testWithOwnRedis(
  t,
  'of leases that a process renews together, one that another has been given is lost alone',
  async (t, redis) => {
    const one = await contend(t, redis)
    const admin = administrator(t, redis.url)
    const { lease } = await acquire(one)
    const [kept, given] = await Promise.all(['kept', 'given'].map((name) => one.leases.acquire(name)))
    await admin.set(one.connection.key('lease', 'given', 'holder'), 'somebody else', 'PX', 60_000)
    await lossOf(given!)
    t.match(given!.lost.reason, /another process/)
    await delay(2 * LENGTH_MS)
    t.ok(lease.held)
    t.ok(kept?.held)
    for (const each of [lease, kept!]) await each.release()
  }
)
