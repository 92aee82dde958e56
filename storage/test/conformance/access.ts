import type { Test } from 'tap'
import { sampleKey, sampleTenant } from '../sample-access.ts'
import type { OpenForTest } from '../under-test.ts'

export async function testAccess(t: Test, open: OpenForTest): Promise<void> {
  t.test(
    'API keys are found by hash, listed in order of creation, and replaced by a second put',
    async (t) => {
      const { storage } = await open(t)
      for (const n of [3, 1, 2]) await storage.keys.put(sampleKey(n))
      t.strictSame(await storage.keys.byHash(sampleKey(1).hash), sampleKey(1))
      t.equal(await storage.keys.byHash(sampleKey(9).hash), null)
      await storage.keys.put({ ...sampleKey(2), name: 'renamed' })
      t.strictSame(await storage.keys.all(), [
        sampleKey(1),
        { ...sampleKey(2), name: 'renamed' },
        sampleKey(3)
      ])
      t.equal(await storage.blocks.head(), null, 'a key is no block')
    }
  )

  t.test('a put replaces the key with its id: the hash it had before finds nothing', async (t) => {
    const { storage } = await open(t)
    const [first, second] = [sampleKey(1), { ...sampleKey(1), hash: sampleKey(2).hash }]
    await storage.keys.put(first)
    await storage.keys.put(second)
    t.equal(await storage.keys.byHash(first.hash), null)
    t.strictSame(await storage.keys.byHash(second.hash), second)
    t.strictSame(await storage.keys.all(), [second])
  })

  t.test('of two keys with one hash the later is stored, and the id of the first is free', async (t) => {
    const { storage } = await open(t)
    const [first, second] = [sampleKey(1), { ...sampleKey(2), hash: sampleKey(1).hash }]
    await storage.keys.put(first)
    await storage.keys.put(second)
    await storage.keys.put({ ...first, hash: sampleKey(3).hash })
    t.strictSame(await storage.keys.byHash(second.hash), second)
    t.equal((await storage.keys.all()).length, 2)
  })

  t.test('a tenant is created once, found by name and listed in order of creation', async (t) => {
    const { storage } = await open(t)
    t.strictSame(await storage.tenants.all(), [])
    for (const n of [3, 1, 2]) t.equal(await storage.tenants.create(sampleTenant(n)), true)
    t.equal(await storage.tenants.create({ ...sampleTenant(1), createdAtMs: 0 }), false)
    t.strictSame(await storage.tenants.get('tenant-1'), sampleTenant(1), 'it stays as it was')
    t.equal(await storage.tenants.get('tenant'), null)
    t.strictSame(await storage.tenants.all(), [1, 2, 3].map(sampleTenant))
    t.equal(await storage.blocks.head(), null, 'a tenant is no block')
  })

  t.test('of two tenants created at once under one name, one is', async (t) => {
    const { storage } = await open(t)
    const [first, second] = [sampleTenant(1), { ...sampleTenant(1), createdAtMs: 5 }]
    const created = await Promise.all([first, second].map((tenant) => storage.tenants.create(tenant)))
    t.strictSame(created, [true, false])
    t.strictSame(await storage.tenants.all(), [first])
  })
}
