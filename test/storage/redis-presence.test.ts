import t from 'tap'
import { PRESENCE_MS } from '../../storage/cluster/coordination.ts'
import { RedisPresence } from '../../storage/redis/presence.ts'
import { testWithOwnRedis, testWithRedis } from '../servers/redis.ts'
import { until } from '../until.ts'
import { virtualClock } from '../virtual-time.ts'
import { joinService } from './redis-processes.ts'

testWithRedis(
  t,
  'processes hear the newest announcement of each, and none after its farewell',
  async (t, redis) => {
    const [a, b] = [
      new RedisPresence(await joinService(t, redis)),
      new RedisPresence(await joinService(t, redis))
    ]
    await a.announce('a', 'one')
    const { processes } = await b.announce('b', '{"of":"b"}')
    t.same(Object.fromEntries(processes.map(({ id, text }) => [id, text])), { a: 'one', b: '{"of":"b"}' })
    const heard = async () => (await a.announce('a', 'two')).processes.map(({ id, text }) => `${id} ${text}`)
    t.same((await heard()).toSorted(), ['a two', 'b {"of":"b"}'])
    await b.leave('b')
    t.same(await heard(), ['a two'])
  }
)

testWithRedis(t, 'a process that announces nothing for five seconds is heard no more', async (t, redis) => {
  const [a, b] = [
    new RedisPresence(await joinService(t, redis)),
    new RedisPresence(await joinService(t, redis))
  ]
  await b.announce('b', '')
  let silentMs = 0
  await until(async () => {
    const found = (await a.announce('a', '')).processes.find(({ id }) => id === 'b')
    silentMs = Math.max(silentMs, found?.silentMs ?? 0)
    return found === undefined
  })
  t.ok(silentMs <= PRESENCE_MS, `${silentMs} ms`)
})

testWithRedis(
  t,
  'an announcement is a heartbeat of its process, whose own one is due half a second late then',
  async (t, redis) => {
    const clock = virtualClock()
    const connection = await joinService(t, redis, { clock, random: Math.random })
    const one = connection.define({ name: 'one', keys: 0, lua: 'return 1' })
    const presence = new RedisPresence(connection)
    await joinService(t, redis)
    t.equal(connection.processes, 1)
    await presence.announce('a', '')
    t.equal(connection.processes, 2, 'it counts the live processes')
    // The server's clock runs, and the test's stands still: each heartbeat moves the one against the other.
    const aheadMs = (): number => connection.serverNowMs - clock.now()
    const announcedMs = aheadMs()
    clock.increment(1_499)
    await one([], [])
    t.equal(aheadMs(), announcedMs)
    clock.increment(1)
    await until(() => aheadMs() !== announcedMs)
    const beatMs = aheadMs()
    clock.increment(1_000)
    await until(() => aheadMs() !== beatMs)
  }
)

testWithOwnRedis(t, 'a Redis that has lost its data covers only the time since then', async (t, redis) => {
  const connection = await joinService(t, redis)
  const presence = new RedisPresence(connection)
  await presence.announce('a', '')
  const before = await until(async () => {
    const { coversMs } = await presence.announce('a', '')
    return coversMs > 1_500 && coversMs
  })
  await redis.kill()
  await until(() => !connection.available)
  await t.rejects(presence.announce('a', ''), { name: 'ServiceError' })
  await redis.start()
  await until(() => connection.available)
  const { coversMs } = await presence.announce('a', '')
  t.ok(coversMs < before, `${coversMs} ms after ${before} ms`)
})
