import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { Documents } from '../../storage/documents.ts'
import type { CrashPoint } from '../../storage/crash-points.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { PARCEL, parcel } from '../../storage/test/sample-documents.ts'
import { sampleKept } from '../../storage/test/sample-kept.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { randomRuns } from '../random-runs.ts'

const directory = t.testdir()
let stores = 0

/** Opens a store that records what becomes durable. */
async function openRecorded(place = join(directory, `store-${stores++}`)) {
  const durable: CrashPoint[] = []
  const reached = (point: CrashPoint): void => {
    if (point.endsWith('.durable')) durable.push(point)
  }
  const storage = await openEmbeddedStorage({ directory: place, isScratch: true, reached })
  return { storage, durable, place }
}

const series = (count: number): BlockCommit[] =>
  Array.from({ length: count }, (_, index) => blockOfTrades(index, sampleMint(0), 3))

t.test('blocks that wait for a write share the next one, at most eight of them', async (t) => {
  const { storage, durable, place } = await openRecorded()
  const blocks = series(20)
  const heads: (number | undefined)[] = []
  const answers = blocks.map(async (block) => {
    t.equal(await storage.blocks.commit(block), true)
    heads.push((await storage.blocks.head())?.slot)
  })
  await Promise.all(answers)
  // The first write takes what was given in its turn of the event loop.
  t.strictSame(durable, ['commit.durable', 'commit.durable', 'commit.durable'])
  t.strictSame(
    heads,
    heads.toSorted((a, b) => a! - b!),
    'they are answered in their order'
  )
  t.equal(heads.at(-1), blocks.at(-1)!.slot.slot)
  t.equal((await storage.trades.ofMint(sampleMint(0), ALL)).length, 60)
  await storage.close()
  const reopened = await openEmbeddedStorage({ directory: place })
  for (const { slot } of blocks) t.strictSame(await reopened.blocks.at(slot.slot), slot)
  await reopened.close()
})

t.test('a block that comes alone is written alone, and blocks of many events are not joined', async (t) => {
  const { storage, durable } = await openRecorded()
  await storage.blocks.commit(blockOfTrades(0, sampleMint(0), 3))
  t.equal(durable.length, 1)
  const large = [1, 2, 3].map((index) => {
    const block = blockOfTrades(index, sampleMint(0), 150)
    return { ...block, slot: { ...block.slot, events: 150 } }
  })
  await Promise.all(large.map((block) => storage.blocks.commit(block)))
  t.equal(durable.length, 4)
  await storage.close()
})

t.test('blocks of two hours do not share a write', async (t) => {
  const { storage, durable } = await openRecorded()
  const at = (index: number, blockTime: number): BlockCommit => {
    const block = blockOfTrades(index, sampleMint(0), 1)
    return { ...block, slot: { ...block.slot, blockTime } }
  }
  const blocks = [at(0, 7_100), at(1, 7_199), at(2, 7_200), at(3, 7_201)]
  await Promise.all(blocks.map((block) => storage.blocks.commit(block)))
  t.equal(durable.length, 2)
  await storage.close()
})

t.test('no block overtakes a document that was written before it', async (t) => {
  const { storage, durable } = await openRecorded()
  const [first, second, third] = series(3)
  await Promise.all([
    storage.blocks.commit(first!),
    storage.blocks.commit(second!),
    new Documents(storage.documents, PARCEL).insert(parcel(1, {})),
    storage.history.forget(0),
    storage.blocks.commit(third!)
  ])
  t.equal(durable.filter((point) => point === 'commit.durable').length, 2)
  await storage.close()
})

t.test('the undo data of blocks that share a write is all there', async (t) => {
  const { storage } = await openRecorded()
  const kept = [0, 1, 2, 3].map((index) => sampleKept(index))
  await Promise.all(
    kept.map((each, index) => storage.blocks.commit(sampleBlock(5, index), index === 2 ? undefined : each))
  )
  t.strictSame(
    (await storage.history.after(null, 10)).map(({ block }) => block.slot),
    [0, 1, 3].map((index) => kept[index]!.block.slot)
  )
  await storage.close()
})

t.test('blocks that wait while the store is closed are written, and later ones are refused', async (t) => {
  const { storage, place } = await openRecorded()
  const [one, two, three] = series(3)
  const waiting = [storage.blocks.commit(one!), storage.blocks.commit(two!)]
  const closing = storage.close()
  await t.rejects(storage.blocks.commit(three!), /closed/)
  t.strictSame(await Promise.all(waiting), [true, true])
  await closing
  const reopened = await openEmbeddedStorage({ directory: place })
  t.equal((await reopened.blocks.head())?.slot, two!.slot.slot)
  await reopened.close()
})

t.test('blocks written together, with faulty ones between, read like those written alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ length: fc.integer({ min: 1, max: 12 }), hasFault: fc.boolean() }), {
        minLength: 1,
        maxLength: 5
      }),
      async (runs) => {
        const { storage } = await openRecorded()
        const model = new StorageModel()
        let index = 0
        for (const { length, hasFault } of runs) {
          const blocks = Array.from({ length }, () => sampleBlock(9, index++))
          const commits = blocks.map((block) => storage.blocks.commit(block))
          if (hasFault) {
            const { slot, ...rows } = blockOfTrades(index, sampleMint(0), 1)
            const trades = rows.trades.map((row) => ({ ...row, inAmount: -1n }))
            const refused = storage.blocks.commit({ ...rows, slot, trades }).then(
              () => false,
              () => true
            )
            commits.push(refused)
          }
          const answers = await Promise.all(commits)
          if (!answers.every((answer) => answer)) return false
          for (const block of blocks) model.commit(block)
        }
        await assertSame(storage, model)
        await storage.close()
        return true
      }
    ),
    randomRuns(6)
  )
})
