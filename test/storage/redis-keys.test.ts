import t, { type Test } from 'tap'
import { keyState } from '../../src/access/caller.ts'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import type { KeyAttributes } from '../../src/access/key-row.ts'
import { followKeys, LOOK_AT_LEAST_MS, LOOK_MS } from '../../src/access/key-following.ts'
import { systemPorts, type Clock } from '../../src/ports.ts'
import type { RedisConnection } from '../../storage/redis/connection.ts'
import { RedisHints } from '../../storage/redis/hints.ts'
import { MemoryAccess } from '../access/memory-access.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { virtualClock } from '../virtual-time.ts'
import { joinService } from './redis-processes.ts'
import { until } from '../until.ts'

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

/** A process as the service composes it, on a shared store. */
async function join(t: Test, url: string, access: MemoryAccess, following: Clock = clock): Promise<Member> {
  const connection = await joinService(t, { url })
  const hints = new RedisHints(connection, { clock })
  t.teardown(() => hints.close())
  const keys = await KeyDirectory.load(access, 600, hints.keys)
  const end = new AbortController()
  const report = (error: Error): void => void t.fail(error.message)
  const done = followKeys(keys, { clock: following, hints: hints.keys, signal: end.signal, report })
  t.teardown(async () => {
    end.abort()
    await done
  })
  return { connection, hints, keys }
}

testWithOwnRedis(
  t,
  'a key that one process revokes stops on another, whatever Redis does',
  async (t, redis) => {
    const access = new MemoryAccess()
    const [one, two] = [await join(t, redis.url, access), await join(t, redis.url, access)]
    await one.keys.createTenant('acme', clock.now())
    await until(() => [one, two].every(({ hints }) => hints.keys.available))
    /** Makes keys on one process one by one, and revokes each. Resolves once no key works on the other process. */
    const revoke = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        const { key, row } = await one.keys.issue(ACME, clock.now())
        await until(() => two.keys.find(key) !== null)
        await one.keys.revoke(row.id, clock.now())
        await until(() => keyState(two.keys.find(key)!.row, clock.now()) === 'revoked')
      }
    }
    await revoke(3)
    await redis.kill()
    await until(() => [one, two].every(({ hints }) => !hints.keys.available))
    await revoke(3)
    t.notOk(two.hints.keys.available, 'without Redis')
    await redis.start()
    await until(() => [one, two].every(({ hints }) => hints.keys.available))
    redis.pause()
    t.ok(two.hints.keys.available, 'it stands still, and nobody knows yet')
    await revoke(2)
    redis.resume()
  }
)

testWithOwnRedis(
  t,
  'a change is seen elsewhere by its hint, before the next look by time',
  async (t, redis) => {
    const access = new MemoryAccess()
    const standing = virtualClock()
    const [one, two] = [await join(t, redis.url, access), await join(t, redis.url, access, standing)]
    await one.keys.createTenant('acme', clock.now())
    await until(() => [one, two].every(({ hints }) => hints.keys.available))
    await until(() => two.keys.tenants.length === 1)
    for (let i = 0; i < 3; i++) {
      // A second hint waits for the minimum interval; without hints the next poll is seconds later.
      standing.increment(LOOK_MS)
      const { key } = await one.keys.issue(ACME, clock.now())
      await until(() => two.keys.find(key) !== null)
    }
    t.ok(standing.now() < LOOK_AT_LEAST_MS, 'no look by time was due')
  }
)
