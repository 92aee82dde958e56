import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { unchanged } from '../../src/market/amendment.ts'
import { bucketStart, intervalSeconds } from '../../src/market/buckets.ts'
import { INTERVALS, type Candle, type Interval } from '../../src/market/rows.ts'
import { openCandlesKey } from '../../storage/codec/keys.ts'
import { openCandlesKind, openSeriesKind } from '../../storage/codec/open-candles.ts'
import { packRecord, unpackRecord } from '../../storage/codec/record.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { CandleUpsert, Storage } from '../../storage/port.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleCash, sampleMint } from '../../storage/test/sample-addresses.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { sampleCandle } from '../../storage/test/sample-pairs.ts'
import { ownDirectory } from '../own-directory.ts'
import { randomRuns } from '../random-runs.ts'
import { withRawStore } from './embedded-directory.ts'
import { countSearches } from './engine-calls.ts'

const [mint, cash] = [sampleMint(0), sampleCash(0)]
const START = 1_760_000_400
const ALL = { from: 0, to: 4e9, limit: 1_000 }
const HOUR = 3_600

/** Candles of a trade at a time, in all intervals. */
const upsertsAt = (ts: number, salt: number): CandleUpsert[] =>
  INTERVALS.map((interval, i) => {
    const candle = sampleCandle(new Choices(salt * INTERVALS.length + i), bucketStart(interval, ts))
    return { mint, cash, interval, candle }
  })

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

/** A step on the series: candles put by a block, or put and removed by an amendment. */
interface Step {
  readonly isAmendment: boolean
  readonly put: readonly number[]
  /** Which of the existing candles to remove, as a share of them from 0 to 1. */
  readonly remove: readonly number[]
}

const times = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 3 })
const steps = fc.array(
  fc.record({
    isAmendment: fc.boolean(),
    put: times,
    remove: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { maxLength: 3 })
  }),
  { maxLength: 12 }
)

/** The expected candles, by interval and time. */
type Model = Map<Interval, Map<number, Candle>>

async function take(storage: Storage, model: Model, step: Step, index: number): Promise<void> {
  const put = new Map<string, CandleUpsert>()
  for (const [n, buckets] of step.put.entries())
    for (const upsert of upsertsAt(START + buckets * 600, index * 10 + n))
      put.set(`${upsert.interval} ${upsert.candle.ts}`, upsert)
  const candles = [...put.values()]
  if (!step.isAmendment) await storage.blocks.commit({ ...emptyBlock(index), candles })
  else {
    const all = [...model].flatMap(([interval, series]) => [...series.keys()].map((ts) => ({ interval, ts })))
    const chosen = new Set(step.remove.map((share) => all[Math.floor(share * all.length)]))
    const remove = [...chosen].filter((at) => at !== undefined && !put.has(`${at.interval} ${at.ts}`))
    for (const at of remove) model.get(at!.interval)!.delete(at!.ts)
    const head = await storage.blocks.head()
    const totals = await storage.totals.get()
    const edit = { put: candles, remove: remove.map((at) => ({ mint, cash, ...at! })) }
    await storage.history.amend({ ...unchanged(head, { totals }), candles: edit }, { put: [], remove: [] })
  }
  for (const { interval, candle } of candles) model.get(interval)!.set(candle.ts, candle)
}

async function assertSeries(storage: Storage, model: Model, from: number, limit: number): Promise<void> {
  for (const [interval, series] of model) {
    const start = START + from * intervalSeconds(interval)
    const expected = [...series.values()].filter(({ ts }) => ts >= start).sort((a, b) => a.ts - b.ts)
    const range = { from: start, to: 4e9, limit }
    assert.deepStrictEqual(await storage.candles.range(mint, cash, interval, range), expected.slice(-limit))
  }
}

t.test('candles put and removed in any order are those of a map', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: -10, max: 300 }),
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      async (steps, from, limit, isSmall) => {
        const directory = join(ownDirectory(t), randomUUID())
        const options = { directory, hotBytesMax: isSmall ? 0 : 2 ** 20 }
        let storage = await openEmbeddedStorage(options)
        const model: Model = new Map(INTERVALS.map((interval) => [interval, new Map()]))
        for (const [index, step] of steps.entries()) {
          await take(storage, model, step, index)
          await assertSeries(storage, model, from, limit)
        }
        await storage.close()
        storage = await openEmbeddedStorage(options)
        await assertSeries(storage, model, from, limit)
        await assertSeries(storage, model, -1_000_000, 1_000)
        await storage.close()
      }
    ),
    randomRuns(40)
  )
})
