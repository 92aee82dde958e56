import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { answersOf, faultsBesideOutages, leads, slotOf, until } from './asking.ts'
import { clusterOf, ownKeyspace } from './cluster.ts'
import { FIRST_SLOT } from './recorded-folder.ts'
import type { ServiceProcess } from './service-process.ts'

const BLOCKS = 90
const LAST_SLOT = FIRST_SLOT + (BLOCKS - 1) * 2
/** Ten blocks a second, because blocks are 11 s apart. */
const SPEED = '110'
/** Two blocks a second: the first process is still reading when a busy machine has started the second. */
const SLOWLY = '22'

/** Returns the names of the metrics that a process exports, sorted. */
async function metricsOf(service: ServiceProcess): Promise<readonly string[]> {
  const { body } = await service.get('/metrics')
  return [...String(body['text']).matchAll(/^# TYPE (millrace_\S+)/gm)].map(([, name]) => name!).toSorted()
}

testWithFixtures(t, 'processes of one service', (t) =>
  testWithCql(t, 'on one CQL server', (t, server) => {
    testWithOwnRedis(
      t,
      'one of two ingests; killed with -9 it is followed by the other, and no row is lost or repeated',
      async (t, redis) => {
        // They make its tables.
        const keyspace = ownKeyspace(t, server)
        const { start, expected } = await clusterOf(t, server, {
          redisUrl: redis.url,
          blocks: BLOCKS,
          keyspace
        })
        const first = await start('--recorded-speed', SLOWLY)
        await until(() => leads(first), 'the first ingests')
        const second = await start('--recorded-speed', SPEED)
        await until(async () => (await slotOf(second)) > FIRST_SLOT + 20, 'the second hears of blocks')
        t.equal(await leads(second), false)
        t.ok((await slotOf(first)) >= (await slotOf(second)))
        const at = await slotOf(first)
        t.ok(at < LAST_SLOT - 40, 'in the middle of ingest')
        await first.end('SIGKILL')
        await until(async () => (await slotOf(second)) > at + 4, 'the second goes on')
        t.equal(await leads(second), true)
        await until(async () => (await slotOf(second)) === LAST_SLOT, 'the end')
        const third = await start('--role', 'gateway')
        const answers = await expected()
        t.ok(answers.length >= 8, `${answers.length} pages`)
        for (const service of [second, third]) {
          t.strictSame(await answersOf(service), answers, 'the bytes of an undisturbed service')
          t.strictSame(faultsBesideOutages(service), [])
        }
        for (const service of [second, third]) t.match(await service.end('SIGTERM'), { code: 0 })
      }
    )
    testWithOwnRedis(
      t,
      'roles apart: what the ingest process commits the gateway serves block by block, and a revoked key ends on both',
      async (t, redis) => {
        const { start, expected } = await clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        const gateway = await start('--role', 'gateway')
        t.match((await gateway.get('/v1/launches')).body.data, [])
        const ingest = await start('--role', 'ingest', '--recorded-speed', SPEED)
        t.match(await ingest.get('/v1/launches'), {
          status: 503,
          body: { code: 'not_served_here' }
        })
        t.equal((await ingest.get('/v1/admin/tree')).status, 200)
        const metrics = await metricsOf(gateway)
        t.ok(metrics.length > 50, `${metrics.length} metrics`)
        t.strictSame(await metricsOf(ingest), metrics, 'each role has the metrics of all products')
        await until(async () => (await slotOf(gateway)) > FIRST_SLOT + 20, 'the gateway hears of blocks')
        const heard: number[] = []
        for (let known = 0; known < LAST_SLOT;) {
          const committed = await slotOf(ingest)
          if (committed === known) continue
          await until(async () => (await slotOf(gateway)) >= committed, 'the gateway has the block')
          heard.push(committed)
          known = committed
        }
        t.comment(`${heard.length} blocks were looked for`)
        await until(async () => (await slotOf(gateway)) === LAST_SLOT, 'the end')
        t.strictSame(await answersOf(gateway), await expected())

        const another = await start('--role', 'gateway')
        const made = await fetch(`${gateway.url}/v1/admin/keys`, {
          method: 'POST',
          headers: { 'x-api-key': 'an-admin-key-of-the-tests', 'content-type': 'application/json' },
          body: JSON.stringify({ tenant: 'operator', scopes: ['data:read'], rate_limit_per_minute: 20 })
        })
        const { key, id } = (await made.json()) as { key: string; id: string }
        await until(async () => (await another.get('/v1/launches', key)).status === 200, 'the key is known')
        const statuses: number[] = []
        for (let call = 0; call < 30; call++) {
          statuses.push((await (call % 2 === 0 ? gateway : another).get('/v1/me', key)).status)
        }
        const allowed = statuses.filter((status) => status === 200).length
        t.ok(allowed > 0 && allowed <= 40, 'one quota for both')
        t.ok(statuses.includes(429))
        await fetch(`${gateway.url}/v1/admin/keys/${id}`, {
          method: 'DELETE',
          headers: { 'x-api-key': 'an-admin-key-of-the-tests' }
        })
        await until(async () => (await another.get('/v1/me', key)).status === 401, 'the key is refused')
        for (const service of [ingest, gateway, another]) {
          t.strictSame(faultsBesideOutages(service), [])
          t.match(await service.end('SIGTERM'), { code: 0 })
        }
      }
    )
    void t.test('without Redis gateways follow by looking, and ingest goes on after a restart', async (t) => {
      const { start, expected } = await clusterOf(t, server, { redisUrl: null, blocks: BLOCKS })
      const first = await start('--recorded-speed', SPEED)
      const gateway = await start('--role', 'gateway')
      await until(async () => (await slotOf(gateway)) > FIRST_SLOT + 20, 'the gateway hears of blocks')
      t.match(await first.end('SIGTERM'), { code: 0 })
      const second = await start('--recorded-speed', 'max')
      await until(async () => (await slotOf(gateway)) === LAST_SLOT, 'the end')
      t.strictSame(await answersOf(gateway), await expected())
      for (const service of [second, gateway]) {
        t.strictSame(faultsBesideOutages(service), [])
        t.match(await service.end('SIGTERM'), { code: 0 })
      }
    })
  })
)
