import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { Test } from 'tap'
import type { BlockCommit } from '../../port.ts'
import { sampleMint, slotAt } from '../sample-addresses.ts'
import { blockOfTrades, emptyBlock, sampleBlock } from '../sample-blocks.ts'
import { sampleLaunch } from '../sample-launches.ts'
import { ALL } from '../under-test.ts'
import type { OpenForTest } from '../under-test.ts'

const [mint, other] = [sampleMint(0), sampleMint(1)]

export async function testBlocks(t: Test, open: OpenForTest): Promise<void> {
  t.test('an empty store has no head and no slot', async (t) => {
    const { storage } = await open(t)
    t.equal(await storage.blocks.head(), null)
    t.equal(await storage.blocks.has(slotAt(0)), false)
  })

  t.test(
    'the head is the newest committed slot; older slots are kept, skipped ones are absent',
    async (t) => {
      const { storage } = await open(t)
      for (const index of [0, 1, 2]) t.equal(await storage.blocks.commit(sampleBlock(1, index)), true)
      t.strictSame(await storage.blocks.head(), sampleBlock(1, 2).slot)
      for (const index of [0, 1, 2]) t.equal(await storage.blocks.has(slotAt(index)), true)
      t.equal(await storage.blocks.has(slotAt(2) - 1), false, 'no block was committed at this slot')
    }
  )

  // INVARIANTS 5
  t.test('a block at or below the head changes nothing, whatever it holds', async (t) => {
    const { storage } = await open(t)
    await storage.blocks.commit(blockOfTrades(0, mint, 3))
    await storage.blocks.commit(blockOfTrades(2, mint, 2))
    const before = await storage.trades.ofMint(mint, ALL)
    t.equal(await storage.blocks.commit(blockOfTrades(2, mint, 2)), false)
    t.equal(
      await storage.blocks.commit({
        ...blockOfTrades(2, other, 5),
        launches: [sampleLaunch(1, 2, 'created')]
      }),
      false
    )
    t.equal(await storage.blocks.commit(blockOfTrades(1, mint, 1)), false)
    assert.deepStrictEqual(await storage.trades.ofMint(mint, ALL), before)
    t.strictSame(await storage.trades.ofMint(other, ALL), [])
    t.strictSame(await storage.launches.page({ order: 'desc', limit: 10 }), [])
    t.equal((await storage.blocks.head())?.slot, slotAt(2))
  })

  t.test('commits that are not waited for are done in their order', async (t) => {
    const { storage } = await open(t)
    const done = await Promise.all(
      [0, 1, 1, 2].map((index) => storage.blocks.commit(blockOfTrades(index, mint, 2)))
    )
    t.strictSame(done, [true, true, false, true])
    t.equal((await storage.trades.ofMint(mint, ALL)).length, 6)
  })

  t.test('behind a block that fails none is stored that was to follow it, and others are', async (t) => {
    const { storage } = await open(t)
    const block = blockOfTrades(1, mint, 2)
    const unpackable = { ...block, trades: block.trades.map((row) => ({ ...row, inAmount: -1n })) }
    const commit = (block: BlockCommit, after: number) =>
      storage.blocks.commit(block, undefined, slotAt(after))
    const settled = await Promise.allSettled([
      storage.blocks.commit(blockOfTrades(0, mint, 2)),
      commit(unpackable, 0),
      commit(blockOfTrades(2, mint, 2), 1),
      commit(blockOfTrades(3, mint, 2), 2),
      commit(blockOfTrades(4, mint, 2), 0),
      commit(blockOfTrades(5, mint, 2), 4),
      commit(blockOfTrades(4, mint, 2), 3)
    ])
    t.strictSame(
      settled.map((each) => (each.status === 'fulfilled' ? each.value : each.status)),
      [true, 'rejected', 'rejected', 'rejected', true, true, false]
    )
    const stored = [0, 4, 5].map((index) => blockOfTrades(index, mint, 2))
    assert.deepStrictEqual(
      await storage.trades.ofMint(mint, ALL),
      stored.flatMap(({ trades }) => trades)
    )
    t.equal((await storage.blocks.head())?.slot, slotAt(5))
  })

  // INVARIANTS 4
  t.test('a reader during a commit sees all of the block or none of it', async (t) => {
    const { storage } = await open(t)
    const sizes = [100, 33, 1, 70]
    let whole = 0
    for (const [index, size] of sizes.entries()) {
      let settled = false
      const block: BlockCommit = { ...blockOfTrades(index, mint, size), pairs: sampleBlock(5, 3).pairs }
      const committed = storage.blocks.commit(block).finally(() => (settled = true))
      do {
        // The turn of the loop that a reader served from memory does not need, and the commit does.
        await setImmediate()
        const head = (await storage.blocks.head())?.slot ?? 0
        const rows = await storage.trades.ofMint(mint, { order: 'desc', limit: 1_000 })
        assert.ok(
          rows.length === whole || rows.length === whole + size,
          `${rows.length} of ${whole} + ${size}`
        )
        if (head === block.slot.slot)
          assert.equal(rows.length, whole + size, 'what the head promises is there')
      } while (!settled)
      await committed
      whole += size
    }
    t.equal((await storage.trades.ofMint(mint, ALL)).length, whole)
  })

  t.test(
    'the first slot since a time is found for every time, also between blocks and over gaps',
    async (t) => {
      const { storage } = await open(t)
      t.equal(await storage.blocks.firstSince(0), null)
      const times = Array.from({ length: 40 }, (_, i) => 1_000 + 7 * i + (i > 20 ? 900 : 0))
      for (const [index, blockTime] of times.entries()) {
        const block = emptyBlock(index > 30 ? 1_000 + index : index)
        await storage.blocks.commit({ ...block, slot: { ...block.slot, blockTime } })
      }
      const slotOf = (index: number): number => slotAt(index > 30 ? 1_000 + index : index)
      for (const time of times.flatMap((blockTime) => [blockTime - 6, blockTime - 1, blockTime])) {
        const index = times.findIndex((blockTime) => blockTime >= time)
        assert.equal(await storage.blocks.firstSince(time), slotOf(index), `since ${time}`)
      }
      t.equal(await storage.blocks.firstSince(times.at(-1)! + 1), null)
    }
  )
}
