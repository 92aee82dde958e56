import t from 'tap'
import type { TreeNode } from '../../actors/supervision/live-tree.ts'
import { testWithFixtures } from '../fixtures.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { answersOf, faultsBesideOutages, leads, linesWith, metricOf, slotOf, until } from './asking.ts'
import { clusterOf } from './cluster.ts'
import { FIRST_SLOT } from './recorded-folder.ts'
import type { ServiceProcess } from './service-process.ts'
import { restartedIn } from './restarted-processes.ts'

const BLOCKS = 160
const LAST_SLOT = FIRST_SLOT + (BLOCKS - 1) * 2
/** Five blocks a second, because blocks are 11 s apart: a busy machine has time to start the second process. */
const SLOWLY = '55'
/** Slots of eight seconds, which is longer than a lease lasts without renewal. */
const SLOTS_OF_A_LEASE = 2 * 40

const reasonsOf = async (service: ServiceProcess): Promise<string[]> => {
  const { reasons } = (await service.get('/v1/health', null)).body
  return (reasons as { readonly code: string }[]).map(({ code }) => code)
}

testWithFixtures(t, 'processes of one service that lose each other', (t) => {
  testWithCql(t, 'on one CQL server', (t, server) => {
    testWithOwnRedis(
      t,
      'a leader that is paused past its lease and woken commits nothing late, and follows',
      async (t, redis) => {
        const { start, expected } = await clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        // Started together: one that starts late on a busy machine would find all blocks stored.
        const both = await Promise.all([1, 2].map(() => start('--recorded-speed', SLOWLY)))
        await until(async () => (await slotOf(both[0]!)) > FIRST_SLOT + 20, 'one ingests')
        const [first, second] = ((await leads(both[0]!)) ? both : both.toReversed()) as [
          ServiceProcess,
          ServiceProcess
        ]
        await until(async () => (await slotOf(second)) > FIRST_SLOT + 30, 'the second follows')
        first.child.kill('SIGSTOP')
        const at = await slotOf(second)
        await until(() => leads(second), 'the second ingests')
        await until(async () => (await slotOf(second)) > at + 10, 'it goes on')
        first.child.kill('SIGCONT')
        await until(async () => !(await leads(first)), 'the first has seen that its lease is lost')
        await until(async () => (await slotOf(first)) > at + 10, 'the first follows')
        t.equal(await leads(second), true)
        await until(async () => (await slotOf(first)) === LAST_SLOT, 'the end')
        const answers = await expected()
        for (const service of [first, second]) {
          t.strictSame(await answersOf(service), answers, 'the bytes of an undisturbed service')
          t.strictSame(faultsBesideOutages(service), [])
          t.match(await service.end('SIGTERM'), { code: 0 })
        }
      }
    )
    testWithOwnRedis(
      t,
      'Redis killed for longer than a lease: ingest and reads go on, quotas stay shut, health says what is away',
      async (t, redis) => {
        const { start, expected } = await clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        const first = await start('--recorded-speed', SLOWLY)
        const second = await start('--role', 'gateway', '--rate-limit-per-minute', '1000000')
        await until(async () => (await slotOf(second)) > FIRST_SLOT + 20, 'the second follows')
        await redis.kill()
        for (const service of [first, second])
          await until(async () => (await reasonsOf(service)).includes('redis_away'), 'health says it')
        const at = await slotOf(first)
        await until(async () => (await slotOf(first)) > at + SLOTS_OF_A_LEASE, 'the first ingests on')
        t.equal(await leads(first), true)
        await until(async () => (await slotOf(second)) > at + SLOTS_OF_A_LEASE, 'the second follows on')
        t.equal((await second.get('/v1/launches')).status, 200)
        t.ok((await metricOf(second, 'millrace_redis_outage_seconds')) > 0)
        await redis.start()
        for (const service of [first, second])
          await until(
            async () => !(await reasonsOf(service)).includes('redis_away'),
            'health says it is over'
          )
        await until(async () => (await slotOf(second)) === LAST_SLOT, 'the end')
        t.equal(await leads(first), true)
        t.equal(await metricOf(second, 'millrace_redis_outage_seconds'), 0)
        const answers = await expected()
        for (const service of [first, second]) {
          t.strictSame(await answersOf(service), answers)
          t.equal(linesWith(service, 'is unreachable'), 1)
          t.equal(linesWith(service, 'is back after'), 1)
          t.strictSame(faultsBesideOutages(service), [])
          t.match(await service.end('SIGTERM'), { code: 0 })
        }
      }
    )
    testWithOwnRedis(
      t,
      'Redis that hangs for longer than a lease: one of two ingests on, and no row is lost or repeated once it is back',
      async (t, redis) => {
        const { start, expected } = await clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        const first = await start('--recorded-speed', SLOWLY)
        await until(async () => (await slotOf(first)) > FIRST_SLOT, 'the first ingests')
        const second = await start('--recorded-speed', SLOWLY)
        redis.pause()
        const at = await slotOf(first)
        await until(async () => (await slotOf(second)) > at + SLOTS_OF_A_LEASE, 'the first ingests on')
        t.strictSame([await leads(first), await leads(second)], [true, false])
        redis.resume()
        for (const service of [first, second]) {
          await until(async () => (await slotOf(service)) === LAST_SLOT, 'the end')
          await until(async () => !(await reasonsOf(service)).includes('redis_away'), 'it is over')
        }
        const leading = [await leads(first), await leads(second)]
        t.equal(leading.filter(Boolean).length, 1)
        const answers = await expected()
        for (const service of [first, second]) {
          t.strictSame(await answersOf(service), answers, 'the bytes of an undisturbed service')
          const tree = await service.get('/v1/admin/tree')
          t.same(restartedIn(tree.body as unknown as TreeNode), [], 'no process was restarted')
          t.strictSame(faultsBesideOutages(service), [])
          t.match(await service.end('SIGTERM'), { code: 0 })
        }
      }
    )
  })
})
