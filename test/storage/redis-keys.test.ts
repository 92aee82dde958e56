import t, { type Test } from 'tap'
import { keyState } from '../../src/access/caller.ts'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import type { KeyAttributes } from '../../src/access/key-row.ts'
import { followKeys } from '../../src/access/key-following.ts'
import { systemPorts } from '../../src/ports.ts'
import type { RedisConnection } from '../../storage/redis/connection.ts'
import { RedisHints } from '../../storage/redis/hints.ts'
import { MemoryAccess } from '../access/memory-access.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { joinService, until } from './redis-processes.ts'

const ACME: KeyAttributes = {
  tenant: 'acme',
  name: 'of the test',
  scopes: ['data:read'],
  ratePerMinute: null,
  expiresAtMs: null,
  allowedIps: [],
  corsOrigins: []
}
const { clock } = systemPorts

interface Member {
  readonly connection: RedisConnection
  readonly hints: RedisHints
  readonly keys: KeyDirectory
}

/** A process as the service composes it, on a store that it shares. */
async function join(t: Test, url: string, access: MemoryAccess): Promise<Member> {
  const connection = await joinService(t, { url })
  const hints = new RedisHints(connection, { clock })
  t.teardown(() => hints.close())
  const keys = await KeyDirectory.load(access, 600, hints.keys)
  const end = new AbortController()
  const report = (error: Error): void => void t.fail(error.message)
  const done = followKeys(keys, { clock, hints: hints.keys, signal: end.signal, report })
  t.teardown(async () => {
    end.abort()
    await done
  })
  return { connection, hints, keys }
}

testWithOwnRedis(
  t,
  'a key that one process revokes stops on another within a second, whatever Redis does',
  async (t, redis) => {
    const access = new MemoryAccess()
    const [one, two] = [await join(t, redis.url, access), await join(t, redis.url, access)]
    await one.keys.createTenant('acme', clock.now())
    await until(() => [one, two].every(({ hints }) => hints.keys.available))
    /** How long keys that were made on one process have worked on another after they were revoked, one after another. */
    const revokedAfter = async (times: number): Promise<number[]> => {
      const afterMs: number[] = []
      for (let i = 0; i < times; i++) {
        const { key, row } = await one.keys.issue(ACME, clock.now())
        await until(() => two.keys.find(key) !== null)
        await one.keys.revoke(row.id, clock.now())
        const since = performance.now()
        const stopped = () => keyState(two.keys.find(key)!.row, clock.now()) === 'revoked'
        await until(stopped)
        afterMs.push(performance.now() - since)
      }
      return afterMs
    }
    const slowest = (afterMs: readonly number[]): number => Math.round(Math.max(...afterMs))
    const hinted = slowest(await revokedAfter(3))
    t.ok(hinted < 1_000, `with hints after ${hinted} ms at most`)
    await redis.kill()
    await until(() => [one, two].every(({ hints }) => !hints.keys.available))
    const unhinted = slowest(await revokedAfter(3))
    t.ok(unhinted < 1_000, `without Redis after ${unhinted} ms at most`)
    await redis.start()
    await until(() => [one, two].every(({ hints }) => hints.keys.available))
    redis.pause()
    t.ok(two.hints.keys.available, 'it stands still, and nobody knows yet')
    const paused = slowest(await revokedAfter(2))
    t.ok(paused < 1_000, `with a Redis that stands still after ${paused} ms at most`)
    redis.resume()
  }
)

testWithOwnRedis(t, 'a change is seen elsewhere at once by its hint', async (t, redis) => {
  const access = new MemoryAccess()
  const [one, two] = [await join(t, redis.url, access), await join(t, redis.url, access)]
  await one.keys.createTenant('acme', clock.now())
  await until(() => [one, two].every(({ hints }) => hints.keys.available) && two.keys.tenants.length === 1)
  const all = access.keys.all.bind(access.keys)
  const after: number[] = []
  for (let i = 0; i < 3; i++) {
    // Right after a look by time, the next of which is most of a second away.
    let looked = false
    access.keys.all = () => {
      looked = true
      return all()
    }
    for (let times = 0; times < 2; times++) {
      looked = false
      await until(() => looked)
    }
    access.keys.all = all
    const { key } = await one.keys.issue(ACME, clock.now())
    const since = performance.now()
    await until(() => two.keys.find(key) !== null)
    after.push(Math.round(performance.now() - since))
  }
  t.ok(Math.min(...after) < 100, `after ${after.join(', ')} ms`)
})
