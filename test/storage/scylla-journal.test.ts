import assert from 'node:assert/strict'
import t from 'tap'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import { ERRORS } from '../../src/kernel/errors.ts'
import { digestOf } from '../../src/market/block-digest.ts'
import { forTenant } from '../../src/kernel/work/current-tenant.ts'
import { extentOf } from '../../src/market/block-extent.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { journalDeletions } from '../../storage/scylla/journal-rows.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { sampleMint, slotAt } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, emptyBlock, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { testWithCql } from '../servers/cql.ts'
import { followedAfter, journalAfter } from './journal-after.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

testWithCql(t, 'the journal of commits', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())

  t.test('another process hears of every block whole, in order, from any slot on', async (t) => {
    const { storage } = await under.open(t)
    const follower = await openScyllaStorage(under.options)
    t.teardown(() => follower.close())
    t.strictSame(await journalAfter(follower, null, 10), [], 'of an empty store there is nothing yet')
    const blocks = Array.from({ length: 150 }, (_, index) => sampleBlock(5, index))
    const heard: BlockCommit[] = []
    for (const [index, block] of blocks.entries()) {
      await storage.blocks.commit(block)
      if (index % 40 !== 39) continue
      const after = heard.at(-1)?.slot.slot ?? null
      heard.push(...(await journalAfter(follower, after, 1_000))!)
      t.equal(heard.length, index + 1)
    }
    assert.deepStrictEqual(heard, blocks.slice(0, heard.length))
    assert.deepStrictEqual(
      await journalAfter(follower, slotAt(30), 100),
      blocks.slice(31, 131),
      'limit blocks at most'
    )
    assert.deepStrictEqual(await journalAfter(follower, null, 1), blocks.slice(0, 1))
    t.strictSame(await journalAfter(follower, slotAt(149), 5), [])
    t.equal(await journalAfter(follower, slotAt(2) - 1, 5), null, 'a slot that was never committed')
    t.equal(await journalAfter(follower, slotAt(500), 5), null)
  })

  t.test('blocks of a version that stored no digests read back exactly', async (t) => {
    const { storage } = await under.open(t)
    const blocks = Array.from({ length: 12 }, (_, index) => sampleBlock(5, index))
    for (const block of blocks) await storage.blocks.commit(block)
    const rows = await under.rows('SELECT part, number, epoch, piece, digest FROM journal')
    t.ok(rows.every((row) => row['digest'] !== null))
    for (const { part, number, epoch, piece } of rows)
      await under.change(
        `DELETE digest FROM journal WHERE part = ${part} AND number = ${number} AND epoch = ${epoch} AND piece = ${piece}`
      )
    const follower = await openScyllaStorage(under.options)
    t.teardown(() => follower.close())
    assert.deepStrictEqual(await journalAfter(follower, null, 100), blocks)
  })

  t.test('a block of megabytes comes in pieces', async (t) => {
    const { storage } = await under.open(t)
    const large = blockOfTrades(1, sampleMint(0), 8_000)
    const blocks = [emptyBlock(0), large, emptyBlock(2)]
    for (const block of blocks) await storage.blocks.commit(block)
    const pieces = await under.rows('SELECT number, piece FROM journal')
    t.ok(pieces.filter((row) => row['number'] === 2).length > 2, 'there are several')
    assert.deepStrictEqual(await journalAfter(storage, null, 10), blocks)
  })

  t.test('what a failed commit and a former writer left behind is not told', async (t) => {
    await under.open(t)
    let failures = 0
    const first = await openScyllaStorage({
      ...under.options,
      reached(point) {
        if (point === 'commit.journalled' && ++failures % 2 === 1) throw new Error('it fails on purpose')
      }
    })
    t.teardown(() => first.close())
    const committed: BlockCommit[] = []
    for (let index = 0; index < 10; index++) {
      await t.rejects(first.blocks.commit(blockOfTrades(index, sampleMint(0), 9)))
      const block = sampleBlock(4, index)
      await first.blocks.commit(block)
      committed.push(block)
    }
    t.equal(failures, 20)
    assert.deepStrictEqual(await journalAfter(first, null, 100), committed)
  })

  t.test('a journal that no longer reaches back says so, and goes on from where it does', async (t) => {
    const opened = await under.open(t)
    const blocks = Array.from({ length: 70 }, (_, index) => emptyBlock(index))
    for (const block of blocks) await opened.storage.blocks.commit(block)
    const storage = await opened.reopen()
    // Deletes the first 63 commits, those of the first partition.
    await under.change('DELETE FROM journal WHERE part = 0')
    t.equal(await journalAfter(storage, null, 100), null)
    t.equal(await journalAfter(storage, slotAt(40), 100), null)
    t.equal(await journalAfter(storage, slotAt(61), 100), null)
    t.strictSame(await journalAfter(storage, slotAt(62), 100), blocks.slice(63))
    t.strictSame(await journalAfter(storage, slotAt(69), 100), [])
  })

  t.test('a process that follows reads of each block what it is asked for', async (t) => {
    const { storage } = await under.open(t)
    const follower = await openScyllaStorage(under.options)
    t.teardown(() => follower.close())
    const blocks = Array.from({ length: 12 }, (_, index) => sampleBlock(5, index))
    for (const block of blocks) {
      await storage.blocks.commit(block)
      assert.deepStrictEqual(await follower.blocks.head(), block.slot)
    }
    const followed = (await followedAfter(follower, null, 100))!
    t.strictSame(followed.map(extentOf), new Array(12).fill('slot'))
    assert.deepStrictEqual(
      await follower.blocks.between(0, slotAt(100)),
      blocks.map(({ slot }) => slot)
    )
    const [first, second] = followed
    await follower.journal!.read(first!, 'digest')
    t.equal(extentOf(first!), 'digest')
    t.strictSame(digestOf(first!).others.toSorted(), digestOf(blocks[0]!).others.toSorted())
    await Promise.all([follower.journal!.read(first!, 'rows'), follower.journal!.read(second!, 'rows')])
    assert.deepStrictEqual([first, second], blocks.slice(0, 2))
    const mints = blocks.flatMap(({ trades }) => trades.map((row) => row.mint))
    const mint = mints.find((each) => blocks.some((block) => !digestOf(block).has(pubkeyMapKey(each))))!
    const page = { order: 'asc', limit: 1_000 } as const
    assert.deepStrictEqual(
      await forTenant('a', () => follower.trades.ofMint(mint, page)),
      await storage.trades.ofMint(mint, page)
    )
    const changing = blocks.map((block) => digestOf(block).has(pubkeyMapKey(mint)))
    t.ok(changing.includes(false))
    t.strictSame(
      followed.slice(2).map(extentOf),
      changing.slice(2).map((isChanging) => (isChanging ? 'rows' : 'digest'))
    )
    await storage.blocks.commit(sampleBlock(5, 12))
    await follower.blocks.head()
    const [next] = (await follower.journal!.after(slotAt(11), 100))!
    t.equal(extentOf(next!), 'rows', 'while a tenant queries rows, no query waits for a block')
    assert.deepStrictEqual(await follower.totals.get(), await storage.totals.get())
    assert.deepStrictEqual(followed, blocks)
  })

  t.test('a process that takes over writes the blocks to the tables that it had not read', async (t) => {
    const { storage } = await under.open(t)
    const other = await openScyllaStorage({ ...under.options, flushBlocks: 16 })
    t.teardown(() => other.close())
    const blocks = Array.from({ length: 24 }, (_, index) => sampleBlock(5, index))
    for (const block of blocks.slice(0, 12)) {
      await storage.blocks.commit(block)
      await other.blocks.head()
    }
    const followed = (await other.journal!.after(null, 100))!
    t.strictSame(followed.map(extentOf), new Array(12).fill('slot'))
    await other.blocks.claim(2)
    t.strictSame(followed.map(extentOf), new Array(12).fill('rows'))
    for (const block of blocks.slice(12)) await other.blocks.commit(block)
    await other.close()
    const reader = await openScyllaStorage(under.options)
    t.teardown(() => reader.close())
    const page = { order: 'asc', limit: 1_000 } as const
    const { mint } = blocks.flatMap(({ trades }) => trades)[0]!
    assert.deepStrictEqual(
      await reader.trades.ofMint(mint, page),
      blocks.flatMap(({ trades }) => trades.filter((row) => Buffer.compare(row.mint, mint) === 0))
    )
  })

  t.test('a query is refused if the journal lacks a block that it needs', async (t) => {
    const { storage } = await under.open(t)
    const follower = await openScyllaStorage(under.options)
    t.teardown(() => follower.close())
    await storage.blocks.commit(sampleBlock(5, 0))
    await follower.blocks.head()
    await under.change('DELETE FROM journal WHERE part = 0')
    await t.rejects(follower.totals.get(), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE,
      detail: /lacks block 1/
    })
    t.equal((await follower.blocks.head())?.slot, sampleBlock(5, 0).slot.slot)
  })

  t.test('parts are deleted once their blocks have been in the tables for an hour of the chain', (t) => {
    const parts = (flushed: number): unknown[] => journalDeletions(flushed).map(({ params }) => params[0])
    t.strictSame(parts(0), [])
    t.strictSame(parts(145 * 64 - 1), [], 'all of an hour is there')
    t.strictSame(parts(145 * 64), [0])
    t.strictSame(parts(200 * 64), [55, 54, 53, 52, 51, 50, 49, 48, 47], 'and those before it once more')
    t.end()
  })

  t.test('blocks that the tables do not have stay, however old', async (t) => {
    const { storage } = await under.open(t)
    await storage.blocks.commit(emptyBlock(0))
    const [row] = await under.rows('SELECT TTL(block) AS ttl FROM journal')
    t.equal(row?.['ttl'], null)
  })
})
