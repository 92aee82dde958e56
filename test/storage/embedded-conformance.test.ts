import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { storageConformance } from '../../storage/test/conformance.ts'
import { testActivity } from '../../storage/test/conformance/activity.ts'
import { testAgreement } from '../../storage/test/conformance/agreement.ts'
import { testAmendments } from '../../storage/test/conformance/amendments.ts'
import { testCandles } from '../../storage/test/conformance/candles.ts'
import { testLaunches } from '../../storage/test/conformance/launches.ts'
import { testPairs } from '../../storage/test/conformance/pairs.ts'
import { testRegistry } from '../../storage/test/conformance/registry.ts'
import { testRows } from '../../storage/test/conformance/rows.ts'
import type { OpenForTest, StorageUnderTest } from '../../storage/test/under-test.ts'
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

/** What is read through the caches; the rest of the suite does not know how large they are. */
function cachedConformance(t: Test, open: OpenForTest): void {
  t.test('trades and pool events', (t) => testRows(t, open))
  t.test('candles', (t) => testCandles(t, open))
  t.test('launches', (t) => testLaunches(t, open))
  t.test('pairs and prices', (t) => testPairs(t, open))
  t.test('activity', (t) => testActivity(t, open))
  t.test('tokens, pools, curves and totals', (t) => testRegistry(t, open))
  t.test('random blocks agree with plain lists on every query', (t) => testAgreement(t, open))
}

t.test('the embedded store, with memory for a few pages', async (t) => {
  const open = openWith(60_000)
  cachedConformance(t, open)
  t.test('amendments and kept blocks', (t) => testAmendments(t, open))
})

t.test('the embedded store, with nothing kept in memory', async (t) => cachedConformance(t, openWith(0)))
