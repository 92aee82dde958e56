import t, { type Test } from 'tap'
import { AvailableReadings } from '../../src/accounts/available-readings.ts'
import { systemPorts } from '../../src/ports.ts'
import type { SharedReading } from '../../storage/port/readings.ts'
import { RedisHints } from '../../storage/redis/hints.ts'
import { RedisSharedReadings } from '../../storage/redis/shared-readings.ts'
import { FakeReadingServer } from '../accounts/fake-shared-readings.ts'
import { testWithOwnRedis, testWithRedis } from '../servers/redis.ts'
import { until } from '../until.ts'
import { joinService } from './redis-processes.ts'
import { checkSharedReadings } from './shared-readings-cases.ts'

type Limits = ConstructorParameters<typeof RedisSharedReadings>[2]

async function join(t: Test, redis: { readonly url: string; readonly prefix?: string }, limits?: Limits) {
  const connection = await joinService(t, redis)
  const hints = new RedisHints(connection, systemPorts)
  t.teardown(() => hints.close())
  const readings = new RedisSharedReadings(connection, hints.readings, limits)
  // Hints arrive once something follows them.
  t.teardown(readings.subscribe(() => undefined))
  await until(() => readings.notifies)
  return readings
}

const reading = (key: string, slot: number, text = 'x'): SharedReading => ({
  key,
  slot,
  readAtMs: 1_000,
  text
})

testWithRedis(t, 'readings in Redis are made by one process and served by all', async (t, redis) =>
  checkSharedReadings(t, await join(t, redis), await join(t, redis))
)

testWithRedis(t, 'the other processes hear which readings were stored', async (t, redis) => {
  const [one, two] = [await join(t, redis), await join(t, redis)]
  const heard: (readonly string[] | null)[] = []
  two.subscribe((keys) => heard.push(keys))
  await one.put([reading('mint:a_-', 5), reading('orca-whirlpool:b', 5)])
  await one.put([reading('mint:a_-', 4)])
  await one.put([reading('mint:c', 5)])
  await until(() => heard.length === 2)
  t.strictSame(heard, [['mint:a_-', 'orca-whirlpool:b'], ['mint:c']], 'an older reading is not announced')
})

testWithRedis(
  t,
  'count, bytes and age of the readings are bounded, and the oldest are evicted',
  async (t, redis) => {
    const byCount = await join(t, redis, { countMax: 3 })
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      await byCount.put([reading(key, 1)])
      // Readings of one millisecond have no order of their age.
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const kept = await byCount.read(['a', 'b', 'c', 'd', 'e'])
    t.strictSame(
      kept.flatMap((each) => each?.key ?? []),
      ['c', 'd', 'e']
    )
    const byBytes = await join(t, { ...redis, prefix: `${redis.prefix}bytes:` }, { bytesMax: 1_000 })
    for (let at = 0; at < 10; at++) await byBytes.put([reading(`long${at % 5}`, at + 1, 'y'.repeat(300))])
    const long = await byBytes.read(Array.from({ length: 5 }, (_, at) => `long${at}`))
    t.equal(long.filter((each) => each !== null).length, 3)
    const byAge = await join(t, { ...redis, prefix: `${redis.prefix}age:` }, { ttlMs: 50 })
    await byAge.put([reading('old', 9)])
    await until(async () => (await byAge.read(['old']))[0] === null)
    t.strictSame(await byAge.put([reading('old', 1)]), [null], 'a lower slot counts after that time')
  }
)

testWithOwnRedis(
  t,
  'while Redis is away readings are shared by the other server, which is announced',
  async (t, redis) => {
    const inRedis = await join(t, redis)
    const inStore = new FakeReadingServer(systemPorts.clock).join({ notifies: false })
    const said: boolean[] = []
    const readings = new AvailableReadings(inRedis, inStore, (isFirst) => said.push(isFirst))
    let losses = 0
    readings.subscribe((keys) => void (losses += keys === null ? 1 : 0))
    await readings.put([reading('mint:a', 1)])
    t.equal(readings.notifies, true)
    await redis.kill()
    await until(() => !inRedis.available)
    t.equal(readings.available, true)
    t.equal(readings.notifies, false)
    t.strictSame(await readings.read(['mint:a']), [null])
    await readings.put([reading('mint:a', 2)])
    t.match(await readings.read(['mint:a']), [{ slot: 2 }])
    t.ok(losses > 0, 'what is cached is compared')
    await redis.start()
    await until(() => readings.notifies)
    t.strictSame(said, [false, true])
  }
)
