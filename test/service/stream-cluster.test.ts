import { join } from 'node:path'
import t from 'tap'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { scyllaOptions } from '../storage/scylla-keyspace.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { makeBusyLocalnet } from './localnet-process.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'
import { judgeSwarm, SLOTS, swarmUntil } from './stream-run.ts'

testWithCql(t, 'a stream on one CQL server', (t, server) =>
  testWithOwnRedis(
    t,
    '50 clients that go from one of two processes to the other: each hears what the store has, once, in order, to the byte',
    async (t, redis) => {
      const keyspace = ownKeyspace(t, server)
      const environment = clusterEnvironment(server, keyspace, redis.url)
      const directory = t.testdir()
      const start = async (name: string, ...more: string[]): Promise<ServiceProcess> => {
        const dataDir = join(directory, name)
        const service = await startProcess({ dataDir, recordedDir: null, environment, more })
        t.teardown(async () => {
          if (service.child.exitCode === null) await service.end('SIGKILL')
          if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
        })
        return service
      }
      await makeBusyLocalnet(join(directory, 'first'))
      const first = await start('first', '--localnet-slot-ms', '30')
      const second = await start('second', '--role', 'gateway')
      const services = [first, second]
      const heard = await swarmUntil(
        SLOTS,
        () => services,
        async () => undefined
      )
      for (const service of services) t.match(await service.end('SIGTERM'), { code: 0 })
      const storage = await openScyllaStorage(scyllaOptions(server, keyspace))
      t.teardown(() => storage.close())
      await judgeSwarm(t, heard, storage)
    }
  )
)
