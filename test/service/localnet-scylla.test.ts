import t from 'tap'
import { WSOL } from '../../src/market/cash.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { ownDirectory } from '../own-directory.ts'
import { faultsBesideOutages, until } from './asking.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { startLocalnetProcess, type LocalnetProcess } from './localnet-process.ts'

const slotOf = async (service: LocalnetProcess): Promise<number> =>
  Number((await service.get('/v1/health', null)).body['slot'])

testWithCql(t, 'the localnet on CQL, as docker compose starts it', (t, server) => {
  testWithOwnRedis(
    t,
    'with Redis: its market moves, and goes on where it was at the next start',
    async (t, redis) => {
      const environment = clusterEnvironment(server, ownKeyspace(t, server), redis.url)
      const dataDir = ownDirectory(t)
      const first = await startLocalnetProcess(t, dataDir, [], environment)
      t.notOk(
        first.stdout.some((line) => line.startsWith('demo key')),
        'every gateway of the cluster would accept a demo key'
      )
      const begun = await slotOf(first)
      await until(async () => (await slotOf(first)) > begun + 5, 'blocks come')
      for (const path of [
        '/v1/launches?limit=5',
        `/v1/tokens/${WSOL}/trades?limit=5`,
        '/v1/trending?limit=5'
      ])
        t.equal((await first.get(path)).body.data.length, 5, path)
      t.same(await first.end('SIGTERM'), { code: 0, signal: null })
      t.same(faultsBesideOutages(first), [])

      const second = await startLocalnetProcess(t, dataDir, [], environment)
      await until(async () => (await slotOf(second)) > begun + 10, 'it goes on')
      const { gaps } = (await second.get('/v1/admin/coverage')).body as unknown as { gaps: unknown[] }
      t.same(gaps, [], 'no slot is missing')
      t.same(await second.end('SIGTERM'), { code: 0, signal: null })
    }
  )
})
