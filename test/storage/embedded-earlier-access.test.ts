import { spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { ALL, apiKeysIn } from '../../storage/access-documents.ts'
import type { CrashPoint } from '../../storage/crash-points.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { sampleKey, storedKeys, storedTenants } from '../../storage/test/sample-access.ts'
import { EARLIER, EARLIER_KEYS, EARLIER_TENANTS, earlierKey } from './earlier-access.ts'
import { withRawStore } from './embedded-directory.ts'

const directory = t.testdir()
const earlier = join(directory, 'earlier')

/** Letters of the keys of tenants, API keys and their index in an earlier version. */
const LETTERS = ['y', 'k', 'i']

/** Returns the number of records that an earlier version stored. */
const earlierRecords = (place: string): Promise<number> =>
  withRawStore(place, async (raw) => {
    let records = 0
    for await (const key of raw.keys()) if (LETTERS.includes(String.fromCharCode(key[0]!))) records++
    return records
  })

await (await openEmbeddedStorage({ directory: earlier })).close()
await withRawStore(earlier, async (raw) => {
  for (const { row, bytes } of EARLIER.tenants)
    await raw.put(Buffer.from(`y${row.name}`), Buffer.from(bytes, 'hex'))
  for (const { row, bytes } of EARLIER.keys) {
    await raw.put(Buffer.concat([Buffer.from('k'), row.hash]), Buffer.from(bytes, 'hex'))
    await raw.put(Buffer.from(`i${row.id}`), Buffer.alloc(37))
  }
})

t.test('a store of an earlier version keeps its tenants and API keys, once and for all', async (t) => {
  const place = join(directory, 'opened')
  cpSync(earlier, place, { recursive: true })
  const storage = await openEmbeddedStorage({ directory: place })
  t.strictSame(await storedTenants(storage), EARLIER_TENANTS)
  t.strictSame(await storedKeys(storage), EARLIER_KEYS)
  const keys = apiKeysIn(storage.documents)
  const found = await keys.findBy('hash', ALL, [sampleKey(2).hash])
  t.strictSame(found?.value, earlierKey(2))
  await keys.update(found!, { ...found!.value, revokedAtMs: 7 })
  await storage.close()
  t.equal(await earlierRecords(place), 0)
  const again = await openEmbeddedStorage({ directory: place })
  t.strictSame(
    (await storedKeys(again)).map(({ id, revokedAtMs }) => [id, revokedAtMs]),
    EARLIER_KEYS.map(({ id, revokedAtMs }) => [id, id === 'key-2' ? 7 : revokedAtMs]),
    'what was revoked since stays revoked'
  )
  await again.close()
})

for (const point of ['documents.staged', 'documents.writing', 'documents.durable'] satisfies CrashPoint[])
  t.test(`killed at ${point} while they become documents, all are there after the next start`, async (t) => {
    const place = join(directory, point)
    cpSync(earlier, place, { recursive: true })
    const script = `
      import { openEmbeddedStorage } from ${JSON.stringify(import.meta.resolve('../../storage/embedded/store.ts'))}
      const reached = (point) => point === ${JSON.stringify(point)} && process.kill(process.pid, 'SIGKILL')
      await openEmbeddedStorage({ directory: ${JSON.stringify(place)}, reached })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
    t.strictSame(await once(child, 'exit'), [null, 'SIGKILL'])
    const storage = await openEmbeddedStorage({ directory: place })
    t.strictSame(await storedTenants(storage), EARLIER_TENANTS)
    t.strictSame(await storedKeys(storage), EARLIER_KEYS)
    await storage.close()
    t.equal(await earlierRecords(place), 0)
  })
