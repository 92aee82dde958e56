import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { storageConformance } from '../../storage/test/conformance.ts'
import type { StorageUnderTest } from '../../storage/test/under-test.ts'
import { damageRecords } from './embedded-directory.ts'

const directory = t.testdir()

function openWith(hotBytesMax: number): (t: Test) => Promise<StorageUnderTest> {
  return async (t) => {
    const place = { directory: join(directory, randomUUID()), hotBytesMax }
    let storage: Storage = await openEmbeddedStorage(place)
    t.teardown(() => storage.close())
    const reopen = async (retentionSeconds: number | null = null): Promise<Storage> => {
      await storage.close()
      return (storage = await openEmbeddedStorage({ ...place, retentionSeconds }))
    }
    return {
      storage,
      reopen,
      // The engine puts its write-ahead log into tables as it opens.
      counted: async () => (await reopen()).usage(),
      async damageTrades(mint) {
        await storage.close()
        const damaged = await damageRecords(place.directory, Buffer.concat([Buffer.from('t'), mint]))
        if (damaged === 0) throw new Error('there was nothing to damage')
        return reopen()
      }
    }
  }
}

t.test('the embedded store, with its usual memory', async (t) =>
  storageConformance(t, openWith(64 * 2 ** 20))
)

t.test('the embedded store, with memory for a few pages', async (t) =>
  storageConformance(t, openWith(60_000))
)

t.test('the embedded store, with nothing kept in memory', async (t) => storageConformance(t, openWith(0)))
