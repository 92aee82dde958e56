import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { answersOf, faultsOf, leads, linesWith, metricOf, slotOf, until } from './asking.ts'
import { clusterOf } from './cluster.ts'
import { FIRST_SLOT } from './recorded-folder.ts'
import type { ServiceProcess } from './service-process.ts'

const BLOCKS = 160
const LAST_SLOT = FIRST_SLOT + (BLOCKS - 1) * 2
/** Blocks are 11 s apart: ten of them a second. */
const SPEED = '110'

/**
 * Errors of a process but for those of a store that does not answer: what it had asked before it was stopped has gone
 * unanswered when it wakes, and one node on a busy machine may be slow at any time.
 */
const faultsBeside = (service: ServiceProcess): string[] =>
  faultsOf(service).filter((line) => !line.includes('the store does not answer'))

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
testWithFixtures(t, 'processes of one service that lose each other', (t) => {
  testWithCql(t, 'on one CQL server', (t, server) => {
    testWithOwnRedis(
      t,
      'a leader that is paused past its lease and woken commits nothing late, and follows',
      async (t, redis) => {
        const { start, expected } = clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        const first = await start('--recorded-speed', SPEED)
        await until(async () => (await slotOf(first)) > FIRST_SLOT + 20, 'the first ingests')
        const second = await start('--recorded-speed', SPEED)
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
          t.strictSame(faultsBeside(service), [])
          t.match(await service.end('SIGTERM'), { code: 0 })
        }
      }
    )
    testWithOwnRedis(
      t,
      'Redis killed: reads go on, quotas stay shut, ingest ends before its lease and goes on when Redis is back',
      async (t, redis) => {
        const { start, expected } = clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        const first = await start('--recorded-speed', SPEED)
        const second = await start('--role', 'gateway', '--rate-limit-per-minute', '1000000')
        await until(async () => (await slotOf(second)) > FIRST_SLOT + 20, 'the second follows')
        await redis.kill()
        await until(async () => !(await leads(first)), 'the first does not ingest', 7_000)
        const at = await slotOf(first)
        await pause(1_000)
        t.equal(await slotOf(first), at, 'nobody ingests')
        await until(
          async () => (await slotOf(second)) === at,
          'the second has heard of all without hints',
          3_000
        )
        t.equal((await second.get('/v1/launches')).status, 200)
        t.ok((await metricOf(second, 'millrace_redis_outage_seconds')) > 0)
        await redis.start()
        await until(() => leads(first), 'the first ingests again', 20_000)
        await until(async () => (await slotOf(second)) === LAST_SLOT, 'the end')
        t.equal(await metricOf(second, 'millrace_redis_outage_seconds'), 0)
        const answers = await expected()
        for (const service of [first, second]) {
          t.strictSame(await answersOf(service), answers)
          t.equal(linesWith(service, 'is away'), 1)
          t.equal(linesWith(service, 'is back after'), 1)
          t.strictSame(faultsBeside(service), [])
          t.match(await service.end('SIGTERM'), { code: 0 })
        }
      }
    )
  })
})
