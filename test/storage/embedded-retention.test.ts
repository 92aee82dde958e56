import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { PageRequest, Storage } from '../../storage/port.ts'
import {
  FIRST_TIME,
  SAMPLE_MINTS,
  SAMPLE_POOLS,
  SAMPLE_WALLETS,
  sampleMint,
  samplePool,
  sampleWallet
} from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, emptyBlock, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { randomRuns } from '../random-runs.ts'
import { rawContents } from './embedded-directory.ts'

interface Row {
  readonly cursor: number
  readonly blockTime: number
}

/** Returns the reads of every list whose rows expire. */
function listsOf(storage: Storage): ((page: PageRequest) => Promise<Row[]>)[] {
  const each = (count: number) => Array.from({ length: count }, (_, n) => n)
  return [
    ...each(SAMPLE_MINTS).map((n) => (page: PageRequest) => storage.trades.ofMint(sampleMint(n), page)),
    ...each(SAMPLE_WALLETS).map((n) => (page: PageRequest) => storage.trades.ofWallet(sampleWallet(n), page)),
    ...each(SAMPLE_POOLS).map((n) => (page: PageRequest) => storage.poolEvents.ofPool(samplePool(n), page))
  ]
}

/** Asserts that every list from `since` on has the rows of the unswept store, as a whole and by pages from any cursor. */
async function assertRetained(swept: Storage, whole: Storage, since: number): Promise<void> {
  const lists = listsOf(swept)
  for (const [i, read] of listsOf(whole).entries()) {
    const kept = (await read(ALL)).filter(({ blockTime }) => blockTime >= since)
    assert.deepStrictEqual(await lists[i]!(ALL), kept)
    assert.deepStrictEqual(await lists[i]!({ ...ALL, order: 'desc' }), kept.toReversed())
    const middle = kept[Math.floor(kept.length / 2)]
    if (middle === undefined) continue
    const from = middle.cursor
    const below = kept.filter(({ cursor }) => cursor < from).reverse()
    assert.deepStrictEqual(await lists[i]!({ order: 'desc', from, limit: 1_000 }), below)
  }
}

async function sweep(storage: Storage, steps = Infinity): Promise<boolean> {
  for (let done = 0; done < steps; done++) if (!(await storage.sweeper!.step())) return true
  return false
}

const sizeOf = async (directory: string): Promise<number> => {
  const sizes = (await readdir(directory)).map(async (file) => (await stat(join(directory, file))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

t.test(
  'a sweep of a random market ends what is past the retention and nothing else, wherever it is interrupted',
  async (t) => {
    let runs = 0
    let deleted = 0
    await fc.assert(
      fc.asyncProperty(
        fc.nat(100_000),
        fc.integer({ min: 60, max: 3_000 }),
        fc.nat(4),
        async (seed, retentionSeconds, stepsBeforeEnd) => {
          const [a, b] = [t.testdir() + `/swept-${runs}`, t.testdir() + `/whole-${runs++}`]
          const place = { directory: a, retentionSeconds, hotBytesMax: runs % 2 === 0 ? 0 : 2 ** 20 }
          const whole = await openEmbeddedStorage({ directory: b })
          let swept = await openEmbeddedStorage(place)
          const commit = async (index: number): Promise<void> => {
            for (const store of [swept, whole]) await store.blocks.commit(sampleBlock(seed, index))
          }
          for (let index = 0; index < 120; index++) await commit(index)
          const since = (await whole.blocks.head())!.blockTime - retentionSeconds
          await sweep(swept, stepsBeforeEnd)
          await swept.close()
          swept = await openEmbeddedStorage(place)
          await sweep(swept)
          await assertRetained(swept, whole, since)
          assert.deepStrictEqual(await swept.totals.get(), await whole.totals.get())
          await swept.close()
          const once = await rawContents(a)
          swept = await openEmbeddedStorage(place)
          await sweep(swept)
          await swept.close()
          assert.deepStrictEqual(await rawContents(a), once, 'swept twice is the same')
          await whole.close()
          deleted += (await rawContents(b)).records - once.records
          swept = await openEmbeddedStorage(place)
          const reopened = await openEmbeddedStorage({ directory: b })
          // Lists whose pages were deleted accept further rows.
          for (let index = 120; index < 130; index++)
            for (const store of [swept, reopened]) await store.blocks.commit(sampleBlock(seed, index))
          await assertRetained(swept, reopened, since)
          await Promise.all([swept.close(), reopened.close()])
        }
      ),
      randomRuns(3, 5)
    )
    t.ok(deleted > 50, `${deleted} records were deleted`)
  }
)

t.test('a store that dies once the horizon is on disk goes on from there', async (t) => {
  const directory = t.testdir()
  const died = new Error('died')
  const dying = await openEmbeddedStorage({
    directory,
    retentionSeconds: 100,
    reached: (point) => {
      if (point === 'horizon.durable') throw died
    }
  })
  for (let index = 0; index < 40; index++) await dying.blocks.commit(sampleBlock(3, index))
  await t.rejects(dying.sweeper!.step(), died)
  await dying.close()
  const storage = await openEmbeddedStorage({ directory, retentionSeconds: 100 })
  t.teardown(() => storage.close())
  const since = (await storage.blocks.head())!.blockTime - 100
  const oldest = (await storage.trades.ofMint(sampleMint(0), ALL))[0]
  t.ok(oldest === undefined || oldest.blockTime >= since, 'expired rows are hidden before any is deleted')
  t.equal(await sweep(storage), true)
})

t.test('rows that a block appends to expired pages while a step looks at them stay', async (t) => {
  const later = FIRST_TIME + 100_000
  let appended = Promise.resolve(false)
  const storage = await openEmbeddedStorage({
    directory: t.testdir(),
    retentionSeconds: 1_000,
    reached: (point) => {
      if (point !== 'horizon.durable') return
      const block = blockOfTrades(2, sampleMint(0), 3)
      const trades = block.trades.map((row) => ({ ...row, blockTime: later }))
      appended = storage.blocks.commit({ ...block, slot: { ...block.slot, blockTime: later }, trades })
    }
  })
  t.teardown(() => storage.close())
  await storage.blocks.commit(blockOfTrades(0, sampleMint(0), 3))
  const head = emptyBlock(1)
  await storage.blocks.commit({ ...head, slot: { ...head.slot, blockTime: later } })
  await storage.sweeper!.step()
  t.equal(await appended, true)
  const rows = await storage.trades.ofMint(sampleMint(0), ALL)
  t.strictSame(
    rows.map(({ blockTime }) => blockTime),
    [later, later, later]
  )
})

t.test('the disk that expired rows took is given back', async (t) => {
  const directory = t.testdir()
  const storage = await openEmbeddedStorage({ directory, retentionSeconds: 1_000 })
  for (let index = 0; index < 300; index++)
    await storage.blocks.commit(blockOfTrades(index, sampleMint(index % 40), 100))
  const head = emptyBlock(300)
  const blockTime = FIRST_TIME + 100_000
  await storage.blocks.commit({ ...head, slot: { ...head.slot, blockTime } })
  const before = await sizeOf(directory)
  await sweep(storage)
  const after = await sizeOf(directory)
  t.strictSame(await storage.trades.ofMint(sampleMint(0), ALL), [])
  await storage.close()
  t.ok(after < before / 4, `${before} bytes became ${after}`)
})
