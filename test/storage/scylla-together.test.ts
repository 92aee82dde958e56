import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { ScyllaCrashPoint } from '../../storage/crash-points.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { sampleMint, slotAt } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { testWithCql } from '../servers/cql.ts'
import { journalAfter } from './journal-after.ts'
import { CqlProxy } from './cql-proxy.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const mint = sampleMint(0)
const LOST = { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE, detail: /another process writes now/ }

/** Submits blocks, each to follow the previous one, and returns the outcomes. */
async function give(storage: Storage, blocks: readonly BlockCommit[], after?: number): Promise<unknown[]> {
  const answers: unknown[] = []
  const given = blocks.map((block, i) => {
    const before = i === 0 ? after : blocks[i - 1]!.slot.slot
    return storage.blocks.commit(block, undefined, before).then(
      (isWritten) => answers.push(isWritten),
      (error: Error) => answers.push(error.message)
    )
  })
  await Promise.all(given)
  return answers
}

testWithCql(t, 'blocks that are committed together', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  const blocksOf = (from: number, to: number): BlockCommit[] =>
    Array.from({ length: to - from }, (_, i) => blockOfTrades(from + i, mint, 2))
  const watermarks = { count: 0 }

  /** A store on an empty keyspace, and a second one as another process has it. */
  async function opened(
    t: Test,
    options: { readonly reached?: (point: ScyllaCrashPoint) => void; readonly flushBlocks?: number } = {}
  ): Promise<readonly [Storage, Storage]> {
    await under.clear()
    watermarks.count = 0
    const reached = (point: ScyllaCrashPoint): void => {
      if (point === 'commit.deciding') watermarks.count++
      options.reached?.(point)
    }
    const storages = [
      await openScyllaStorage({ ...under.options, ...options, reached }),
      await openScyllaStorage(under.options)
    ] as const
    t.teardown(() => Promise.all(storages.map((storage) => storage.close())))
    return storages
  }

  t.test('waiting blocks share a watermark, and each has its own number in the journal', async (t) => {
    const [storage, reader] = await opened(t)
    const model = new StorageModel()
    const blocks = Array.from({ length: 12 }, (_, index) => sampleBlock(5, index))
    for (const block of blocks) model.commit(block)
    await storage.blocks.claim(null)
    const first = storage.blocks.commit(blocks[0]!)
    while (watermarks.count === 0) await delay(1)
    t.strictSame(
      await give(storage, blocks.slice(1), slotAt(0)),
      blocks.slice(1).map(() => true)
    )
    t.equal(await first, true)
    t.equal(watermarks.count, 2)
    t.equal((await under.watermark())['last_commit'], 12)
    t.strictSame(await reader.blocks.head(), blocks[11]!.slot)
    for (const each of [storage, reader]) {
      await assertSame(each, model)
      for (const after of [null, 0, 5, 10]) {
        const from = after === null ? 0 : after + 1
        assert.deepStrictEqual(
          await journalAfter(each, after === null ? null : slotAt(after), 3),
          blocks.slice(from, from + 3)
        )
      }
    }
  })

  t.test('no more share one than its limit, nor than the memtable has room for', async (t) => {
    for (const [flushBlocks, most] of [
      [32, 16],
      [2, 4]
    ] as const) {
      const [storage, reader] = await opened(t, { flushBlocks })
      const blocks = blocksOf(0, 40)
      t.strictSame(
        await give(storage, blocks),
        blocks.map(() => true)
      )
      t.ok(watermarks.count >= 40 / most && watermarks.count < 40, `${watermarks.count} watermarks`)
      await reader.blocks.head()
      for (const each of [storage, reader])
        assert.deepStrictEqual(
          await each.trades.ofMint(mint, ALL),
          blocks.flatMap(({ trades }) => trades)
        )
    }
  })

  t.test(
    'where they fail none of them is visible, nor one given after them, and all can be made again',
    async (t) => {
      for (const at of ['commit.staged', 'commit.journalling', 'commit.journalled'] as const) {
        let times = 0
        const reached = (point: ScyllaCrashPoint): void => {
          if (point === at && ++times === 2) throw new Error(`${at} fails on purpose`)
        }
        const [storage, reader] = await opened(t, { reached })
        const before = await under.epoch()
        const blocks = blocksOf(0, 24)
        // At most 16 of them share a watermark: the last ones are refused because their predecessor is not committed.
        const answers = [
          ...(await give(storage, blocks.slice(0, 2))),
          ...(await give(storage, blocks.slice(2), slotAt(1)))
        ]
        t.strictSame(answers.slice(0, 3), [true, true, `${at} fails on purpose`])
        t.equal(new Set(answers.slice(2, 18)).size, 1)
        t.match(answers.at(-1), /which the block follows, is not the head/)
        for (const each of [storage, reader]) {
          t.equal((await each.blocks.head())?.slot, slotAt(1))
          t.equal((await each.trades.ofMint(mint, ALL)).length, 4)
        }
        t.strictSame(
          await give(storage, blocks.slice(2), slotAt(1)),
          blocks.slice(2).map(() => true)
        )
        t.equal(await under.epoch(), before + 2, 'in the next epoch')
        assert.deepStrictEqual(await journalAfter(reader, null, 99), blocks)
      }
    }
  )

  t.test(
    'a group shares a watermark whatever the room, and none of it is visible without the rest',
    async (t) => {
      for (const flushBlocks of [32, 2]) {
        const [storage, reader] = await opened(t, { flushBlocks })
        const blocks = blocksOf(0, 40)
        await storage.blocks.commitAll([0, 10, 20, 30].map((from) => blocks.slice(from, from + 10)))
        t.equal(watermarks.count, 4, 'none is divided, although 16 blocks share one')
        await reader.blocks.head()
        for (const each of [storage, reader])
          assert.deepStrictEqual(
            (await each.trades.ofMint(mint, ALL)).map(({ cursor }) => cursor),
            blocks.flatMap(({ trades }) => trades.map(({ cursor }) => cursor))
          )
      }
      for (const at of ['commit.journalling', 'commit.journalled'] as const) {
        let times = 0
        const [storage, reader] = await opened(t, {
          reached(point) {
            if (point === at && ++times === 2) throw new Error(`${at} fails on purpose`)
          }
        })
        const blocks = blocksOf(0, 30)
        const groups = [0, 10, 20].map((from) => blocks.slice(from, from + 10))
        await t.rejects(storage.blocks.commitAll(groups), { message: `${at} fails on purpose` })
        for (const each of [storage, reader]) t.equal((await each.blocks.head())?.slot, slotAt(9))
        await storage.blocks.commitAll(groups.slice(1), slotAt(9))
        assert.deepStrictEqual(await journalAfter(reader, null, 99), blocks)
      }
    }
  )

  t.test('where another has claimed all of them are refused, and none is ever visible', async (t) => {
    let other: Storage | null = null
    let claimed: Promise<unknown> = Promise.resolve()
    const reached = (point: ScyllaCrashPoint): void => {
      if (point === 'commit.staged' && other !== null) claimed = other.blocks.claim(null)
    }
    const proxy = await CqlProxy.start(server.contactPoints[0]!)
    const { port } = proxy
    await under.clear()
    const storage = await openScyllaStorage({
      ...under.options,
      contactPoints: [`127.0.0.1:${port}`],
      port,
      reached(point) {
        reached(point)
        if (point === 'commit.journalled' && other !== null) proxy.mode = 'held'
      }
    })
    t.teardown(async () => {
      proxy.mode = 'open'
      await storage.close()
      await proxy.end()
    })
    await give(storage, blocksOf(0, 2))
    other = await openScyllaStorage(under.options)
    t.teardown(() => other.close())
    const answers = give(storage, blocksOf(2, 6), slotAt(1))
    while (proxy.mode !== 'held') await delay(1)
    await claimed
    proxy.mode = 'open'
    for (const answer of await answers) t.match(answer, LOST.detail)
    await t.rejects(storage.blocks.commit(blockOfTrades(2, mint, 1)), LOST)
    const theirs = blockOfTrades(2, mint, 1)
    t.equal(await other.blocks.commit(theirs), true)
    for (const each of [storage, other]) {
      t.equal((await each.blocks.head())?.slot, slotAt(2))
      t.equal((await each.trades.ofMint(mint, ALL)).length, 5)
      assert.deepStrictEqual(await journalAfter(each, slotAt(1), 9), [theirs])
    }
  })

  t.test('what else is asked of the writer comes between those before it and those after it', async (t) => {
    const [storage] = await opened(t)
    await storage.blocks.claim(null)
    const begun = await under.epoch()
    const before = give(storage, blocksOf(0, 3))
    const claim = storage.blocks.claim(null)
    const after = give(storage, blocksOf(3, 6), slotAt(2))
    t.equal((await claim)?.slot, slotAt(2))
    t.strictSame([...(await before), ...(await after)], Array(6).fill(true))
    const epochs = (await under.rows('SELECT epoch, last_commit FROM writers')).map((row) => [
      row['epoch'] as number,
      row['last_commit'] as number
    ])
    t.strictSame(epochs, [
      [begun, 3],
      [begun + 1, 6]
    ])
  })
})
