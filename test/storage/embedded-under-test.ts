import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { ShiftedClock } from '../../storage/test/shifted-clock.ts'
import type { OpenForTest } from '../../storage/test/under-test.ts'
import { damageRecords } from './embedded-directory.ts'

/** Opens empty stores in a directory, each in its own folder. */
export function openForTest(directory: string, hotBytesMax = 64 * 2 ** 20, isArchive = false): OpenForTest {
  return async (t) => {
    const clock = new ShiftedClock()
    const place = { directory: join(directory, randomUUID()), hotBytesMax, clock, isArchive }
    let storage: Storage = await openEmbeddedStorage(place)
    t.teardown(() => storage.close())
    const reopen = async (retentionSeconds: number | null = null): Promise<Storage> => {
      await storage.close()
      return (storage = await openEmbeddedStorage({ ...place, retentionSeconds }))
    }
    return {
      storage,
      clock,
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
