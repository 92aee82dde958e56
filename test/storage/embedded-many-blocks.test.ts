import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { randomRuns } from '../random-runs.ts'
import { recordsOf } from './embedded-directory.ts'

const BLOCKS = 60
let stores = 0

/**
 * Commits blocks of the samples in runs: a length of 0 is a block committed by itself. Closes the store, and returns its
 * records.
 */
async function committed(directory: string, lengths: readonly number[], hotBytesMax = 64 * 2 ** 20) {
  const place = join(directory, `store-${stores++}`)
  let storage = await openEmbeddedStorage({ directory: place, isScratch: true, hotBytesMax })
  let index = 0
  for (let run = 0; index < BLOCKS; run++) {
    const length = lengths[run % lengths.length]!
    const blocks = Array.from({ length: Math.min(Math.max(length, 1), BLOCKS - index) }, (_, i) =>
      sampleBlock(3, index + i)
    )
    if (length === 0) await storage.blocks.commit(blocks[0]!)
    else await storage.blocks.commitAll([blocks])
    index += blocks.length
    if (run % 5 === 4) {
      await storage.close()
      storage = await openEmbeddedStorage({ directory: place, isScratch: true, hotBytesMax })
    }
  }
  const { mint, user } = sampleBlock(3, 1).trades[0]!
  const read = await Promise.all([
    storage.trades.ofMint(mint, { order: 'desc', limit: 200 }),
    storage.trades.ofMint(mint, { order: 'asc', limit: 200 }),
    storage.trades.ofWallet(user, { order: 'desc', limit: 200 })
  ])
  await storage.close()
  return { read, records: await recordsOf(place) }
}

t.test(
  'blocks committed together, or in turn with single ones, give the rows of single commits',
  async (t) => {
    const directory = t.testdir()
    const alone = await committed(directory, [0])
    t.ok(alone.read.every((rows) => rows.length > 0))
    const lists = (records: ReadonlyMap<string, string>) => [...records].filter(([key]) => /^[twe]/.test(key))
    t.ok(lists(alone.records).length > 50)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(40), { minLength: 1, maxLength: 6 }),
        fc.constantFrom(64 * 2 ** 20, 0),
        async (lengths, hotBytesMax) => {
          const together = await committed(directory, lengths, hotBytesMax)
          t.strictSame(together.read, alone.read)
          t.strictSame(lists(together.records), lists(alone.records))
        }
      ),
      randomRuns(8)
    )
  }
)
