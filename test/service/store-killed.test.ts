import t from 'tap'
import type { TreeNode } from '../../actors/supervision/live-tree.ts'
import { testWithFixtures } from '../fixtures.ts'
import { testWithCqlCluster } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { answersOf, linesWith, metricOf, slotOf, until } from './asking.ts'
import { clusterOf } from './cluster.ts'
import { restartedIn } from './restarted-processes.ts'
import { FIRST_SLOT } from './recorded-folder.ts'

const BLOCKS = 160
const LAST_SLOT = FIRST_SLOT + (BLOCKS - 1) * 2
/** Ten blocks a second, because blocks are 11 s apart. */
const SPEED = '110'

testWithFixtures(t, 'processes of one service that lose the store', (t) => {
  testWithCqlCluster(
    t,
    'the store killed: health and metrics say so, reads answer 503, and all goes on by itself when it is back',
    { durable: true },
    (t, cluster) => {
      testWithOwnRedis(t, 'with a leader and a gateway', async (t, redis) => {
        const waits = Promise.withResolvers<void>()
        const { start, expected } = await clusterOf(t, cluster, {
          redisUrl: redis.url,
          blocks: BLOCKS,
          keyspace: 'millrace',
          onStderr: (line) => void (line.includes('the start waits up to 120 s') && waits.resolve())
        })
        const first = await start('--recorded-speed', SPEED)
        const second = await start('--role', 'gateway')
        // A commit waits once 64 blocks are not in the tables: so one flush is done, and memory alone no longer has
        // everything.
        await until(async () => (await slotOf(second)) > FIRST_SLOT + 2 * 66, 'the second follows')
        const [node] = cluster.nodes
        await node!.kill()
        for (const service of [first, second]) {
          await until(
            async () => (await metricOf(service, 'millrace_storage_outage_seconds')) > 0,
            'the outage is seen'
          )
          t.match(await service.get('/v1/health', null), { status: 503, body: { status: 'degraded' } })
        }
        const refused = await second.get('/v1/wallets/So11111111111111111111111111111111111111112/trades')
        t.match(refused, { status: 503 })
        t.match(refused.body.code, /^(storage_unavailable|deadline_exceeded)$/)
        t.equal(refused.headers.get('retry-after'), '1')
        const degraded = await second.get('/v1/health', null)
        for (const { body } of [refused, degraded])
          t.notMatch(
            JSON.stringify({ ...body, type: undefined }),
            /127\.0\.0\.|\d:\d{4}|DOWN|host|ECONN/i,
            'a tenant learns no more'
          )
        const starting = start('--role', 'gateway')
        await waits.promise
        await node!.start()
        const third = await starting
        await until(async () => (await third.get('/v1/launches')).status === 200, 'the third serves')
        await until(async () => (await slotOf(second)) === LAST_SLOT, 'the end')
        for (const service of [first, second]) {
          await until(
            async () => (await metricOf(service, 'millrace_storage_outage_seconds')) === 0,
            'it is over'
          )
        }
        const answers = await expected()
        for (const service of [first, second]) {
          t.strictSame(await answersOf(service), answers, 'the bytes of an undisturbed service')
          t.equal(linesWith(service, 'the store does not answer: '), 1)
          t.equal(linesWith(service, 'the store is back'), 1)
          const tree = await service.get('/v1/admin/tree')
          t.same(restartedIn(tree.body as unknown as TreeNode), [], 'no process was restarted')
        }
        await node!.kill()
        await until(
          async () => (await metricOf(first, 'millrace_storage_outage_seconds')) > 0,
          'another outage is seen'
        )
        for (const service of [first, second]) {
          t.match(await service.end('SIGTERM'), { code: 0 }, 'a drain meanwhile ends well')
        }
      })
    }
  )
})
