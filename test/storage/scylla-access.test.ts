import { errors } from 'cassandra-driver'
import t from 'tap'
import { ConditionalWrites } from '../../storage/scylla/conditional-writes.ts'
import type { CqlClient } from '../../storage/scylla/client.ts'
import { keyStore } from '../../storage/scylla/keys.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { tenantStore } from '../../storage/scylla/tenants.ts'
import type { KeyRow } from '../../storage/port.ts'
import { sampleBytes } from '../../storage/test/choices.ts'
import { sampleKey, sampleTenant } from '../../storage/test/sample-access.ts'
import { testWithCql } from '../servers/cql.ts'
import { newKeyspace } from './scylla-writers.ts'

/**
 * Conditional writes whose answer is lost, counted from 0: after the server has done them (`done`), without it doing them
 * (`undone`), or with the server doing them later, just before the next one (`late`).
 */
interface Lost {
  readonly done?: readonly number[]
  readonly undone?: readonly number[]
  readonly late?: readonly number[]
}

/** A connection that loses answers, and counts the conditional writes. */
function losing(client: CqlClient, lost: Lost): { client: CqlClient; tried: () => number } {
  const { done = [], undone = [], late = [] } = lost
  let tried = 0
  let ahead: (() => Promise<unknown>) | null = null
  const conditional: CqlClient['conditional'] = async (statements) => {
    const n = tried++
    await ahead?.()
    ahead = late.includes(n) ? () => client.conditional(statements) : null
    if (ahead === null && !undone.includes(n)) {
      const answer = await client.conditional(statements)
      if (!done.includes(n)) return answer
    }
    throw new errors.OperationTimedOutError('no answer, on purpose')
  }
  const lossy = new Proxy(client, {
    get(target, name) {
      const member: unknown = name === 'conditional' ? conditional : Reflect.get(target, name)
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member
    }
  })
  return { client: lossy, tried: () => tried }
}

const tenantsOf = (client: CqlClient) => tenantStore(client, new ConditionalWrites(client))
const keysOf = (client: CqlClient) => keyStore(client, new ConditionalWrites(client))

testWithCql(t, 'tenants and keys on a CQL server', async (t, server) => {
  const { connect, options } = await newKeyspace(t, server)
  const [client, other] = [await connect(), await connect()]

  t.test('a creation whose answer is lost says whether it was first all the same', async (t) => {
    const done = losing(client, { done: [0] })
    t.equal(await tenantsOf(done.client).create(sampleTenant(1)), true, 'it was done')
    t.equal(done.tried(), 1)
    const undone = losing(client, { undone: [0, 1] })
    t.equal(await tenantsOf(undone.client).create(sampleTenant(2)), true, 'it was not, and is sent again')
    t.equal(undone.tried(), 3)
    const late = losing(client, { late: [0] })
    t.equal(await tenantsOf(late.client).create(sampleTenant(4)), true, 'it was done after all')
    t.equal(late.tried(), 2)
    const second = losing(client, { done: [0] })
    t.equal(await tenantsOf(second.client).create({ ...sampleTenant(1), createdAtMs: 1 }), false)
    t.strictSame(await tenantsOf(other).all(), [1, 2, 4].map(sampleTenant))
    const never = losing(client, { undone: [0, 1, 2] })
    await t.rejects(tenantsOf(never.client).create(sampleTenant(3)), { code: 'STORAGE_UNAVAILABLE' })
    t.equal(await tenantsOf(other).get('tenant-3'), null)
  })

  t.test('of two processes that create one tenant at once exactly one is first', async (t) => {
    for (let n = 10; n < 20; n++) {
      const created = await Promise.all(
        [client, other].map((each, i) => tenantsOf(each).create({ ...sampleTenant(n), createdAtMs: i }))
      )
      t.equal(created.filter(Boolean).length, 1)
      const stored = await tenantsOf(client).get(sampleTenant(n).name)
      t.equal(stored?.createdAtMs, created.indexOf(true), 'and what it says is stored')
    }
  })

  t.test('a put whose answer is lost is done once', async (t) => {
    const first = sampleKey(1)
    const done = losing(client, { done: [0] })
    await keysOf(done.client).put(first)
    t.equal(done.tried(), 1)
    t.strictSame(await keysOf(other).byHash(first.hash), first)
    const undone = losing(client, { undone: [0] })
    const second = { ...first, hash: sampleBytes(32, 1) }
    await keysOf(undone.client).put(second)
    t.equal(undone.tried(), 2)
    const late = losing(client, { late: [0] })
    await keysOf(late.client).put(second)
    t.equal(late.tried(), 2, 'the second is refused, as it was done after all')
    t.strictSame(await keysOf(other).all(), [second])
    t.equal(await keysOf(other).byHash(first.hash), null)
  })

  t.test('processes that replace one key at the same time leave one', async (t) => {
    const puts = Array.from({ length: 8 }, (_, n): KeyRow => ({
      ...sampleKey(7),
      hash: sampleBytes(32, 500 + n)
    }))
    const stores = [keysOf(client), keysOf(other)]
    await Promise.all(puts.map((key, n) => stores[n % 2]!.put(key)))
    const left = (await stores[0]!.all()).filter(({ id }) => id === sampleKey(7).id)
    t.equal(left.length, 1)
    for (const key of puts) {
      const found = await stores[1]!.byHash(key.hash)
      t.strictSame(found, Buffer.compare(key.hash, left[0]!.hash) === 0 ? key : null)
    }
  })

  t.test('closing waits for the changes that were accepted, and refuses later ones', async (t) => {
    const storage = await openScyllaStorage(options)
    const accepted = [
      storage.tenants.create(sampleTenant(30)),
      storage.keys.put(sampleKey(31)),
      storage.tenants.create(sampleTenant(32))
    ]
    const closing = storage.close()
    await t.rejects(storage.tenants.create(sampleTenant(33)), { code: 'STORAGE_UNAVAILABLE' })
    await t.rejects(storage.keys.put(sampleKey(34)), { code: 'STORAGE_UNAVAILABLE' })
    t.strictSame(await Promise.all(accepted), [true, undefined, true])
    await closing
    t.strictSame(await keysOf(other).byHash(sampleKey(31).hash), sampleKey(31))
    t.strictSame(await tenantsOf(other).get('tenant-32'), sampleTenant(32))
  })
})
