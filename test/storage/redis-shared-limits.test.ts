import fc from 'fast-check'
import t from 'tap'
import { RedisSlotFloors } from '../../storage/redis/slot-floors.ts'
import { RedisSocketCounts } from '../../storage/redis/socket-counts.ts'
import { testWithOwnRedis, testWithRedis } from '../servers/redis.ts'
import { randomRuns } from '../random-runs.ts'
import { until } from '../until.ts'
import { joinService } from './redis-processes.ts'

testWithRedis(
  t,
  'places of a key are counted over all processes, and the next one is refused everywhere',
  async (t, redis) => {
    const [a, b] = [
      new RedisSocketCounts(await joinService(t, redis)),
      new RedisSocketCounts(await joinService(t, redis))
    ]
    const taken = await Promise.all(
      Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? a : b).take('key', 20))
    )
    t.equal(taken.filter(Boolean).length, 20)
    t.same([await a.take('key', 20), await b.take('key', 20)], [false, false])
    t.equal(await a.take('another', 20), true)
    await b.release('key')
    t.same([await a.take('key', 20), await b.take('key', 20)], [true, false])
  }
)

testWithRedis(t, 'the places of a process that is gone are free', async (t, redis) => {
  const [first, second] = [await joinService(t, redis), await joinService(t, redis)]
  const [a, b] = [new RedisSocketCounts(first), new RedisSocketCounts(second)]
  for (let at = 0; at < 3; at++) await a.take('key', 3)
  t.equal(await b.take('key', 3), false)
  await first.close()
  t.equal(await b.take('key', 3), true)
})

testWithOwnRedis(
  t,
  'places that a restarted Redis has lost are restored by their process',
  async (t, redis) => {
    const [first, second] = [await joinService(t, redis), await joinService(t, redis)]
    const [a, b] = [new RedisSocketCounts(first), new RedisSocketCounts(second)]
    await a.take('key', 3)
    await redis.kill()
    await until(() => !first.available && !second.available)
    await t.rejects(a.take('key', 3), { name: 'ServiceError' })
    await redis.start()
    await until(() => first.available && second.available)
    await a.restore(new Map([['key', 3]]))
    t.equal(await b.take('key', 3), false)
  }
)

testWithRedis(t, 'floors of a key are the greatest slots that any process has sent', async (t, redis) => {
  const both = [
    new RedisSlotFloors(await joinService(t, redis)),
    new RedisSlotFloors(await joinService(t, redis))
  ]
  const slots = fc.tuple(fc.nat(400_000_000), fc.nat(400_000_000), fc.nat(400_000_000))
  let key = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), slots), { minLength: 1, maxLength: 5 }), async (raises) => {
      key++
      const expected = [0, 0, 0]
      for (const [at, raised] of raises) {
        for (const [index, slot] of raised.entries()) expected[index] = Math.max(expected[index]!, slot)
        if (String(await both[at]!.raise(`key-${key}`, raised)) !== String(expected)) return false
      }
      return String(await both[0]!.raise(`key-${key}`, [0, 0, 0])) === String(expected)
    }),
    randomRuns(30)
  )
})
