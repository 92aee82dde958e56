import t, { type Test } from 'tap'
import { Registry } from 'prom-client'
import { fleet } from '../../actors/fleet/fleet.ts'
import { announcementText, type Announcement } from '../../src/fleet/announcement.ts'
import { Fleet } from '../../src/fleet/fleet.ts'
import { LeaseBook } from '../../src/fleet/lease-book.ts'
import { fleetMetrics } from '../../src/fleet/metrics.ts'
import { PRESENCE_MS, type HeardProcess, type Presence } from '../../storage/cluster/coordination.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { ownDirectory } from '../own-directory.ts'
import { until } from '../until.ts'
import { virtualClock, type VirtualClock } from '../virtual-time.ts'
import { announced } from './sample-fleet.ts'

/** The announcements of a Redis that can be unreachable, in the time of a virtual clock. */
class FakePresence implements Presence {
  readonly #clock: VirtualClock
  readonly texts = new Map<string, { text: string; atMs: number }>()
  sinceMs = -PRESENCE_MS
  isAway = false
  /** Processes that do not reach it. */
  readonly cutOff = new Set<string>()

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  async announce(id: string, text: string) {
    if (this.isAway || this.cutOff.has(id)) throw new Error('it is unreachable')
    const nowMs = this.#clock.now()
    this.texts.set(id, { text, atMs: nowMs })
    const processes: HeardProcess[] = []
    for (const [id, { text, atMs }] of this.texts)
      if (nowMs - atMs <= PRESENCE_MS) processes.push({ id, text, silentMs: nowMs - atMs })
    return { coversMs: nowMs - this.sinceMs, processes }
  }

  async leave(id: string): Promise<void> {
    this.texts.delete(id)
  }
}

/** Processes of one service on one store, and on one Redis or without it. */
async function world(t: Test, { hasRedis }: { readonly hasRedis: boolean }) {
  const clock = virtualClock()
  const redis = new FakePresence(clock)
  const storage = await openEmbeddedStorage({ directory: ownDirectory(t), hotBytesMax: 2 ** 20 })
  t.teardown(() => storage.close())
  const shared = { documents: storage.documents, isShared: true }
  let beats = 0
  const start = (id: string, is: Partial<Announcement> = {}) => {
    const own = announced(is)
    const process = new Fleet({ id, clock, own: () => own, isAlone: false })
    const logged: string[] = []
    const log = (_about: unknown, text: string): void => void logged.push(text)
    const registry = new Registry()
    const draining = new AbortController()
    const shares: number[] = []
    const started = Promise.withResolvers<void>()
    const run = fleet<{ readonly storage: typeof shared }>(
      {
        fleet: process,
        clock,
        logger: { info: log, warn: log } as never,
        metrics: fleetMetrics(registry, new LeaseBook()),
        prepare: async () => undefined
      },
      () => ({
        presence: hasRedis ? redis : null,
        shareAmong: (count) => {
          shares.push(count)
          beats++
        }
      })
    )
    const done = run({
      input: { storage: shared },
      draining: draining.signal,
      signal: new AbortController().signal,
      ready: () => started.resolve(),
      gauge: () => undefined,
      supervises: () => undefined,
      show: () => undefined,
      report: (error) => t.fail(String(error))
    })
    const end = async (): Promise<void> => {
      draining.abort()
      // The farewell waits for the store or for this timer.
      const farewell = setInterval(() => clock.increment(1), 1)
      await done
      clearInterval(farewell)
    }
    return { process, logged, registry, shares, end, started: started.promise }
  }
  type Started = ReturnType<typeof start>
  /** Passes some seconds: each live process has announced itself once in each of them. */
  const pass = async (seconds: number, ...live: readonly Started[]): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      const before = beats
      clock.increment(1_000)
      await until(() => beats >= before + live.length, 'they have heard each other')
    }
  }
  return { clock, redis, start, pass }
}

const GATEWAY = { roles: ['gateway'], works: [] } satisfies Partial<Announcement>
const DELIVERY = { roles: ['delivery'], works: ['transactions'] } satisfies Partial<Announcement>
const SENDING = { name: 'transactions', role: 'delivery' } as const
const metricsOf = async ({ registry }: { readonly registry: Registry }) => registry.metrics()

for (const hasRedis of [true, false]) {
  const where = hasRedis ? 'Redis' : 'the store'
  void t.test(
    `over ${where}, a gateway knows within seconds that a delivery process came and went`,
    async (t) => {
      const { start, pass } = await world(t, { hasRedis })
      const gateway = start('gateway', GATEWAY)
      await gateway.started
      await pass(6, gateway)
      t.equal(gateway.process.source, hasRedis ? 'redis' : 'store')
      t.same(gateway.process.missingRoles, ['ingest', 'delivery'])
      t.match(await metricsOf(gateway), 'millrace_role_missing{role="delivery"} 1')
      const delivery = start('delivery', DELIVERY)
      await delivery.started
      await pass(1, gateway, delivery)
      t.same(gateway.process.missingRoles, ['ingest'])
      t.equal(gateway.process.absence(SENDING), null)
      t.match(await metricsOf(gateway), 'millrace_fleet_processes{role="delivery"} 1')
      await pass(10, gateway, delivery)
      t.equal(gateway.process.absence(SENDING), null)
      await delivery.end()
      await pass(2, gateway)
      t.ok(gateway.process.absence(SENDING), 'it has said farewell')
      t.same(
        gateway.logged.filter((line) => line.includes('delivery')).map((line) => line.split(';')[0]),
        [
          'no process has the role delivery',
          'a process has the role delivery again',
          'no process has the role delivery'
        ],
        'a line for each change'
      )
      await gateway.end()
    }
  )
}

t.test(
  'an outage of Redis hides no process: the store has them, and none is ever called missing',
  async (t) => {
    const { redis, start, pass } = await world(t, { hasRedis: true })
    const gateway = start('gateway', GATEWAY)
    const delivery = start('delivery', DELIVERY)
    await Promise.all([gateway.started, delivery.started])
    await pass(6, gateway, delivery)
    redis.isAway = true
    for (let second = 0; second < 15; second++) {
      await pass(1, gateway, delivery)
      t.equal(gateway.process.absence(SENDING), null)
    }
    t.equal(gateway.process.source, 'store')
    await delivery.end()
    await pass(6, gateway)
    t.ok(gateway.process.absence(SENDING), 'a process that ends meanwhile is missed there too')
    redis.isAway = false
    redis.texts.clear()
    await pass(1, gateway)
    t.equal(gateway.process.source, 'redis')
    await gateway.end()
  }
)

t.test('a process that is cut off from Redis alone is found in the store', async (t) => {
  const { redis, start, pass } = await world(t, { hasRedis: true })
  const gateway = start('gateway', GATEWAY)
  const delivery = start('delivery', DELIVERY)
  await Promise.all([gateway.started, delivery.started])
  await pass(6, gateway, delivery)
  redis.cutOff.add('delivery')
  for (let second = 0; second < 15; second++) {
    await pass(1, gateway, delivery)
    t.equal(gateway.process.absence(SENDING), null)
  }
  t.equal(gateway.process.source, 'redis')
  await delivery.end()
  await pass(6, gateway)
  t.ok(gateway.process.absence(SENDING))
  await gateway.end()
})

t.test('a Redis that comes back empty does not make roles missing', async (t) => {
  const { clock, redis, start, pass } = await world(t, { hasRedis: true })
  const gateway = start('gateway', GATEWAY)
  await gateway.started
  await pass(1, gateway)
  t.same(gateway.process.missingRoles, ['ingest', 'delivery'], 'it has been there for longer')
  redis.texts.clear()
  redis.sinceMs = clock.now()
  for (let second = 0; second < 4; second++) {
    await pass(1, gateway)
    t.same(gateway.process.missingRoles, [])
  }
  await pass(1, gateway)
  t.same(gateway.process.missingRoles, ['ingest', 'delivery'])
  await gateway.end()
})

t.test('quotas are divided among gateways alone, and among no fewer while some are silent', async (t) => {
  const { start, pass } = await world(t, { hasRedis: false })
  const first = start('first', GATEWAY)
  const second = start('second', GATEWAY)
  const delivery = start('delivery', DELIVERY)
  await Promise.all([first.started, second.started, delivery.started])
  await pass(2, first, second, delivery)
  t.equal(first.shares.at(-1), 2)
  await second.end()
  await pass(8, first, delivery)
  t.equal(first.shares.at(-1), 2, 'as long as it may come back')
  await pass(4, first, delivery)
  t.equal(first.shares.at(-1), 1)
  await first.end()
  await delivery.end()
})

t.test('a process with another venue is told so once, and its peers are not', async (t) => {
  const { start, pass } = await world(t, { hasRedis: true })
  const own = (venues: string) => ({ settings: { MILLRACE_VENUES: venues } })
  const started = [start('a', own('all')), start('b', own('all')), start('c', own('phoenix'))]
  await Promise.all(started.map((each) => each.started))
  await pass(5, ...started)
  const lines = started.map(({ logged }) => logged.filter((line) => line.includes('MILLRACE_VENUES')).length)
  t.same(lines, [0, 0, 1])
  for (const each of started) await each.end()
})

t.test('an announcement of another version, or one that is no announcement, is survived', async (t) => {
  const { redis, clock, start, pass } = await world(t, { hasRedis: true })
  const gateway = start('gateway', GATEWAY)
  await gateway.started
  const later = { ...announced(DELIVERY), invented: true }
  redis.texts.set('later', { text: announcementText(later), atMs: clock.now() })
  redis.texts.set('broken', { text: '{"roles":["x"', atMs: clock.now() })
  redis.texts.set('long', { text: `"${'x'.repeat(40_000)}"`, atMs: clock.now() })
  await pass(1, gateway)
  t.same(
    gateway.process.processes.map(({ id }) => id),
    ['gateway', 'later']
  )
  await gateway.end()
})
