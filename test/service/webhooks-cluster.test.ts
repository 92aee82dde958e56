import t from 'tap'
import { IS_LONG } from '../random-runs.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { slotOf, until } from './asking.ts'
import { localnetCluster } from './localnet-cluster.ts'
import { CRASH_POINTS, Flapping, judgeReceiver, WebhookReceiver } from './webhook-receiver.ts'
import { addWebhook, allDelivered, CHANNELS, shardsOf, webhookKey } from './webhook-run.ts'

const SLOTS = IS_LONG ? 2_000 : 125
/** Crash points at each of which a process is killed. */
const POINTS = IS_LONG ? [...CRASH_POINTS, ...CRASH_POINTS] : CRASH_POINTS.slice(0, 1)

testWithCql(t, 'webhooks on one CQL server', (t, server) =>
  testWithOwnRedis(
    t,
    'two processes share the shards, and one that is killed is taken over: receivers have every event',
    async (t, redis) => {
      const allow = { MILLRACE_ALLOW_PRIVATE_WEBHOOKS: 'true' }
      const { start, openStorage } = await localnetCluster(t, server, redis.url, allow)
      let first = await start('first', '--localnet-slot-ms', '120')
      const second = await start('second', '--role', 'delivery')
      const flapping = new Flapping()
      const steady = await WebhookReceiver.start(t)
      const receivers = [steady, await WebhookReceiver.start(t, (post) => flapping.treat(post))]
      const key = await webhookKey(first)
      const ids: number[] = []
      for (const receiver of receivers) ids.push(await addWebhook([first, second], key, receiver))
      await until(async () => (await shardsOf(second)) === 16, 'the second process has its share')
      t.equal(await shardsOf(first), 16)
      await until(async () => receivers.every(({ posts }) => posts.length > 5), 'deliveries')

      let third = second
      for (const point of POINTS) {
        const before = third
        await steady.atPoint(point, () => before.end('SIGKILL'))
        t.comment(`killed when ${point}, at slot ${await slotOf(first)}`)
        await until(async () => (await shardsOf(first)) === 32, 'the first process has all shards')
        third = await start('third', '--role', 'delivery')
        const next = third
        await until(async () => (await shardsOf(next)) === 16, 'a new process gets its share')
      }
      await until(async () => (await slotOf(first)) >= SLOTS, 'the slots')
      flapping.isOver = true
      t.match(await first.end('SIGTERM'), { code: 0 })
      await until(async () => (await shardsOf(third)) === 32, 'the one that is left has all shards')
      first = await start('first', '--localnet-slot-ms', '10000')
      await allDelivered([first, third], ids.length)
      const last = await slotOf(first)
      for (const service of [first, third]) t.match(await service.end('SIGTERM'), { code: 0 })
      const storage = await openStorage()
      for (const [n, receiver] of receivers.entries())
        await judgeReceiver(t, receiver, { storage, id: ids[n]! }, CHANNELS, last)
    }
  )
)
