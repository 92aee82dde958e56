import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Storage } from '../../port.ts'
import { Choices } from '../choices.ts'
import { differenceBetween } from '../difference.ts'
import { StorageModel } from '../model.ts'
import { slotAt } from '../sample-addresses.ts'
import { emptyBlock, sampleBlock } from '../sample-blocks.ts'
import { sampleGap } from '../sample-gap.ts'
import { sampleKept } from '../sample-kept.ts'
import type { OpenForTest } from '../under-test.ts'
import { randomRuns } from '../../../test/random-runs.ts'
import { assertSame } from './agreement.ts'

const NO_GAPS = { put: [], remove: [] }
const BLOCKS = 30
/** Series in which no hour of a mint has trades and, later on, none: hours only grow. */
const SEEDS = [2, 5, 14, 17, 20, 21, 43, 58]

/** A model that holds the blocks at some indexes of a series. */
function modelOf(seed: number, isIn: (index: number) => boolean): StorageModel {
  const model = new StorageModel()
  for (let index = 0; index < BLOCKS; index++) if (isIn(index)) model.commit(sampleBlock(seed, index))
  return model
}

async function fill(storage: Storage, seed: number, isIn: (index: number) => boolean): Promise<void> {
  for (let index = 0; index < BLOCKS; index++)
    if (isIn(index)) await storage.blocks.commit(sampleBlock(seed, index))
}

export async function testAmendments(t: Test, open: OpenForTest): Promise<void> {
  t.test('blocks that come between others, and rows that change, leave no trace of before', async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...SEEDS), fc.infiniteStream(fc.boolean()), async (seed, isLate) => {
        const late = new Set(
          Array.from({ length: BLOCKS }, (_, i) => i).filter((i) => i > 0 && isLate.next().value)
        )
        const under = await open(t)
        const { storage } = under
        const [before, after] = [modelOf(seed, (i) => !late.has(i)), modelOf(seed, () => true)]
        await fill(storage, seed, (i) => !late.has(i))
        await assertSame(storage, before)
        const amendment = differenceBetween(before, after)
        await storage.history.amend(amendment, NO_GAPS)
        await assertSame(storage, after)
        await storage.history.amend(amendment, NO_GAPS)
        await assertSame(storage, after, new Choices(seed))
        for (const index of [BLOCKS, BLOCKS + 1]) {
          assert.equal(await storage.blocks.commit(sampleBlock(seed, index)), true)
          after.commit(sampleBlock(seed, index))
        }
        await assertSame(storage, after)
        const again = await under.reopen()
        await assertSame(again, after)
        await again.close()
      }),
      randomRuns(3, 31)
    )
    t.pass()
  })

  t.test('blocks that a fork has lost are gone, and others come after those that are left', async (t) => {
    for (const [seed, lost] of [
      [2, 1],
      [5, 3],
      [14, 12],
      [17, BLOCKS]
    ] as const) {
      const under = await open(t)
      const { storage } = under
      const kept = BLOCKS - lost
      await fill(storage, seed, () => true)
      const before = modelOf(seed, () => true)
      const after = modelOf(seed, (i) => i < kept)
      await assertSame(storage, before)
      await storage.history.amend(differenceBetween(before, after), NO_GAPS)
      for (let i = kept; i < BLOCKS; i++) t.equal(await storage.blocks.has(slotAt(i)), false)
      await assertSame(storage, after)
      for (let i = kept; i < BLOCKS + 4; i += 2) {
        const block = sampleBlock(seed, i)
        assert.equal(await storage.blocks.commit(block), true)
        after.commit(block)
      }
      await assertSame(storage, after)
      const again = await under.reopen()
      await assertSame(again, after)
      await again.close()
    }
  })

  t.test('an amendment closes gaps, all or a part of each', async (t) => {
    const under = await open(t)
    const { storage } = under
    const model = new StorageModel()
    await storage.blocks.commit(emptyBlock(0))
    model.commit(emptyBlock(0))
    for (const n of [1, 2, 3]) await storage.coverage.addGap(sampleGap(n))
    const shorter = { ...sampleGap(2), to: sampleGap(2).from }
    const gaps = { put: [shorter], remove: [sampleGap(1).from] }
    await storage.history.amend(differenceBetween(model, model), gaps)
    const left = [shorter, sampleGap(3)]
    t.strictSame(await storage.coverage.gaps({ after: null, limit: 10 }), left)
    t.strictSame(await (await under.reopen()).coverage.gaps({ after: null, limit: 10 }), left)
  })

  t.test('the newest blocks are kept as they were given until they are forgotten', async (t) => {
    const under = await open(t)
    let { storage } = under
    const slots = async (): Promise<number[]> =>
      (await storage.history.after(null, 100)).map(({ block }) => block.slot)
    t.strictSame(await slots(), [])
    await storage.history.forget(slotAt(9))
    await storage.blocks.commit(emptyBlock(0))
    for (const n of [1, 2, 3, 4]) await storage.blocks.commit(emptyBlock(n), sampleKept(n))
    t.equal(await storage.blocks.commit(emptyBlock(4), sampleKept(4)), false)
    t.strictSame(await storage.history.after(null, 100), [1, 2, 3, 4].map(sampleKept))
    t.strictSame(await storage.history.after(slotAt(1), 2), [2, 3].map(sampleKept))
    t.strictSame(await storage.history.after(slotAt(4), 2), [])
    await storage.history.forget(slotAt(2))
    t.strictSame(await slots(), [3, 4].map(slotAt))
    const model = new StorageModel()
    for (const n of [0, 1, 2, 3, 4]) model.commit(emptyBlock(n))
    const same = differenceBetween(model, model)
    const kept = {
      put: [sampleKept(2), { ...sampleKept(3), block: sampleKept(7).block }],
      remove: [slotAt(4)]
    }
    await storage.history.amend({ ...same, kept }, NO_GAPS)
    storage = await under.reopen()
    t.strictSame(await slots(), [2, 3, 7].map(slotAt))
    await storage.history.forget(slotAt(7))
    t.strictSame(await slots(), [])
  })
}
