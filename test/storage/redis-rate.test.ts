import { setImmediate } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import type { RateUse } from '../../storage/cluster/coordination.ts'
import { SharedRate } from '../../src/access/shared-rate.ts'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { RedisRateCounter } from '../../storage/redis/rate-counter.ts'
import { testWithOwnRedis, testWithRedis } from '../servers/redis.ts'
import { joinService } from './redis-processes.ts'
import { until } from '../until.ts'

const { clock } = systemPorts

interface Member {
  readonly connection: Awaited<ReturnType<typeof joinService>>
  readonly rate: SharedRate
  /**
   * Factor by which calls wait longer for their counts than in a service. On a busy machine an answer takes longer than a
   * call may wait, and the call is then counted in the share.
   */
  readonly patience: { factor: number }
  /** Counts a call of a name in the present minute. */
  readonly take: (name: string, quota: number) => RateUse | Promise<RateUse>
}

async function join(
  t: Test,
  server: { readonly url: string; readonly prefix?: string },
  at: Clock = clock
): Promise<Member> {
  const connection = await joinService(t, server, { ...systemPorts, clock: at })
  const patience = { factor: 100 }
  const patient: Clock = {
    ...at,
    setTimeout: (callback, ms) => {
      const timer = at.setTimeout(callback, ms * patience.factor)
      // A tick after the end of the test has no effect.
      ;(timer as NodeJS.Timeout).unref()
      return timer
    }
  }
  const rate = new SharedRate(new RedisRateCounter(connection), { clock: patient, namesMax: 1_000 })
  return { connection, rate, patience, take: (name, quota) => rate.take(name, quota, at.now()) }
}

const allowedIn = (uses: readonly RateUse[]): number => uses.filter(({ allowed }) => allowed).length

let names = 0

/** Number of times that processes took their server for unreachable: on a busy machine that happens without a fault. */
const outagesOf = (members: readonly Member[]): number =>
  members.reduce((sum, { connection }) => sum + connection.said.warn.length, 0)

const inShareOf = (members: readonly Member[]): number =>
  members.reduce((sum, { rate }) => sum + rate.callsInShare, 0)

/**
 * Makes calls until all of them fall into one minute of the server, and no process loses the server meanwhile. Each attempt
 * uses another name. Returns the uses, and the number of calls that were counted in shares.
 */
async function inOneMinute(
  members: readonly Member[],
  calls: (name: string) => Promise<RateUse[]>
): Promise<{ readonly uses: RateUse[]; readonly inShare: number }> {
  for (let attempt = 0; ; attempt++) {
    await until(() => members.every(({ connection }) => connection.available))
    const [outages, inShare] = [outagesOf(members), inShareOf(members)]
    const uses = await calls(`key ${++names}`)
    const isWhole = uses.every(({ resetAt }) => resetAt === uses[0]!.resetAt)
    if (isWhole && outagesOf(members) === outages) return { uses, inShare: inShareOf(members) - inShare }
    if (attempt > 20) throw new Error('no minute is long enough, or the server is lost again and again')
  }
}

testWithRedis(t, 'two processes that call at once share a quota to the call', async (t, redis) => {
  const [one, two] = [await join(t, redis), await join(t, redis)]
  for (const quota of [1, 7, 500]) {
    const { uses, inShare } = await inOneMinute([one, two], (name) =>
      Promise.all(
        Array.from({ length: 2 * quota + 50 }, async (_, i) => (i % 2 ? one : two).take(name, quota))
      )
    )
    t.equal(allowedIn(uses), quota)
    const left = uses.filter(({ allowed }) => allowed).map((use) => use.left)
    t.strictSame(
      left.sort((a, b) => a - b),
      Array.from({ length: quota }, (_, i) => i),
      'each is told another rest'
    )
    t.equal(inShare, 0)
  }
})

testWithRedis(
  t,
  'the clock of the server decides the minute, whatever the processes have for one',
  async (t, redis) => {
    const ahead = { ...clock, now: () => clock.now() + 3_630_000 }
    const [one, two] = [await join(t, redis), await join(t, redis, ahead)]
    const beganS = Date.now() / 1_000
    const { uses } = await inOneMinute([one, two], async (name) => {
      const uses: RateUse[] = []
      for (let i = 0; i < 10; i++) uses.push(await (i % 2 ? one : two).take(name, 4))
      return uses
    })
    t.equal(allowedIn(uses), 4)
    for (const { resetAt, resetIn } of uses) {
      const nowS = resetAt - resetIn
      t.ok(nowS >= beganS - 1 && nowS <= Date.now() / 1_000 + 1)
      t.ok(resetAt % 60 === 0 && resetIn >= 1 && resetIn <= 60)
    }
  }
)

testWithOwnRedis(
  t,
  'a call is one round trip, and what is counted goes away with its minute',
  async (t, redis) => {
    const { connection, rate, take } = await join(t, redis)
    const admin = new Redis(redis.url)
    t.teardown(() => admin.disconnect())
    await take('key', 10)
    const scripts = async (): Promise<number> => {
      const stats = await admin.info('commandstats')
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
    }
    const before = await scripts()
    for (let i = 0; i < 200; i++) await take('key', 10)
    // The connection's heartbeats are scripts too.
    const sent = (await scripts()) - before
    t.ok(sent >= 200 && sent < 400, `${sent} scripts for 200 calls`)
    const key = connection.key('rate', 'key')
    const ttl = await admin.ttl(key)
    t.ok(ttl > 0 && ttl <= 60, `${ttl} s`)
    t.equal(await admin.hget(key, 'calls'), '10', 'refused calls have taken nothing')
    t.match(await rate.look('key', 10, clock.now()), { allowed: false, left: 0 })
    t.match(await rate.look('unseen', 10, clock.now()), { allowed: true, left: 10 })
    t.equal(await admin.exists(connection.key('rate', 'unseen')), 0)
    // The previous minute, as it is found after a minute's end.
    await admin.hset(key, 'window', Math.floor(Date.now() / 60_000) - 1)
    const another = await join(t, redis)
    t.match(await another.rate.look('key', 10, clock.now()), { allowed: true, left: 10 })
  }
)

testWithOwnRedis(
  t,
  'a server killed under load leaves each process its share, and is used again when it is back',
  async (t, redis) => {
    const members = [await join(t, redis), await join(t, redis)]
    await until(() => members.every(({ connection }) => connection.processes === 2))
    const QUOTA = 100
    const allowed = { before: 0, away: 0 }
    const call = async (member: Member, name: string): Promise<boolean> =>
      (await member.take(name, QUOTA)).allowed
    for (let i = 0; i < 10; i++) if (await call(members[0]!, 'used')) allowed.before++
    // In the middle of many calls.
    const inFlight = Array.from({ length: 400 }, (_, i) => call(members[i % 2]!, 'crowded'))
    const killed = redis.kill()
    const through = (await Promise.all(inFlight)).filter(Boolean).length
    await killed
    await until(() => members.every(({ connection }) => !connection.available))
    const minute = Math.floor(Date.now() / 60_000)
    for (let i = 0; i < 300; i++) if (await call(members[i % 2]!, 'used')) allowed.away++
    const turned = Math.floor(Date.now() / 60_000) !== minute
    t.equal(allowed.before, 10)
    t.ok(turned || allowed.away === 90, `${allowed.away} calls let through in the shares`)
    t.ok(through >= QUOTA && through <= 2 * QUOTA, `${through} of 400 calls at once`)
    const inShare = members.map(({ rate }) => rate.callsInShare)
    t.ok(
      inShare.every((calls) => calls >= 150),
      inShare.join(' and ')
    )
    await redis.start()
    await until(() => members.every(({ connection }) => connection.available))
    const first = await members[0]!.take('used', QUOTA)
    // The minute's share was used up: the rest is counted from there, although the server has forgotten everything.
    const isNextMinute = Math.floor(first.resetAt / 60) - 1 !== minute
    t.equal(first.left, isNextMinute ? QUOTA - 1 : QUOTA / 2 - 1)
    const after = await inOneMinute(members, (name) =>
      Promise.all(Array.from({ length: 300 }, async (_, i) => members[i % 2]!.take(name, QUOTA)))
    )
    t.equal(allowedIn(after.uses), QUOTA, 'to the call again')
    t.equal(after.inShare, 0)
  }
)

testWithOwnRedis(t, 'a server that stands still holds nobody up, and opens no quota', async (t, redis) => {
  const members = [await join(t, redis), await join(t, redis)]
  await until(() => members.every(({ connection }) => connection.processes === 2))
  const QUOTA = 40
  for (const { patience } of members) patience.factor = 1
  const uses: RateUse[] = []
  const round = async (): Promise<void> => {
    uses.push(...(await Promise.all([...members, ...members].map(async ({ take }) => take('key', QUOTA)))))
    await setImmediate()
  }
  redis.pause()
  while (members.some(({ connection }) => connection.available)) await round()
  for (let more = 0; more < QUOTA; more++) await round()
  const minutes = new Set(uses.map(({ resetAt }) => resetAt)).size
  t.ok(allowedIn(uses) >= QUOTA && allowedIn(uses) <= QUOTA * minutes, `${allowedIn(uses)} let through`)
  t.equal(
    members[0]!.rate.callsInShare + members[1]!.rate.callsInShare,
    uses.length,
    'none was answered by it'
  )
  redis.resume()
  for (const { patience } of members) patience.factor = 100
  const after = await inOneMinute(members, async (name) => [await members[0]!.take(name, QUOTA)])
  t.equal(after.inShare, 0)
})

testWithRedis(
  t,
  'work of two processes adds up on the server, and what exceeds the quota is carried over',
  async (t, redis) => {
    const [one, two] = [await join(t, redis), await join(t, redis)]
    await until(() => [one, two].every(({ connection }) => connection.available))
    const name = `work ${++names}`
    const none = { window: 0, units: 0 }
    const charge = ({ connection }: Member, units: number, windowSeconds: number, quota = 10) =>
      new RedisRateCounter(connection).charge({ name, quota, windowSeconds, units, own: none })
    // Windows of an hour: no window ends between the calls, or the first attempt is repeated by a rerun.
    t.equal((await charge(one, 300, 3_600)).units, 300)
    const { units, nowMs } = await charge(two, 50, 3_600)
    t.equal(units, 350)
    const window = Math.floor(nowMs / 3_600_000)
    const lost = new RedisRateCounter(one.connection).charge({
      name: `work ${++names}`,
      quota: 10,
      windowSeconds: 3_600,
      units: 5,
      own: { window, units: 70 }
    })
    t.equal((await lost).units, 75, 'a server that lost its data starts from what a process has reported')
    const carried = `work ${++names}`
    const a = await new RedisRateCounter(one.connection).charge({
      name: carried,
      quota: 10,
      windowSeconds: 1,
      units: 1_000_000,
      own: none
    })
    let b = a
    while (Math.floor(b.nowMs / 1_000) === Math.floor(a.nowMs / 1_000))
      b = await new RedisRateCounter(two.connection).charge({
        name: carried,
        quota: 10,
        windowSeconds: 1,
        units: 0,
        own: none
      })
    t.equal(b.units, 1_000_000 - 10 * (Math.floor(b.nowMs / 1_000) - Math.floor(a.nowMs / 1_000)))
  }
)
