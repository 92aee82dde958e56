import fc from 'fast-check'
import t from 'tap'
import { keyState } from '../../src/access/caller.ts'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import type { KeyAttributes } from '../../src/access/key-row.ts'
import { ServiceError, type ErrorCode } from '../../src/kernel/errors.ts'
import { settle } from '../virtual-time.ts'
import { randomRuns } from '../random-runs.ts'
import { MemoryAccess } from './memory-access.ts'

const ACME: KeyAttributes = {
  tenant: 'acme',
  name: 'of the test',
  scopes: ['data:read'],
  ratePerMinute: null,
  expiresAtMs: null,
  allowedIps: [],
  corsOrigins: []
}
const ADMIN = { ...ACME, scopes: ['admin'] }

/** Opens the directory of one process among others; `told` counts the changes that it announced. */
async function join(access: MemoryAccess): Promise<{ keys: KeyDirectory; told: () => number }> {
  let told = 0
  const keys = await KeyDirectory.load(access, 600, { publish: () => told++ })
  return { keys, told: () => told }
}

async function refusal(change: Promise<unknown>): Promise<ErrorCode | null> {
  return change.then(
    () => null,
    (error: unknown) => (error instanceof ServiceError ? error.code : null)
  )
}

t.test(
  'a reload takes in what another process has made, changed and revoked, in the same order',
  async (t) => {
    const access = new MemoryAccess()
    const [{ keys: one }, { keys: two, told }] = [await join(access), await join(access)]
    await one.createTenant('acme', 1)
    const [first, second, third] = [
      await one.issue(ACME, 2),
      await one.issue(ACME, 3),
      await one.issue(ACME, 4)
    ]
    t.equal(two.find(first.key), null)
    await two.reload()
    const kept = two.find(third.key)
    t.equal(kept?.tenant, 'acme')
    await one.revoke(first.row.id, 5)
    const { row: successor } = await one.rotate(second.row.id, 100, 6)
    const paged = await one.issue({ ...ACME, corsOrigins: ['https://app.example.org'] }, 7)
    t.notOk(two.admitsOrigin('https://app.example.org', 8, null))
    await two.reload()
    t.equal(two.find(first.key)?.row.revokedAtMs, 5)
    t.match(two.find(second.key)?.row, { successor: successor.id, expiresAtMs: 106 })
    t.equal(two.find(third.key), kept, 'what did not change is the same')
    t.ok(two.admitsOrigin('https://app.example.org', 8, null))
    await one.revoke(paged.row.id, 9)
    await two.reload()
    t.notOk(two.admitsOrigin('https://app.example.org', 10, null))
    t.strictSame(two.keys, (await KeyDirectory.load(access, 600)).keys)
    t.strictSame(two.tenants, one.tenants)
    t.equal(told(), 0, 'to read is no change')
  }
)

t.test('a change is announced to other processes once it is durable, and a refused one never', async (t) => {
  const access = new MemoryAccess()
  const { keys, told } = await join(access)
  let write = Promise.withResolvers<void>()
  access.beforeWrite = () => write.promise
  const changed = async <T>(change: () => Promise<T>, times: number): Promise<T> => {
    const before = told()
    const changing = change()
    await settle()
    t.equal(told(), before)
    write.resolve()
    const result = await changing
    t.equal(told() - before, times)
    write = Promise.withResolvers()
    return result
  }
  await changed(() => keys.createTenant('acme', 1), 1)
  const { row } = await changed(() => keys.issue(ACME, 2), 1)
  const { row: successor } = await changed(() => keys.rotate(row.id, 10, 3), 2)
  await changed(() => keys.revoke(successor.id, 4), 1)
  await changed(() => keys.revoke(successor.id, 5), 0)
  await changed(() => refusal(keys.createTenant('acme', 6)), 0)
})

t.test('a change starts from the key as other processes have last changed it', async (t) => {
  const access = new MemoryAccess()
  const [{ keys: one }, { keys: two }] = [await join(access), await join(access)]
  await one.createTenant('acme', 1)
  const issued = await two.issue(ACME, 2)
  t.equal(issued.row.tenant, 'acme', 'a tenant that was made elsewhere')
  const { row } = await one.rotate(issued.row.id, 100, 3)
  t.equal(row.tenant, 'acme', 'a key that was made elsewhere')
  t.equal(await refusal(two.rotate(issued.row.id, 100, 4)), 'KEY_INACTIVE', 'its successor is elsewhere')
  await one.revoke(issued.row.id, 5)
  t.equal((await two.revoke(issued.row.id, 6)).revokedAtMs, 5)
  t.match(two.key(issued.row.id), { successor: row.id, revokedAtMs: 5 }, 'nothing of it is lost')
  t.equal(await refusal(two.issue({ ...ACME, tenant: 'beta' }, 7)), 'TENANT_NOT_FOUND')
  t.equal(await refusal(two.revoke('nobody', 7)), 'KEY_NOT_FOUND')
  const admins = [await one.issue(ADMIN, 8), await one.issue(ADMIN, 8)]
  await two.reload()
  await one.revoke(admins[0]!.row.id, 9)
  t.equal(await refusal(two.revoke(admins[1]!.row.id, 10)), 'KEY_LAST')
})

t.test('a directory without other processes reads the store once', async (t) => {
  const access = new MemoryAccess()
  const keys = await KeyDirectory.load(access, 600)
  const fail = async () => Promise.reject(new Error('the store was read'))
  Object.assign(access.keys, { all: fail, byHash: fail, get: fail })
  Object.assign(access.tenants, { all: fail })
  await keys.createTenant('acme', 1)
  const { row } = await keys.issue(ADMIN, 2)
  const next = await keys.rotate(row.id, 0, 3)
  await keys.issue(ADMIN, 4)
  t.ok(await keys.revoke(next.row.id, 5))
})

t.test('a reload that began before a change does not take it back', async (t) => {
  const access = new MemoryAccess()
  const { keys } = await join(access)
  await keys.createTenant('acme', 1)
  const { row } = await keys.issue(ACME, 2)
  const read = Promise.withResolvers<void>()
  const all = access.keys.all.bind(access.keys)
  Object.assign(access.keys, {
    all: async () => {
      const rows = await all()
      await read.promise
      return rows
    }
  })
  const reloading = keys.reload()
  await settle()
  const changes = [keys.revoke(row.id, 3), keys.issue(ACME, 4)]
  await settle()
  read.resolve()
  await Promise.all([reloading, ...changes])
  t.equal(keys.key(row.id).revokedAtMs, 3)
  t.equal(keys.keys.length, 2)
})

t.test('a revocation stays that another process makes while a key is rotated', async (t) => {
  const access = new MemoryAccess()
  const [{ keys: one }, { keys: two, told }] = [await join(access), await join(access)]
  await one.createTenant('acme', 1)
  const { key, row } = await one.issue(ACME, 2)
  await two.reload()
  // One process has read the key, and writes its change after the second process has revoked the key.
  const write = Promise.withResolvers<void>()
  let writes = 0
  access.beforeWrite = async () => {
    if (++writes === 2) await write.promise
  }
  const rotating = one.rotate(row.id, 1_000_000, 3)
  await settle()
  await two.revoke(row.id, 4)
  write.resolve()
  await rotating
  t.match(access.rows.get(row.id), { revokedAtMs: 4, successor: one.key(row.id).successor })
  t.equal(one.find(key)?.row.revokedAtMs, 4)
  const before = told()
  await two.reload()
  t.match(two.key(row.id), { revokedAtMs: 4, successor: one.key(row.id).successor })
  t.equal(told() - before, 0, 'nothing had to be written again')
})

t.test(
  'of two processes that rotate a key at once one does, and nobody has a key of the other',
  async (t) => {
    const access = new MemoryAccess()
    const [{ keys: one }, { keys: two }] = [await join(access), await join(access)]
    await one.createTenant('acme', 1)
    const { row } = await one.issue(ACME, 2)
    await two.reload()
    const write = Promise.withResolvers<void>()
    let writes = 0
    access.beforeWrite = async () => {
      if (++writes === 2) await write.promise
    }
    const late = refusal(one.rotate(row.id, 10, 3))
    await settle()
    const { row: successor } = await two.rotate(row.id, 10, 4)
    write.resolve()
    t.equal(await late, 'KEY_INACTIVE')
    t.equal(one.key(row.id).successor, successor.id)
    const working = one.keys.filter((key) => keyState(key, 100) === 'active')
    await one.reload()
    t.strictSame(
      one.keys.filter((key) => keyState(key, 100) === 'active').map(({ id }) => id),
      [successor.id]
    )
    t.strictSame(working, [], 'the process that was late knows of no other')
  }
)

t.test(
  'a store that cannot be read leaves all keys as they were, and the next reload succeeds',
  async (t) => {
    const access = new MemoryAccess()
    const { keys } = await join(access)
    await keys.createTenant('acme', 1)
    const { key, row } = await keys.issue(ACME, 2)
    const all = access.keys.all.bind(access.keys)
    Object.assign(access.keys, {
      all: () => Promise.reject(new ServiceError('STORAGE_UNAVAILABLE', 'on purpose'))
    })
    t.equal(await refusal(keys.reload()), 'STORAGE_UNAVAILABLE')
    t.equal(keys.find(key)?.keyId, row.id)
    t.equal(keys.tenants.length, 1)
    Object.assign(access.keys, { all })
    access.rows.set(row.id, { ...row, revokedAtMs: 3 })
    await keys.reload()
    t.equal(keys.find(key)?.row.revokedAtMs, 3)
  }
)

t.test('a key that is gone from the store works no more, and the order is that of the store', async (t) => {
  const access = new MemoryAccess()
  const { keys } = await join(access)
  await keys.createTenant('acme', 1)
  const [first, second, third] = [
    await keys.issue(ACME, 2),
    await keys.issue(ACME, 3),
    await keys.issue(ACME, 4)
  ]
  access.rows.delete(second.row.id)
  await keys.reload()
  t.equal(keys.find(second.key), null)
  t.throws(() => keys.key(second.row.id), { code: 'KEY_NOT_FOUND' })
  access.rows.delete(third.row.id)
  await keys.reload()
  t.strictSame(keys.keys, [first.row], 'also the last one')
  access.rows.delete(first.row.id)
  for (const { row } of [third, first, second]) access.rows.set(row.id, row)
  await keys.reload()
  t.strictSame(keys.keys, [third.row, first.row, second.row])
  for (const { key, row } of [first, second, third]) t.equal(keys.find(key)?.keyId, row.id)
})

t.test(
  'whatever processes change and read at once, they come to the same, and what was revoked stays so',
  async (t) => {
    type Act = { at: number; key: number; what: 'issue' | 'rotate' | 'revoke' | 'reload' }
    const act: fc.Arbitrary<Act> = fc.record({
      at: fc.nat(2),
      key: fc.nat(9),
      what: fc.constantFrom('issue', 'rotate', 'revoke', 'reload')
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { minLength: 5, maxLength: 30 }),
        fc.scheduler(),
        async (acts, scheduler) => {
          const access = new MemoryAccess()
          await access.tenants.create({ name: 'acme', createdAtMs: 1 })
          const plain = { ...access.keys }
          const { keys: seed } = await join(access)
          const ids = await Promise.all(
            Array.from({ length: 4 }, async () => (await seed.issue(ACME, 2)).row.id)
          )
          const members = [await join(access), await join(access), await join(access)].map(({ keys }) => keys)
          // A read sees the store at its start; a write is visible at its end.
          Object.assign(access.keys, {
            put: (...[row, before]: Parameters<typeof plain.put>) =>
              scheduler.schedule(Promise.resolve()).then(() => plain.put(row, before)),
            get: async (id: string) => {
              const row = await plain.get(id)
              await scheduler.schedule(Promise.resolve())
              return row
            },
            all: async () => {
              const rows = await plain.all()
              await scheduler.schedule(Promise.resolve())
              return rows
            }
          })
          const revoked = new Set<string>()
          const done = acts.map(async ({ at, key, what }, i) => {
            const keys = members[at]!
            const id = ids[key % ids.length]!
            try {
              if (what === 'issue') ids.push((await keys.issue(ACME, 10 + i)).row.id)
              else if (what === 'rotate') ids.push((await keys.rotate(id, 1_000_000, 10 + i)).row.id)
              else if (what === 'reload') await keys.reload()
              else if ((await keys.revoke(id, 10 + i)).revokedAtMs !== null) revoked.add(id)
            } catch (error) {
              if (!(error instanceof ServiceError)) throw error
            }
          })
          await scheduler.waitFor(Promise.all(done))
          for (const id of revoked) t.not(access.rows.get(id)?.revokedAtMs, null, 'nothing overwrote it')
          for (let round = 0; round < 2; round++) {
            for (const keys of members) await scheduler.waitFor(keys.reload())
          }
          Object.assign(access.keys, plain)
          const fresh = await KeyDirectory.load(access, 600)
          for (const keys of members) t.strictSame(keys.keys, fresh.keys)
          for (const id of revoked) t.equal(keyState(fresh.key(id), 0), 'revoked')
        }
      ),
      randomRuns(200)
    )
  }
)
