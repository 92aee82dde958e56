import type { Test } from 'tap'
import { StorageModel } from '../model.ts'
import { sampleBlock } from '../sample-blocks.ts'
import type { BlockCommit } from '../../port.ts'
import type { OpenForTest } from '../under-test.ts'
import { assertSame } from './agreement.ts'

/** Sizes of groups, up to what every store takes. */
const SIZES = [1, 7, 16, 2, 9] as const
/** Blocks of the largest group, which an archive on a cluster takes; a store with a lower maximum gets that many. */
const LARGE_GROUP = 48

export async function testGroups(t: Test, open: OpenForTest): Promise<void> {
  t.test('groups of blocks give the rows of single commits, and repeated ones change nothing', async (t) => {
    const under = await open(t)
    const { storage } = under
    const model = new StorageModel()
    const groups: BlockCommit[][] = []
    let index = 0
    for (const size of [...SIZES, Math.min(LARGE_GROUP, storage.commitGroupMax)]) {
      t.ok(size <= storage.commitGroupMax)
      groups.push(Array.from({ length: size }, () => sampleBlock(6, index++)))
    }
    for (const block of groups.flat()) model.commit(block)
    const [first, ...rest] = groups
    await storage.blocks.commitAll([first!])
    await storage.blocks.commitAll(rest, first!.at(-1)!.slot.slot)
    await assertSame(storage, model)
    await storage.blocks.commitAll(groups)
    await assertSame(storage, model)
    await assertSame(await under.reopen(), model)
  })

  t.test('a group that does not follow the head is refused whole', async (t) => {
    const { storage } = await open(t)
    const blocks = Array.from({ length: 6 }, (_, index) => sampleBlock(7, index))
    await storage.blocks.commitAll([blocks.slice(0, 2)])
    await t.rejects(storage.blocks.commitAll([blocks.slice(3, 6)], blocks[2]!.slot.slot))
    t.equal((await storage.blocks.head())?.slot, blocks[1]!.slot.slot)
  })
}
