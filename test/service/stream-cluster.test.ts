import t from 'tap'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { localnetCluster } from './localnet-cluster.ts'
import { judgeSwarm, SLOTS, swarmUntil } from './stream-run.ts'

testWithCql(t, 'a stream on one CQL server', (t, server) =>
  testWithOwnRedis(
    t,
    '50 clients that go from one of two processes to the other: each hears what the store has, once, in order, to the byte',
    async (t, redis) => {
      const { start, openStorage } = await localnetCluster(t, server, redis.url)
      const first = await start('first', '--localnet-slot-ms', '120')
      const second = await start('second', '--role', 'gateway')
      const services = [first, second]
      const heard = await swarmUntil(
        SLOTS,
        () => services,
        async () => undefined
      )
      for (const service of services) t.match(await service.end('SIGTERM'), { code: 0 })
      await judgeSwarm(t, heard, await openStorage())
    }
  )
)
