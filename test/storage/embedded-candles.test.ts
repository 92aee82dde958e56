import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { bucketStart } from '../../src/market/buckets.ts'
import { openCandlesKey } from '../../storage/codec/keys.ts'
import { openCandlesKind, openSeriesKind } from '../../storage/codec/open-candles.ts'
import { packRecord, unpackRecord } from '../../storage/codec/record.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { upsertsAt } from '../../storage/test/conformance/candle-edits.ts'
import { sampleCash, sampleMint } from '../../storage/test/sample-addresses.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { ownDirectory } from '../own-directory.ts'
import { withRawStore } from './embedded-directory.ts'
import { countSearches } from './engine-calls.ts'

const [mint, cash] = [sampleMint(0), sampleCash(0)]
const START = 1_760_000_400
const ALL = { from: 0, to: 4e9, limit: 1_000 }
const HOUR = 3_600

/** Changes the record of the newest candles in a closed store. */
const editNewest = (directory: string, edit: (bytes: Buffer) => Uint8Array | null): Promise<void> =>
  withRawStore(directory, async (raw) => {
    const key = openCandlesKey(mint, cash)
    const edited = edit((await raw.get(key))!)
    if (edited === null) await raw.del(key)
    else await raw.put(key, Buffer.from(edited))
  })

/** Rewrites it as a version before first pages did. */
function withoutFirstPages(bytes: Buffer): Uint8Array {
  const key = openCandlesKey(mint, cash)
  return packRecord(openCandlesKind, key, unpackRecord(openSeriesKind, key, bytes).newest)
}

async function filled(t: Test, times: readonly number[], edit?: (bytes: Buffer) => Uint8Array | null) {
  const directory = join(ownDirectory(t), randomUUID())
  const writer = await openEmbeddedStorage({ directory })
  for (const [index, ts] of times.entries())
    await writer.blocks.commit({ ...emptyBlock(index), candles: upsertsAt(ts, index) })
  await writer.close()
  if (edit !== undefined) await editNewest(directory, edit)
  const storage = await openEmbeddedStorage({ directory })
  t.teardown(() => storage.close())
  return storage
}

const minutes = async (storage: Storage, range = ALL): Promise<number[]> =>
  (await storage.candles.range(mint, cash, '1m', range)).map(({ ts }) => ts)

const SPARSE = [0, 3 * HOUR, 30 * HOUR].map((after) => bucketStart('1m', START + after))

t.test('candles of a new pair are complete without a search for earlier ones', async (t) => {
  const storage = await filled(t, SPARSE)
  const searches = countSearches(t, 'c')
  t.same(await minutes(storage, { ...ALL, to: SPARSE[1]! + 60 }), SPARSE.slice(0, 2))
  t.equal(searches(), 0)
  t.same(await minutes(storage), SPARSE)
  t.equal(searches(), 1, 'a hole of more than two pages is searched')
})

t.test('a series that an earlier version began is searched, with the same candles', async (t) => {
  const storage = await filled(t, SPARSE.slice(0, 2), withoutFirstPages)
  const searches = countSearches(t, 'c')
  t.same(await minutes(storage), SPARSE.slice(0, 2))
  t.equal(searches(), 1)
  await storage.blocks.commit({ ...emptyBlock(9), candles: upsertsAt(START - 9 * HOUR, 9) })
  t.same((await minutes(storage)).length, 3, 'an earlier candle counts')
})

t.test('pages that outlive the newest candles of their pair are found again', async (t) => {
  const storage = await filled(t, SPARSE, () => null)
  t.same(await minutes(storage), [])
  const later = bucketStart('1m', START + 31 * HOUR)
  await storage.blocks.commit({ ...emptyBlock(9), candles: upsertsAt(later, 9) })
  t.same(await minutes(storage), [...SPARSE.slice(0, 2), later], 'all but the lost newest one')
})
