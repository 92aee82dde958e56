import crypto, { randomUUID } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { hashApiKey, makeApiKey } from '../../src/access/api-key.ts'
import { KeyRing } from '../../src/access/key-ring.ts'
import { keyState } from '../../src/access/caller.ts'
import {
  KEYS_BYTES_MAX,
  KEYS_MAX,
  KEYS_PER_TENANT_MAX,
  KeyDirectory
} from '../../src/access/key-directory.ts'
import { TENANTS_MAX } from '../../src/access/tenant-directory.ts'
import { keyBytes, newKey, type KeyAttributes } from '../../src/access/key-row.ts'
import { DEFAULT_SCOPES, SCOPES } from '../../src/access/scopes.ts'
import { API_KEY } from '../../storage/access-documents.ts'
import { documentKind } from '../../storage/codec/document.ts'
import { documentRecordKey } from '../../storage/codec/document-record-keys.ts'
import { packRecord } from '../../storage/codec/record.ts'
import { newRow } from '../../storage/document-values.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { ACCESS_ERRORS } from '../../src/access/errors.ts'
import type { ErrorKind } from '../../src/kernel/error-kind.ts'
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

async function directory(): Promise<{ access: MemoryAccess; keys: KeyDirectory }> {
  const access = new MemoryAccess()
  const keys = await KeyDirectory.load(access, 600)
  await keys.createTenant('acme', 1)
  return { access, keys }
}

/** Returns the error of a refused change, or null if it succeeds. */
async function refusal(change: Promise<unknown>): Promise<ErrorKind | null> {
  return change.then(
    () => null,
    (error: unknown) => (error instanceof ServiceError ? error.kind : null)
  )
}

t.test('a key is found by its text alone, and gets the rate of the service unless it has one', async (t) => {
  const { keys } = await directory()
  const usual = await keys.issue(ACME, 5)
  const slow = await keys.issue({ ...ACME, ratePerMinute: 3 }, 6)
  t.match(keys.find(usual.key), { keyId: usual.row.id, tenant: 'acme', ratePerMinute: 600 })
  t.match(keys.find(slow.key), { keyId: slow.row.id, ratePerMinute: 3 })
  const near = [
    usual.key.slice(1),
    `${usual.key} `,
    usual.key.toLowerCase(),
    '',
    usual.row.id,
    usual.row.prefix
  ]
  const hashes = ['hex', 'binary', 'base64'].map((as) => Buffer.from(usual.row.hash).toString(as as 'hex'))
  for (const text of [...near, ...hashes, makeApiKey()]) t.equal(keys.find(text), null)
})

t.test('a connection is known by the key that it presents, not by the one it presented before', async (t) => {
  const { keys } = await directory()
  const one = await keys.issue(ACME, 5)
  const two = await keys.issue(ACME, 5)
  const connection = {}
  for (const { key, row } of [one, one, two, one]) t.equal(keys.find(key, connection)?.keyId, row.id)
  for (const text of [makeApiKey(), '', one.key.slice(1), one.key.replace(/.$/, '_'), `${one.key}x`])
    t.equal(keys.find(text, connection), null)
  t.equal(keys.find(one.key, connection)?.row.revokedAtMs, null)
  await keys.revoke(one.row.id, 6)
  t.equal(keys.find(one.key, connection)?.row.revokedAtMs, 6, 'what becomes of a key is seen at once')
  t.equal(keys.find(two.key, {})?.keyId, two.row.id)
})

t.test('nothing but the hash and the beginning of a key is stored', async (t) => {
  const { access, keys } = await directory()
  const { key, row } = await keys.issue(ACME, 5)
  t.strictSame(row.hash, hashApiKey(key))
  t.equal(row.prefix, key.slice(0, 12))
  const stored = JSON.stringify([...access.rows.values()])
  t.notOk(stored.includes(key.slice(12)))
})

t.test('a directory that is loaded again knows the same tenants and keys in the same order', async (t) => {
  const { access, keys } = await directory()
  await keys.createTenant('beta', 2)
  const issued = [await keys.issue(ACME, 3), await keys.issue({ ...ACME, tenant: 'beta' }, 4)]
  await keys.rotate(issued[0]!.row.id, 1000, 5)
  await keys.revoke(issued[1]!.row.id, 6)
  const again = await KeyDirectory.load(access, 600)
  t.strictSame(again.keys, keys.keys)
  t.strictSame(again.tenants, keys.tenants)
  for (const { key } of issued) t.strictSame(again.find(key)?.row, keys.find(key)?.row)
  t.strictSame(
    keys.keysOf('beta').map((row) => row.id),
    [issued[1]!.row.id]
  )
})

t.test('a known and an unknown key are hashed and compared alike', async (t) => {
  const { keys } = await directory()
  const { key } = await keys.issue(ACME, 5)
  const compared: number[] = []
  const { timingSafeEqual } = crypto
  crypto.timingSafeEqual = (a, b) => {
    compared.push(a.byteLength, b.byteLength)
    return timingSafeEqual(a, b)
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    crypto.timingSafeEqual = timingSafeEqual
    syncBuiltinESMExports()
  })
  const { row } = newKey(key, ACME, 5)
  const counted = new KeyRing(600)
  counted.put(row)
  for (const text of [key, makeApiKey(), 'x', '']) {
    compared.length = 0
    counted.find(text)
    t.strictSame(compared, [32, 32], `one comparison of two hashes for ${text.length} characters`)
  }
  t.strictSame(keys.find(key)?.row.hash, row.hash)
})

t.test('a change is durable before it is in effect', async (t) => {
  const { access, keys } = await directory()
  const old = await keys.issue(ADMIN, 5)
  const other = await keys.issue(ADMIN, 5)
  let write = Promise.withResolvers<void>()
  access.beforeWrite = () => write.promise
  const changes: [change: () => Promise<unknown>, inEffect: () => boolean][] = [
    [() => keys.createTenant('beta', 6), () => keys.tenants.length === 2],
    [() => keys.issue(ACME, 6), () => keys.keys.length === 3],
    [() => keys.revoke(old.row.id, 6), () => keys.key(old.row.id).revokedAtMs === 6],
    [() => keys.rotate(other.row.id, 0, 6), () => keys.key(other.row.id).successor !== null]
  ]
  for (const [change, inEffect] of changes) {
    const changing = change()
    await new Promise((resolve) => setImmediate(resolve))
    t.notOk(inEffect())
    write.resolve()
    await changing
    t.ok(inEffect())
    write = Promise.withResolvers()
  }
})

t.test('a change that the store refuses has no effect, and the next one is made', async (t) => {
  const { access, keys } = await directory()
  const { row } = await keys.issue(ACME, 5)
  const before = keys.keys
  access.beforeWrite = () => Promise.reject(new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'on purpose'))
  for (const change of [keys.issue(ACME, 6), keys.revoke(row.id, 6), keys.rotate(row.id, 0, 6)])
    t.equal(await refusal(change), ERRORS.STORAGE_UNAVAILABLE)
  t.equal(await refusal(keys.createTenant('beta', 6)), ERRORS.STORAGE_UNAVAILABLE)
  t.strictSame(keys.keys, before)
  t.equal(keys.tenants.length, 1)
  access.beforeWrite = async () => undefined
  t.equal((await keys.revoke(row.id, 7)).revokedAtMs, 7)
})

t.test('a rotation keeps the attributes, and the old key to the end of the grace at most', async (t) => {
  const { keys } = await directory()
  const attributes = {
    ...ACME,
    ratePerMinute: 7,
    expiresAtMs: 100_000,
    allowedIps: ['10.0.0.0/8'],
    corsOrigins: ['https://app.example.org']
  }
  for (const [graceMs, until] of [
    [0, 1_000],
    [60_000, 61_000],
    [1_000_000, 100_000]
  ] as const) {
    const old = await keys.issue(attributes, 500)
    const next = await keys.rotate(old.row.id, graceMs, 1_000)
    t.match(next.row, { ...attributes, revokedAtMs: null, successor: null, createdAtMs: 1_000 })
    t.not(next.key, old.key)
    const row = keys.key(old.row.id)
    t.match(row, { expiresAtMs: until, successor: next.row.id })
    if (graceMs > 0) t.equal(keyState(row, until - 1), 'active')
    t.equal(keyState(row, until), 'expired', 'strictly before')
    t.equal(
      await refusal(keys.rotate(old.row.id, 0, 1_000)),
      ACCESS_ERRORS.KEY_INACTIVE,
      'its successor is there'
    )
  }
  const ended = await keys.issue(ACME, 500)
  await keys.revoke(ended.row.id, 600)
  t.equal(await refusal(keys.rotate(ended.row.id, 0, 700)), ACCESS_ERRORS.KEY_INACTIVE)
})

t.test('two rotations of one key at once make one successor', async (t) => {
  const { keys } = await directory()
  const { row } = await keys.issue(ACME, 5)
  const codes = await Promise.all([refusal(keys.rotate(row.id, 0, 6)), refusal(keys.rotate(row.id, 0, 6))])
  t.strictSame(codes, [null, ACCESS_ERRORS.KEY_INACTIVE])
  t.equal(keys.keys.length, 2)
})

t.test('a rotation that ends half way leaves the old key as it was', async (t) => {
  const { access, keys } = await directory()
  const { row } = await keys.issue(ACME, 5)
  let writes = 0
  access.beforeWrite = async () => {
    if (++writes === 2) throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'on purpose')
  }
  t.equal(await refusal(keys.rotate(row.id, 0, 6)), ERRORS.STORAGE_UNAVAILABLE)
  t.strictSame((await KeyDirectory.load(access, 600)).key(row.id), row)
})

t.test('revoking is at once, for good and repeatable', async (t) => {
  const { keys } = await directory()
  const { row } = await keys.issue(ACME, 5)
  t.equal((await keys.revoke(row.id, 6)).revokedAtMs, 6)
  t.equal((await keys.revoke(row.id, 9)).revokedAtMs, 6)
  t.equal(keyState(keys.key(row.id), 0), 'revoked')
  t.equal(await refusal(keys.revoke('nobody', 6)), ACCESS_ERRORS.KEY_NOT_FOUND)
  t.equal(await refusal(keys.rotate('nobody', 0, 6)), ACCESS_ERRORS.KEY_NOT_FOUND)
})

t.test('the last admin key that works stays, also when two are revoked at once', async (t) => {
  const { keys } = await directory()
  const first = (await keys.issue(ADMIN, 5)).row.id
  t.equal(await refusal(keys.revoke(first, 6)), ACCESS_ERRORS.KEY_LAST)
  const second = (await keys.issue({ ...ADMIN, expiresAtMs: 50 }, 7)).row.id
  t.strictSame(await Promise.all([first, second].map((id) => refusal(keys.revoke(id, 8)))), [
    null,
    ACCESS_ERRORS.KEY_LAST
  ])
  t.equal(await refusal(keys.revoke(second, 50)), null, 'one that has expired is none that works')
  const third = (await keys.issue(ADMIN, 51)).row.id
  const fourth = (await keys.rotate(third, 1000, 52)).row.id
  t.equal(await refusal(keys.revoke(third, 53)), null, 'its successor is there')
  t.equal(await refusal(keys.revoke(fourth, 54)), ACCESS_ERRORS.KEY_LAST)
})

t.test('keys belong to a tenant that exists, and a tenant exists once', async (t) => {
  const { keys } = await directory()
  t.equal(await refusal(keys.issue({ ...ACME, tenant: 'beta' }, 5)), ACCESS_ERRORS.TENANT_NOT_FOUND)
  t.throws(() => keys.keysOf('beta'), { name: 'ServiceError', kind: ACCESS_ERRORS.TENANT_NOT_FOUND })
  const twice = await Promise.all([1, 2].map((at) => refusal(keys.createTenant('beta', at))))
  t.strictSame(twice, [null, ACCESS_ERRORS.TENANT_EXISTS])
  t.equal(await refusal(keys.issue({ ...ACME, tenant: 'beta' }, 5)), null)
})

t.test('a tenant at its limit gets another key once enough keys are revoked', async (t) => {
  const { keys } = await directory()
  await keys.createTenant('beta', 1)
  const ids: string[] = []
  for (let i = 0; i < KEYS_PER_TENANT_MAX; i++) ids.push((await keys.issue(ACME, 5)).row.id)
  t.equal(await refusal(keys.issue(ACME, 6)), ACCESS_ERRORS.KEY_LIMIT_REACHED)
  t.equal(await refusal(keys.issue({ ...ACME, tenant: 'beta' }, 6)), null)
  t.equal(await refusal(keys.rotate(ids[0]!, 1000, 6)), null, 'a key can be rotated all the same')
  await keys.revoke(ids[1]!, 6)
  t.equal(await refusal(keys.issue(ACME, 6)), ACCESS_ERRORS.KEY_LIMIT_REACHED)
  await keys.revoke(ids[2]!, 6)
  t.equal(await refusal(keys.issue(ACME, 6)), null)
})

t.test('a service refuses a tenant or key beyond its limit, past ones included', async (t) => {
  const access = new MemoryAccess()
  for (let i = 0; i < TENANTS_MAX; i++) await access.tenants.create({ name: `t${i}`, createdAtMs: i })
  const { row } = newKey(makeApiKey(), { ...ACME, tenant: 't0' }, 1)
  for (let i = 0; i < KEYS_MAX; i++) {
    const hash = Buffer.alloc(32)
    hash.writeUInt32BE(i)
    access.rows.set(`k${i}`, { ...row, id: `k${i}`, hash, revokedAtMs: i < 2 ? null : 1 })
  }
  const keys = await KeyDirectory.load(access, 600)
  t.equal(await refusal(keys.createTenant('one-more', 5)), ACCESS_ERRORS.TENANT_LIMIT_REACHED)
  t.equal(await refusal(keys.issue({ ...ACME, tenant: 't1' }, 5)), ACCESS_ERRORS.KEY_LIMIT_REACHED)
  t.equal(await refusal(keys.rotate('k0', 0, 5)), ACCESS_ERRORS.KEY_LIMIT_REACHED)
  t.equal(await refusal(keys.revoke('k0', 5)), null)
})

t.test('a service refuses a key that would make all keys together larger than their limit', async (t) => {
  const access = new MemoryAccess()
  await access.tenants.create({ name: 'acme', createdAtMs: 1 })
  const corsOrigins = Array.from({ length: 16 }, (_, n) => `https://${'a'.repeat(200)}.${n}`)
  const large = { ...ACME, corsOrigins }
  let made = 0
  /** Stores revoked keys of a kind until so many bytes are left. */
  const fill = (attributes: KeyAttributes, left: number): number => {
    const row = { ...newKey(makeApiKey(), attributes, 1).row, revokedAtMs: 1 }
    for (; left >= keyBytes(row); left -= keyBytes(row)) {
      const hash = Buffer.alloc(32)
      hash.writeUInt32BE(++made)
      access.rows.set(`k${made}`, { ...row, id: `k${made}`, hash })
    }
    return left
  }
  const bytesOf = (attributes: KeyAttributes): number => keyBytes(newKey(makeApiKey(), attributes, 1).row)
  const room = bytesOf(large) + bytesOf(ACME)
  const left = fill(ACME, fill(large, KEYS_BYTES_MAX - room))
  t.ok(left < bytesOf(large) - bytesOf(ACME))
  const keys = await KeyDirectory.load(access, 600)
  t.equal(await refusal(keys.issue(large, 5)), null)
  t.equal(await refusal(keys.issue(large, 6)), ACCESS_ERRORS.KEY_LIMIT_REACHED)
  t.equal(await refusal(keys.rotate('k1', 0, 6)), ACCESS_ERRORS.KEY_INACTIVE)
  t.equal(await refusal(keys.issue(ACME, 6)), null, 'a smaller one has room')
  t.equal(await refusal(keys.issue(ACME, 7)), left < bytesOf(ACME) ? ACCESS_ERRORS.KEY_LIMIT_REACHED : null)
  const usual = bytesOf({ ...ACME, scopes: [...DEFAULT_SCOPES] })
  t.ok(KEYS_MAX * usual < KEYS_BYTES_MAX, `${usual} bytes: as many keys as there may be have room`)
})

t.test('a key takes at most the bytes in the store that are counted for it', async (t) => {
  const text = fc.string({ unit: 'binary', maxLength: 100 })
  const time = fc.option(fc.integer({ min: 1e12, max: 2e12 }))
  const attributes = fc.record({
    tenant: fc.constant('t'.repeat(63)),
    name: text.map((name) => name.replaceAll(/\p{C}/gu, '"')),
    scopes: fc.subarray([...SCOPES]),
    ratePerMinute: fc.option(fc.constant(1_000_000)),
    workPerMinute: fc.option(fc.constant(1_000_000_000)),
    exportRowsPerDay: fc.option(fc.constant(1_000_000_000)),
    expiresAtMs: time,
    allowedIps: fc.array(fc.ipV6(), { maxLength: 64 }),
    corsOrigins: fc.array(fc.webUrl(), { maxLength: 16 })
  })
  await fc.assert(
    fc.asyncProperty(attributes, time, fc.boolean(), async (given, revokedAtMs, isRotated) => {
      const { row } = newKey(makeApiKey(), given, 1.9e12)
      const changed = { ...row, revokedAtMs, successor: isRotated ? randomUUID() : null }
      // Made, rotated and revoked.
      let document = { ...newRow(API_KEY, changed, null), expiresAtMs: null }
      for (let change = 0; change < 3; change++)
        document = { ...newRow(API_KEY, changed, document), expiresAtMs: null }
      const key = documentRecordKey(document.address, 'document', document.address.key)
      const bytes = packRecord(documentKind, key, document).length
      t.ok(bytes <= keyBytes(changed), `${bytes} of ${keyBytes(changed)}`)
    }),
    randomRuns(50)
  )
})

t.test('a change is refused when a hundred wait', async (t) => {
  const { access, keys } = await directory()
  const hold = Promise.withResolvers<void>()
  access.beforeWrite = () => hold.promise
  const waiting = Array.from({ length: 100 }, () => keys.issue(ACME, 5))
  t.equal(await refusal(keys.issue(ACME, 5)), ERRORS.STORAGE_UNAVAILABLE)
  hold.resolve()
  await Promise.all(waiting)
  t.equal(await refusal(keys.issue(ACME, 5)), null)
})

t.test('an origin is admitted while a key that lists it works', async (t) => {
  const { access, keys } = await directory()
  const page = 'https://app.example.org'
  const issue = (attributes: Partial<KeyAttributes>) =>
    keys.issue({ ...ACME, corsOrigins: [page], ...attributes }, 5)
  t.notOk(keys.admitsOrigin(page, 5, null))
  const first = await issue({})
  await issue({ expiresAtMs: 50 })
  t.ok(keys.admitsOrigin(page, 49, null))
  t.notOk(keys.admitsOrigin(`${page}.evil.org`, 5, null))
  t.notOk(keys.admitsOrigin('https://evil.example.org', 5, null))
  await keys.revoke(first.row.id, 6)
  t.ok(keys.admitsOrigin(page, 49, null))
  t.notOk(keys.admitsOrigin(page, 50, null))
  t.notOk((await KeyDirectory.load(access, 600)).admitsOrigin(page, 50, null))
})

t.test('after any changes in any order, a directory equals one loaded from its store', async (t) => {
  const change = fc.record({
    kind: fc.constantFrom('issue', 'rotate', 'revoke', 'tenant'),
    which: fc.nat(6),
    atMs: fc.nat(100)
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
      const { access, keys } = await directory()
      const issued: string[] = []
      for (const { kind, which, atMs } of changes) {
        const id = keys.keys[which]?.id ?? 'nobody'
        const origins = which % 2 === 0 ? ['https://a.example'] : []
        const attributes = { ...ACME, scopes: which % 3 === 0 ? ['admin'] : ['stream'], corsOrigins: origins }
        if (kind === 'issue') issued.push((await keys.issue(attributes, atMs)).key)
        if (kind === 'tenant') await refusal(keys.createTenant(`t${which}`, atMs))
        if (kind === 'revoke') await refusal(keys.revoke(id, atMs))
        if (kind === 'rotate')
          await keys.rotate(id, which * 10, atMs).then(
            ({ key }) => issued.push(key),
            () => undefined
          )
      }
      const again = await KeyDirectory.load(access, 600)
      t.strictSame(again.keys, keys.keys)
      for (const key of issued) t.strictSame(again.find(key)?.row, keys.find(key)?.row)
      for (const at of [0, 50, 200])
        t.equal(
          again.admitsOrigin('https://a.example', at, null),
          keys.admitsOrigin('https://a.example', at, null)
        )
    }),
    randomRuns(60)
  )
})
