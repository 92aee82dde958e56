import t from 'tap'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import { KeyLookups } from '../../src/access/key-lookups.ts'
import { MemoryAccess } from './memory-access.ts'

function lookups(isThere: (key: string) => boolean = () => false) {
  const clock = { ms: 1_000_000, now: () => clock.ms }
  const read: string[] = []
  const held: { release: () => void }[] = []
  const all = new KeyLookups(async (key) => {
    read.push(key)
    await new Promise<void>((resolve) => held.push({ release: resolve }))
    return isThere(key)
  }, clock)
  const release = (): void => held.splice(0).forEach((each) => each.release())
  return { clock, read, all, release }
}

t.test('an unknown key is looked up once, and not again for ten seconds', async (t) => {
  const { clock, read, all, release } = lookups()
  const both = [all.lookUp('a'), all.lookUp('a')]
  t.equal(both[0], both[1], 'one look-up for both')
  release()
  t.equal(await both[0], false)
  t.equal(all.lookUp('a'), null)
  clock.ms += 9_999
  t.equal(all.lookUp('a'), null)
  clock.ms += 1
  t.ok(all.lookUp('a'))
  t.same(read, ['a', 'a'])
})

t.test('fifty unknown keys a second are looked up, and a flood of others is not', async (t) => {
  const { clock, read, all, release } = lookups()
  for (let at = 0; at < 500; at++) void all.lookUp(`key ${at}`)
  t.equal(read.length, 50)
  release()
  clock.ms += 1_000
  for (let at = 500; at < 600; at++) void all.lookUp(`key ${at}`)
  t.equal(read.length, 100)
  release()
})

t.test('a key that is found is not refused later', async (t) => {
  const { all, release } = lookups((key) => key === 'a')
  const looked = all.lookUp('a')
  release()
  t.equal(await looked, true)
  t.ok(all.lookUp('a'), 'its process asks again only if it has lost it')
  release()
})

t.test('a failed look-up is no answer: the next request looks again', async (t) => {
  let isAway = true
  const all = new KeyLookups(
    async () => {
      if (isAway) throw new Error('the store does not answer')
      return true
    },
    { now: () => 1 }
  )
  await t.rejects(all.lookUp('a')!, /does not answer/)
  isAway = false
  t.equal(await all.lookUp('a'), true)
})

t.test('a directory finds a key of another process in the store, before its next reload', async (t) => {
  const access = new MemoryAccess()
  const others = { publish: () => undefined }
  const one = await KeyDirectory.load(access, 600, others)
  const two = await KeyDirectory.load(access, 600, others)
  await one.createTenant('acme', 1)
  const { key, row } = await one.issue(
    {
      ...{ tenant: 'acme', name: 'new', scopes: ['data:read'], ratePerMinute: null },
      ...{ expiresAtMs: null, allowedIps: [], corsOrigins: [] }
    },
    2
  )
  t.equal(two.find(key), null)
  t.equal(await two.lookUp(key), true)
  t.equal(two.find(key)?.keyId, row.id)
  t.equal(await two.lookUp('another'), false)
  const alone = await KeyDirectory.load(access, 600)
  t.equal(alone.isShared, false)
  t.equal(await alone.lookUp('another'), false)
})
