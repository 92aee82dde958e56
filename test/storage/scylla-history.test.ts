import { Registry } from 'prom-client'
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { follow, resumeFeed } from '../../actors/ingest/follower.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { systemPorts } from '../../src/ports.ts'
import { ingestMetrics } from '../../src/ingest/metrics.ts'
import type { Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { differenceBetween } from '../../storage/test/difference.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { sampleMint, slotAt } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, emptyBlock } from '../../storage/test/sample-blocks.ts'
import { sampleGap } from '../../storage/test/sample-gap.ts'
import { sampleKept } from '../../storage/test/sample-kept.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { testWithCql } from '../servers/cql.ts'
import { journalAfter } from './journal-after.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const NO_GAPS = { put: [], remove: [] }
const mint = sampleMint(0)

testWithCql(t, 'the parts of a history on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())

  const open = async (t: Test): Promise<Storage> => {
    const storage = await openScyllaStorage({ ...under.options, flushBlocks: 4 })
    t.teardown(() => storage.close())
    return storage
  }

  t.test('pages are full where rows were taken out, in either order and across buckets', async (t) => {
    await under.clear()
    const writer = await open(t)
    const [before, after] = [new StorageModel(), new StorageModel()]
    for (let index = 0; index < 24; index++) {
      const block = blockOfTrades(index * 400, mint, 12)
      await writer.blocks.commit(block)
      before.commit(block)
      // Most blocks lose all rows, and some lose every second one.
      const left = block.trades.filter((_, i) => index % 4 === 0 && i % 2 === 0)
      after.commit({ ...block, trades: left })
    }
    await writer.history.amend(differenceBetween(before, after), NO_GAPS)
    const reader = await open(t)
    const all = after.trades(mint, ALL)
    t.equal(all.length, 36)
    for (const storage of [writer, reader])
      for (const order of ['asc', 'desc'] as const)
        for (const limit of [1, 5, 7, 35, 36, 37]) {
          const rows = []
          for (let from: number | undefined; ;) {
            const page = await storage.trades.ofMint(mint, {
              order,
              limit,
              ...(from !== undefined && { from })
            })
            rows.push(...page)
            if (page.length < limit) break
            from = page.at(-1)!.cursor
          }
          assert.deepStrictEqual(rows, order === 'asc' ? all : all.toReversed(), `${order} by ${limit}`)
        }
    t.pass('no page is short but the last')
  })

  t.test('a reader that knew which buckets an owner has learns of one that is filled later', async (t) => {
    await under.clear()
    const [writer, reader] = [await open(t), await open(t)]
    const [before, after] = [new StorageModel(), new StorageModel()]
    // A bucket of a mint has 4,096 slots: the late block is alone in its bucket.
    for (const index of [0, 6_000, 12_000]) {
      const block = blockOfTrades(index, mint, 2)
      after.commit(block)
      if (index === 6_000) continue
      before.commit(block)
      await writer.blocks.commit(block)
    }
    await writer.history.amend(differenceBetween(before, before), NO_GAPS)
    await reader.blocks.head()
    const newest = { order: 'desc', limit: 50 } as const
    t.equal((await reader.trades.ofMint(mint, newest)).length, 4)
    t.equal((await writer.trades.ofMint(mint, newest)).length, 4)
    await writer.history.amend(differenceBetween(before, after), NO_GAPS)
    await reader.blocks.head()
    for (const storage of [writer, reader])
      assert.deepStrictEqual(await storage.trades.ofMint(mint, newest), after.trades(mint, newest))
  })

  t.test('the journal does not reach back behind an amendment, and says that there was one', async (t) => {
    await under.clear()
    const [writer, follower] = [await open(t), await open(t)]
    for (let index = 0; index < 6; index++) await writer.blocks.commit(emptyBlock(index))
    t.equal((await journalAfter(follower, slotAt(3), 9))?.length, 2)
    const amendments = await follower.history.amendments()
    const model = new StorageModel()
    for (let index = 0; index < 6; index++) model.commit(emptyBlock(index))
    await writer.history.amend(differenceBetween(model, model), NO_GAPS)
    for (const storage of [writer, follower, await open(t)])
      for (const slot of [null, 0, 3, 5]) {
        const after = slot === null ? null : slotAt(slot)
        for (const limit of [1, 9])
          t.equal(await journalAfter(storage, after, limit), null, `${limit} after block ${slot}`)
      }
    t.ok((await follower.history.amendments()) > amendments)
    for (const index of [6, 7, 8]) await writer.blocks.commit(emptyBlock(index))
    const later = [7, 8].map((index) => emptyBlock(index))
    t.strictSame(await journalAfter(follower, slotAt(6), 9), later, 'from there on it does')
    const lost = new StorageModel()
    for (const index of [6, 7, 8]) model.commit(emptyBlock(index))
    for (let index = 0; index < 8; index++) lost.commit(emptyBlock(index))
    await writer.history.amend(differenceBetween(model, lost), NO_GAPS)
    const again = { ...emptyBlock(8), slot: { ...emptyBlock(8).slot, transactions: 77 } }
    await writer.blocks.commit(again)
    t.equal(await journalAfter(follower, slotAt(7), 9), null)
    t.equal(await journalAfter(follower, slotAt(6), 9), null)
    t.strictSame(await journalAfter(follower, slotAt(8), 9), [], 'the block that took its place')
    t.strictSame(await follower.blocks.at(slotAt(8)), again.slot)
  })

  t.test(
    'who follows in another process hears of an amendment, be the head the same or another',
    async (t) => {
      await under.clear()
      const [writer, followed] = [await open(t), await open(t)]
      const [model, none] = [new StorageModel(), new StorageModel()]
      const commit = async (index: number): Promise<void> => {
        model.commit(emptyBlock(index))
        await writer.blocks.commit(emptyBlock(index))
      }
      for (const index of [0, 1, 2]) await commit(index)
      const feed = new CommitFeed()
      const heard: (number | 'jump')[] = []
      const hears = async (what: (number | 'jump')[]): Promise<void> => {
        while (heard.length < what.length) await delay(5)
        t.strictSame(heard.splice(0), what)
        t.equal(feed.head?.slot, (await writer.blocks.head())?.slot)
      }
      const deps = { feed, metrics: ingestMetrics(new Registry()), clock: systemPorts.clock }
      const end = new AbortController()
      await resumeFeed(followed, deps, end.signal)
      feed.follow({ published: ({ slot }) => void heard.push(slot.slot) })
      feed.onJump(() => void heard.push('jump'))
      const following = follow({ storage: followed, hints: null }, deps, end.signal)
      t.teardown(() => following)
      t.teardown(() => end.abort())
      await commit(3)
      await hears([slotAt(3)])
      await writer.history.amend(differenceBetween(model, model), NO_GAPS)
      await hears(['jump'])
      await delay(500)
      t.strictSame(heard, [], 'once')
      await commit(4)
      await hears(['jump'])
      await commit(5)
      await hears([slotAt(5)])
      for (const index of [0, 1, 2, 3]) none.commit(emptyBlock(index))
      await writer.history.amend(differenceBetween(model, none), NO_GAPS)
      await hears(['jump'])
      t.equal(feed.head?.slot, slotAt(3))
    }
  )

  t.test('kept blocks of megabytes come in pieces, and a large run is read in parts', async (t) => {
    await under.clear()
    const writer = await open(t)
    const large = (index: number) => {
      const kept = sampleKept(index)
      // Random numbers, which do not compress.
      const noise = Array.from({ length: 90_000 }, () => Math.random())
      return { ...kept, block: { ...kept.block, entries: [], noise } }
    }
    const kept = [large(0), sampleKept(1), large(2)]
    for (const [index, each] of kept.entries()) await writer.blocks.commit(emptyBlock(index), each)
    for (let index = 3; index < 150; index++) {
      kept.push(sampleKept(index))
      await writer.blocks.commit(emptyBlock(index), sampleKept(index))
    }
    const rows = await under.rows('SELECT part, slot, piece FROM kept_blocks')
    t.ok(
      rows.some((row) => row['piece'] === 1),
      'there are several'
    )
    t.ok(new Set(rows.map((row) => row['part'] as number)).size > 2)
    const found = []
    for (let from: number | null = null; ;) {
      const read = await writer.history.after(from, 16)
      found.push(...read)
      if (read.length < 16) break
      from = read.at(-1)!.block.slot
    }
    assert.deepStrictEqual(found, kept)
    await writer.history.forget(slotAt(140))
    t.equal((await writer.history.after(null, 100)).length, 9)
    const parts = await under.rows('SELECT part FROM kept_parts')
    t.ok(parts.length <= 2, 'parts without a block are not listed')
  })

  t.test('a gap is closed with its amendment, and one that is added again stands', async (t) => {
    await under.clear()
    const [writer, reader] = [await open(t), await open(t)]
    const gaps = async (): Promise<unknown[]> => {
      await reader.blocks.head()
      const [one, two] = await Promise.all(
        [writer, reader].map((storage) => storage.coverage.gaps({ after: null, limit: 100 }))
      )
      t.strictSame(one, two)
      return one!
    }
    await writer.blocks.commit(emptyBlock(0))
    const model = new StorageModel()
    model.commit(emptyBlock(0))
    const nothing = differenceBetween(model, model)
    for (const n of [1, 2, 3]) await writer.coverage.addGap(sampleGap(n))
    const shorter = { ...sampleGap(3), to: sampleGap(3).from }
    await writer.history.amend(nothing, { put: [shorter], remove: [sampleGap(1).from] })
    t.strictSame(await gaps(), [sampleGap(2), shorter])
    await reader.coverage.addGap(sampleGap(1))
    t.strictSame(await gaps(), [sampleGap(1), sampleGap(2), shorter])
    await writer.history.amend(nothing, { put: [], remove: [sampleGap(1).from, sampleGap(3).from] })
    t.strictSame(await gaps(), [sampleGap(2)])
    while ((await under.rows('SELECT from_slot FROM coverage')).length > 1) await delay(5)
    await writer.history.amend(nothing, { put: [], remove: [sampleGap(2).from] })
    t.strictSame(await gaps(), [])
    const many = Array.from({ length: 250 }, (_, i) => sampleGap(i + 10))
    for (const gap of many) await writer.coverage.addGap(gap)
    const closed = many.filter((_, i) => i % 3 !== 0).map(({ from }) => from)
    await writer.history.amend(nothing, { put: [], remove: closed })
    const left = many.filter((_, i) => i % 3 === 0)
    // A reader that has not heard of the amendment yet would still list the gaps whose rows are not deleted.
    await reader.blocks.head()
    for (const limit of [1, 10, 100, 1_000])
      t.strictSame(
        await reader.coverage.gaps({ after: 1_500, limit }),
        left.filter(({ from }) => from > 1_500).slice(0, limit)
      )
    t.strictSame(await gaps(), left)
    while ((await under.rows('SELECT from_slot FROM gap_edits')).length > 170) await delay(5)
    t.pass('edits of gaps that are gone are deleted')
  })
})
