import t from 'tap'
import { logChannelCodes } from '../../storage/codec/codes.ts'
import { logAddressIn } from '../../storage/codec/keys.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { sampleLogEntry } from '../../storage/test/sample-log.ts'
import { withRawStore } from './embedded-directory.ts'

/** Blocks from one turn of a channel to its next. */
const TURNS = 23
const CHANNELS = logChannelCodes.words
const TIME = 1_760_000_000

/** Returns the block of a slot with two events on every channel; slots are a second apart. */
function blockAt(slot: number, channels = CHANNELS): BlockCommit {
  const block = emptyBlock(0)
  const log = channels.map((channel) => sampleLogEntry(channel, slot, 2))
  return { ...block, slot: { ...block.slot, slot, blockTime: TIME + slot }, log }
}

/** Returns the slots of the log entries on disk, by channel. */
async function stored(directory: string): Promise<number[][]> {
  const slots = new Map<string, number[]>(CHANNELS.map((channel) => [channel, []]))
  await withRawStore(directory, async (raw) => {
    for await (const key of raw.keys({ gte: Buffer.from('j'), lt: Buffer.from('k') })) {
      const { channel, slot } = logAddressIn(key)
      slots.get(channel)!.push(slot)
    }
  })
  return [...slots.values()]
}

const slotsFrom = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

for (const [step, hotBytesMax] of [
  [1, 64 * 2 ** 20],
  [1, 0],
  [2, 64 * 2 ** 20],
  [5, 0]
] as const)
  t.test(
    `parts past the horizon go, with ${step} slots from block to block and ${hotBytesMax} bytes of memory`,
    async (t) => {
      const directory = t.testdir()
      const options = { directory, hotBytesMax, logSeconds: 40 * step }
      let storage = await openEmbeddedStorage(options)
      const slots = slotsFrom(1, 150).map((n) => n * step)
      for (const [i, slot] of slots.entries()) {
        await storage.blocks.commit(blockAt(slot))
        if (i % 50 === 20) {
          await storage.close()
          storage = await openEmbeddedStorage(options)
        }
      }
      // All entries within the horizon are there, and older ones only since their channel's last turn.
      for (const channel of CHANNELS) {
        const entries = await storage.log.read(channel, { limit: 1_000 })
        t.strictSame(
          entries.slice(-41).map(({ slot }) => slot),
          slots.slice(-41)
        )
        t.ok(entries.length <= 41 + TURNS, `${entries.length} parts of ${channel}`)
      }
      await storage.close()
      const left = await stored(directory)
      t.ok(left.some((own) => own.length === 41))
    }
  )

t.test(
  'a block deletes some of what is old and no more, and a quiet channel loses nothing else',
  async (t) => {
    const directory = t.testdir()
    const all = await openEmbeddedStorage({ directory })
    for (const slot of slotsFrom(1, 300)) await all.blocks.commit(blockAt(slot, CHANNELS.slice(0, 1)))
    await all.blocks.commit(blockAt(299 * TURNS, CHANNELS.slice(0, 2)))
    await all.close()
    t.equal((await stored(directory))[0]!.length, 301, 'without a horizon all is kept')
    const counts: number[] = []
    for (const slot of slotsFrom(1, 6).map((n) => 299 * TURNS + n * TURNS)) {
      const storage = await openEmbeddedStorage({ directory, logSeconds: 4_000 })
      await storage.blocks.commit(blockAt(slot, []))
      await storage.close()
      counts.push((await stored(directory))[0]!.length)
    }
    t.strictSame(counts, [173, 45, 1, 1, 1, 1])
    t.strictSame((await stored(directory))[1], [299 * TURNS])
  }
)

t.test('of blocks that were committed as one the parts go with the block that has a slot', async (t) => {
  const directory = t.testdir()
  const storage = await openEmbeddedStorage({ directory, logSeconds: 50 })
  const [channel] = CHANNELS
  const merged = blockAt(16, [channel!])
  const log = [...slotsFrom(11, 15).map((slot) => sampleLogEntry(channel!, slot, 1)), ...merged.log]
  await storage.blocks.commit({ ...merged, log })
  await storage.blocks.commit(blockAt(4 * TURNS - 2, []))
  await storage.blocks.commit(blockAt(4 * TURNS + TURNS, []))
  t.strictSame(await storage.log.read(channel!, { limit: 9 }), [])
  await storage.close()
})
