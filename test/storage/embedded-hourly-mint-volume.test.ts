import t from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { Choices, sampleBytes } from '../../storage/test/choices.ts'
import { sampleHour } from '../../storage/test/sample-activity.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import type { ActivityHour } from '../../src/market/activity-rows.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { withRawStore } from './embedded-directory.ts'

const HOUR = 1_760_000_400
const hours = 3_600
const MINTS = 600

/** Returns an hour with one trade of each of many mints. */
function busyHour(hour: number): ActivityHour[] {
  const choices = new Choices(3)
  return Array.from({ length: MINTS }, (_, n) => {
    const activity = sampleHour(choices, 'mint', sampleBytes(32, 9_000 + n), hour)
    return { ...activity, minutes: [{ ...activity.minutes[0]!, minute: hour, trades: 1 }] }
  })
}

function blockAt(index: number, blockTime: number, activity: readonly ActivityHour[] = []): BlockCommit {
  const block = emptyBlock(index)
  return { ...block, slot: { ...block.slot, blockTime }, activity }
}

/** Returns the hours of the index's entries on disk, with their number. */
async function indexed(directory: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  await withRawStore(directory, async (raw) => {
    for await (const key of raw.keys({ gte: Buffer.from('h'), lt: Buffer.from('i') })) {
      const hour = (key.readUInt32BE(1) - HOUR) / hours
      found[hour] = (found[hour] ?? 0) + 1
    }
  })
  return found
}

for (const hotBytesMax of [64 * 2 ** 20, 0])
  t.test(
    `the index of an hour goes once it is a day old, some entries a block, with ${hotBytesMax} bytes of memory`,
    async (t) => {
      const directory = t.testdir()
      const blocks = [
        blockAt(0, HOUR, busyHour(HOUR)),
        blockAt(1, HOUR + hours, busyHour(HOUR + hours)),
        blockAt(2, HOUR + 27 * hours - 1),
        blockAt(3, HOUR + 27 * hours),
        blockAt(4, HOUR + 27 * hours + 1),
        blockAt(5, HOUR + 27 * hours + 2),
        blockAt(6, HOUR + 27 * hours + 3),
        // Late within its own hour: it must not be listed among expired hours.
        blockAt(7, HOUR + 28 * hours, busyHour(HOUR).slice(0, 3)),
        blockAt(8, HOUR + 28 * hours + 1),
        blockAt(9, HOUR + 28 * hours + 2),
        blockAt(10, HOUR + 28 * hours + 3)
      ]
      const left: Record<string, number>[] = []
      for (const [index, block] of blocks.entries()) {
        const storage = await openEmbeddedStorage({ directory, hotBytesMax })
        await storage.blocks.commit(block)
        // Also several blocks between an open and a close of the store.
        if (index === 7) for (const next of blocks.slice(8)) await storage.blocks.commit(next)
        await storage.close()
        left.push(await indexed(directory))
      }
      t.strictSame(left.slice(0, 9), [
        { 0: 600 },
        { 0: 600, 1: 600 },
        { 0: 600, 1: 600 },
        { 0: 344, 1: 600 },
        { 0: 88, 1: 600 },
        { 1: 600 },
        { 1: 600 },
        {},
        {}
      ])
    }
  )

t.test(
  'a store that is opened while an old hour goes ends with the bytes of one that was not closed',
  async (t) => {
    const directory = t.testdir()
    const blocks = [blockAt(0, HOUR, busyHour(HOUR)), ...[1, 2].map((n) => blockAt(n, HOUR + 30 * hours + n))]
    const storage = await openEmbeddedStorage({ directory })
    for (const block of blocks) await storage.blocks.commit(block)
    t.equal((await storage.activity.mintsOfHour(HOUR, { limit: 1_000 })).length, MINTS - 512)
    await storage.close()
    t.strictSame(await indexed(directory), { 0: MINTS - 512 })
  }
)
