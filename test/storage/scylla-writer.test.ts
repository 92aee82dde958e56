import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { ScyllaCrashPoint } from '../../storage/crash-points.ts'
import type { Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { sampleMint, slotAt } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, emptyBlock, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { testWithCql } from '../servers/cql.ts'
import { journalAfter } from './journal-after.ts'
import { CqlProxy } from './cql-proxy.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { until } from '../until.ts'

const [mint, other] = [sampleMint(0), sampleMint(1)]
const LOST = { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE, detail: /another process writes now/ }

/** Runs reads. False if the store does not answer them all within its limits. */
async function isAnswered(run: () => Promise<void>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.kind === ERRORS.STORAGE_UNAVAILABLE) return false
    throw error
  }
}

testWithCql(t, 'writers of one keyspace', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())

  /** Opens a store as another process does, on its own connection. */
  const another = async (
    t: Test,
    reached?: (point: ScyllaCrashPoint) => void,
    flushBlocks = 32
  ): Promise<Storage> => {
    const storage = await openScyllaStorage({ ...under.options, flushBlocks, ...(reached && { reached }) })
    t.teardown(() => storage.close())
    return storage
  }
  /** Opens the store behind a proxy that the test can disturb. */
  const behind = async (
    t: Test,
    proxy: CqlProxy,
    reached?: (point: ScyllaCrashPoint) => void,
    flushBlocks = 32,
    options = under.options
  ) => {
    const { port } = proxy
    const way = { ...options, contactPoints: [`127.0.0.1:${port}`], port, flushBlocks }
    const storage = await openScyllaStorage({ ...way, ...(reached && { reached }) })
    t.teardown(async () => {
      proxy.mode = 'open'
      await storage.close()
      await proxy.end()
    })
    return storage
  }
  const proxied = (): Promise<CqlProxy> => CqlProxy.start(server.contactPoints[0]!)
  const cursors = async (storage: Storage): Promise<number[]> =>
    (await storage.trades.ofMint(mint, ALL)).map((row) => row.cursor)

  t.test('a claim gives the head, and takes the right to write from who had it', async (t) => {
    const { storage: first } = await under.open(t)
    const second = await another(t)
    t.equal(await first.blocks.claim(null), null)
    await first.blocks.commit(blockOfTrades(0, mint, 2))
    t.strictSame(await second.blocks.claim(null), blockOfTrades(0, mint, 2).slot)
    await t.rejects(first.blocks.commit(blockOfTrades(1, mint, 3)), LOST)
    t.equal(await second.blocks.commit(blockOfTrades(1, mint, 1)), true)
    await t.rejects(first.blocks.commit(blockOfTrades(2, mint, 3)), LOST, 'and it does not take it back')
    t.equal((await first.blocks.head())?.slot, slotAt(1))
    t.equal((await cursors(first)).length, 3, 'nothing of what it wrote in vain is visible')
    t.strictSame(await first.blocks.claim(null), blockOfTrades(1, mint, 1).slot, 'until it claims again')
    t.equal(await first.blocks.commit(blockOfTrades(2, mint, 1)), true)
  })

  t.test(
    'a claim with a smaller lease token than one before is refused, and what it had is lost',
    async (t) => {
      const { storage: first } = await under.open(t)
      const second = await another(t)
      await first.blocks.claim(7)
      await first.blocks.claim(7)
      await t.rejects(second.blocks.claim(6), { ...LOST, outrankedBy: 7 })
      await t.rejects(second.blocks.commit(emptyBlock(0)), LOST)
      t.equal(await first.blocks.commit(emptyBlock(0)), true, 'a refused claim takes nothing')
      t.equal((await second.blocks.claim(8))?.slot, slotAt(0))
      await t.rejects(first.blocks.commit(emptyBlock(1)), LOST)
      await t.rejects(first.blocks.claim(7), LOST)
      t.equal((await first.blocks.claim(null))?.slot, slotAt(0), 'who is alone claims without one')
      await t.rejects(
        second.blocks.claim(8),
        { ...LOST, outrankedBy: 9 },
        'which outranks every token before'
      )
      t.equal((await second.blocks.claim(9))?.slot, slotAt(0))
    }
  )

  t.test(
    'a block that another process has stored is refused to one that has read so, and not taken for its own',
    async (t) => {
      const { storage: first } = await under.open(t)
      const second = await another(t)
      await first.blocks.claim(1)
      await second.blocks.claim(2)
      await second.blocks.commit(emptyBlock(0))
      t.equal((await first.blocks.head())?.slot, slotAt(0))
      await t.rejects(first.blocks.commit(emptyBlock(0)), LOST)
    }
  )

  t.test(
    'of two that claim at the same time each commits on what the other did, or not at all',
    async (t) => {
      const { storage: first } = await under.open(t)
      const second = await another(t)
      for (let round = 0; round < 5; round++) {
        const claims = await Promise.allSettled([first.blocks.claim(null), second.blocks.claim(null)])
        t.ok(claims.some(({ status }) => status === 'fulfilled'))
        const commits = await Promise.allSettled([
          first.blocks.commit(blockOfTrades(round, mint, 2)),
          second.blocks.commit(blockOfTrades(round, mint, 2))
        ])
        t.equal(commits.filter((each) => each.status === 'fulfilled' && each.value).length, 1)
        await first.blocks.head()
        t.equal((await cursors(first)).length, 2 * (round + 1))
      }
    }
  )

  t.test(
    'a writer that hangs before the watermark and wakes after another has gone on changes nothing',
    async (t) => {
      await under.open(t)
      const proxy = await proxied()
      let hung = 0
      const late = await behind(t, proxy, (point) => {
        if (point !== 'commit.journalled' || hung++ > 0) return
        proxy.mode = 'held'
      })
      await late.blocks.claim(1)
      // A block of the given-up slot with a later time: another block became the chain's.
      const given = blockOfTrades(0, mint, 5)
      const commit = late.blocks.commit({
        ...given,
        slot: { ...given.slot, blockTime: given.slot.blockTime + 3 }
      })
      const lost = t.rejects(commit, LOST)
      while (hung === 0) await delay(5)
      const next = await another(t)
      t.equal(await next.blocks.claim(2), null)
      const kept = { ...given, trades: given.trades.slice(1, 3).map((row) => ({ ...row, txIndex: 77 })) }
      t.equal(await next.blocks.commit(kept), true)
      proxy.mode = 'open'
      await lost
      for (const storage of [late, next]) {
        await storage.blocks.head()
        assert.deepStrictEqual(await storage.trades.ofMint(mint, ALL), kept.trades)
      }
      t.strictSame(await journalAfter(next, null, 9), [kept])
    }
  )

  t.test(
    'the answer to a watermark is lost: the block is there once, and the commit finds out',
    async (t) => {
      await under.open(t)
      const proxy = await proxied()
      let decisions = 0
      const storage = await behind(t, proxy, (point) => {
        if (point === 'commit.deciding' && ++decisions === 2) proxy.mode = 'deaf'
      })
      await storage.blocks.commit(blockOfTrades(0, mint, 2))
      const commit = storage.blocks.commit(blockOfTrades(1, mint, 2))
      while (proxy.lost === 0) await delay(5)
      t.equal(storage.outage, null, 'nobody knows yet')
      // Answers of a server after a connection is cut are lost for good.
      proxy.mode = 'shut'
      while (storage.outage === null) await delay(5)
      proxy.mode = 'open'
      t.equal(await commit, true)
      t.equal(storage.outage, null)
      t.equal(await storage.blocks.commit(blockOfTrades(2, mint, 2)), true)
      t.equal((await cursors(storage)).length, 6)
      const blocks = [0, 1, 2].map((index) => blockOfTrades(index, mint, 2))
      t.strictSame(await journalAfter(storage, null, 9), blocks)
    }
  )

  t.test(
    'the answer is lost and another claims meanwhile: what was committed counts as committed',
    async (t) => {
      await under.open(t)
      const proxy = await proxied()
      let decisions = 0
      const storage = await behind(t, proxy, (point) => {
        if (point === 'commit.deciding' && ++decisions === 2) proxy.mode = 'deaf'
      })
      await storage.blocks.commit(blockOfTrades(0, mint, 2))
      const commit = storage.blocks.commit(blockOfTrades(1, mint, 2))
      while (proxy.lost === 0) await delay(5)
      const next = await another(t)
      t.equal((await next.blocks.claim(null))?.slot, slotAt(1))
      proxy.mode = 'shut'
      while (storage.outage === null) await delay(5)
      proxy.mode = 'open'
      t.equal(await commit, true)
      await t.rejects(storage.blocks.commit(blockOfTrades(2, mint, 2)), LOST)
    }
  )

  t.test('the answer to a claim is lost: it is found to be ours, and claimed once', async (t) => {
    await under.open(t)
    const before = await under.epoch()
    let dropped = 0
    const proxy = await CqlProxy.start(server.contactPoints[0]!, (answer) => {
      if (!answer.includes('[applied]') || dropped++ > 0) return answer
      return Buffer.alloc(0)
    })
    const storage = await behind(t, proxy)
    t.equal(await storage.blocks.claim(3), null)
    t.equal(dropped, 1)
    t.equal(await storage.blocks.commit(emptyBlock(0)), true)
    t.equal(await under.epoch(), before + 1)
  })

  t.test(
    'a commit that fails ends its epoch: a later one of the same slot shows nothing of it',
    async (t) => {
      await under.open(t)
      const before = await under.epoch()
      let failures = 0
      const storage = await another(t, (point) => {
        if (point === 'commit.journalled' && failures++ === 0) throw new Error('it fails on purpose')
      })
      await t.rejects(storage.blocks.commit(sampleBlock(8, 0)), { message: 'it fails on purpose' })
      const model = new StorageModel()
      for (let index = 1; index < 12; index++) {
        model.commit(sampleBlock(8, index))
        t.equal(await storage.blocks.commit(sampleBlock(8, index)), true)
      }
      await assertSame(storage, model)
      t.equal(await under.epoch(), before + 2, 'it claimed anew')
    }
  )

  t.test('a block that cannot be packed is refused, and the next one is committed', async (t) => {
    const { storage } = await under.open(t)
    const block = blockOfTrades(0, mint, 3)
    const bad = block.trades.map((row, i) => (i === 1 ? { ...row, inAmount: -1n } : row))
    await t.rejects(storage.blocks.commit({ ...block, trades: bad }), RangeError)
    t.equal(await storage.blocks.commit(block), true)
    assert.deepStrictEqual(await storage.trades.ofMint(mint, ALL), block.trades)
  })

  t.test('another process sees a block whole once it asks for the head, and not before', async (t) => {
    const { storage } = await under.open(t)
    const reader = await another(t)
    const model = new StorageModel()
    for (let index = 0; index < 20; index++) {
      const block = sampleBlock(9, index)
      await storage.blocks.commit(block)
      const seen = await reader.trades.ofMint(mint, ALL)
      t.strictSame(
        seen.map((row) => row.cursor),
        model.trades(mint, ALL).map((row) => row.cursor)
      )
      model.commit(block)
      t.strictSame(await reader.blocks.head(), block.slot)
    }
    await assertSame(reader, model)
  })

  t.test(
    'while the cluster is away a commit waits and says so, reads reject, and then all goes on',
    async (t) => {
      await under.open(t)
      const proxy = await proxied()
      let shut = 0
      const shutting = (point: ScyllaCrashPoint): void => {
        if (point === 'commit.journalling' && ++shut === 2) proxy.mode = 'shut'
      }
      const { readRetryMs: _, ...withLimits } = under.options
      const storage = await behind(t, proxy, shutting, 1, withLimits)
      await storage.blocks.commit(blockOfTrades(0, mint, 100))
      while ((await under.watermark())['flushed'] === 0) await delay(5)
      t.equal(storage.outage, null)
      const before = Date.now()
      let isDone = false
      const commit = storage.blocks.commit(sampleBlock(3, 1)).finally(() => (isDone = true))
      while (!/^127\.0\.0\.1/.test(storage.outage?.detail ?? '')) await delay(5)
      const { sinceMs, detail } = storage.outage!
      t.ok(sinceMs >= before && sinceMs <= Date.now())
      t.match(detail, /^127\.0\.0\.1:\d+: .+$/, 'in one line')
      await t.rejects(storage.trades.ofMint(mint, ALL), {
        name: 'ServiceError',
        kind: ERRORS.STORAGE_UNAVAILABLE,
        detail: /the store does not answer/
      })
      await t.rejects(storage.blocks.head(), { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE })
      t.equal(isDone, false)
      proxy.mode = 'open'
      t.equal(await commit, true)
      const model = new StorageModel()
      model.commit(blockOfTrades(0, mint, 100))
      model.commit(sampleBlock(3, 1))
      await until(() => isAnswered(() => assertSame(storage, model)), 'it has both blocks')
      t.equal(storage.outage, null)
    }
  )

  t.test('a store that retries reads for longer waits for a cluster that is away', async (t) => {
    await under.open(t)
    const proxy = await proxied()
    const storage = await behind(t, proxy)
    await storage.blocks.commit(blockOfTrades(0, mint, 2))
    proxy.mode = 'shut'
    const read = storage.blocks.head()
    // Five attempts to connect take longer than the three tries of a read with the product's limits.
    while (proxy.refused < 5) await Promise.race([delay(5), read])
    proxy.mode = 'open'
    t.equal((await read)?.slot, slotAt(0))
  })

  t.test(
    'a node that died forgot what it had acknowledged of a commit: all of it is sent again',
    async (t) => {
      await under.open(t)
      const proxy = await proxied()
      let shut = 0
      const storage = await behind(t, proxy, (point) => {
        if (point === 'commit.journalled' && shut++ === 0) proxy.mode = 'shut'
      })
      const block = blockOfTrades(0, mint, 3)
      const commit = storage.blocks.commit(block)
      while (storage.outage === null) await delay(5)
      await under.forget('journal')
      proxy.mode = 'open'
      t.equal(await commit, true)
      for (const each of [storage, await another(t)])
        assert.deepStrictEqual(await each.trades.ofMint(mint, ALL), block.trades)
    }
  )

  t.test(
    'nodes that died forgot the last commit: the next is refused, and a claim goes on before it',
    async (t) => {
      const { storage } = await under.open(t)
      await storage.blocks.commit(blockOfTrades(0, mint, 2))
      const kept = await under.watermark()
      await storage.blocks.commit(blockOfTrades(1, mint, 2))
      await under.setWatermark(kept)
      await t.rejects(storage.blocks.commit(blockOfTrades(2, mint, 2)), {
        name: 'ServiceError',
        kind: ERRORS.STORAGE_UNAVAILABLE,
        detail: /the cluster has forgotten the last blocks/
      })
      t.equal((await storage.blocks.claim(null))?.slot, slotAt(0))
      for (const index of [1, 2]) t.equal(await storage.blocks.commit(blockOfTrades(index, mint, 2)), true)
      const blocks = [0, 1, 2].map((index) => blockOfTrades(index, mint, 2))
      t.strictSame(await journalAfter(storage, null, 9), blocks)
      t.equal((await cursors(storage)).length, 6)
    }
  )

  t.test('a node that died forgot rows of a flush: all of them are sent again', async (t) => {
    await under.open(t)
    const proxy = await proxied()
    let shut = 0
    const shutting = (point: ScyllaCrashPoint): void => {
      if (point === 'flush.written' && shut++ === 0) proxy.mode = 'shut'
    }
    const storage = await behind(t, proxy, shutting, 2)
    const blocks = [0, 1].map((index) => blockOfTrades(index, mint, 3))
    for (const block of blocks) t.equal(await storage.blocks.commit(block), true)
    while (storage.outage === null) await delay(5)
    await under.forget('trades_by_mint')
    proxy.mode = 'open'
    while ((await under.watermark())['flushed'] !== 2) await delay(5)
    // Again, too, where a busy server breaks a connection.
    t.ok(shut >= 2, `${shut} times`)
    const rows = blocks.flatMap(({ trades }) => trades)
    for (const each of [storage, await another(t)])
      assert.deepStrictEqual(await each.trades.ofMint(mint, ALL), rows)
  })

  t.test('nodes that died forgot a flush: the next is refused, and a claim does it again', async (t) => {
    await under.open(t)
    const storage = await another(t, undefined, 2)
    const model = new StorageModel()
    const commit = async (index: number): Promise<void> => {
      model.commit(sampleBlock(6, index))
      t.equal(await storage.blocks.commit(sampleBlock(6, index)), true)
    }
    for (const index of [0, 1]) await commit(index)
    while ((await under.watermark())['flushed'] !== 2) await delay(5)
    await under.setWatermark({ ...(await under.watermark()), flushed: 0 })
    await under.forget('totals')
    for (const index of [2, 3]) await commit(index)
    const failure = async (): Promise<unknown> => {
      for (;;)
        try {
          t.equal(await storage.blocks.commit(sampleBlock(6, 3)), false)
          await delay(5)
        } catch (error) {
          return error
        }
    }
    t.match(await failure(), { detail: /the cluster has forgotten the last blocks/ })
    await t.rejects(storage.blocks.commit(sampleBlock(6, 4)), LOST)
    t.equal((await storage.blocks.claim(null))?.slot, slotAt(3))
    await commit(4)
    await assertSame(storage, model)
    await assertSame(await another(t), model)
  })

  t.test(
    'a flush that fails ends its epoch, the next commit says so, and nothing is lost or there twice',
    async (t) => {
      for (const at of ['flush.staged', 'flush.writing', 'flush.written'] as const) {
        await under.open(t)
        const before = await under.epoch()
        let failures = 0
        const failing = (point: ScyllaCrashPoint): void => {
          if (point === at && failures++ === 0) throw new Error(`${at} fails on purpose`)
        }
        const storage = await another(t, failing, 2)
        const model = new StorageModel()
        let rejected = 0
        for (let index = 0; index < 9; index++) {
          const block = sampleBlock(7, index)
          model.commit(block)
          const commit = (): Promise<boolean> => storage.blocks.commit(block)
          const isWritten = await commit().catch((error: unknown) => {
            rejected++
            t.match(error, { message: `${at} fails on purpose` })
            return commit()
          })
          t.equal(isWritten, true)
          if (index < 3) while (failures === 0 && index > 0) await delay(1)
        }
        t.equal(rejected, 1)
        t.ok(failures > 1, 'it was done again')
        t.equal(await under.epoch(), before + 2)
        await assertSame(storage, model)
        await storage.close()
        t.equal((await under.watermark())['flushed'], 9)
        await assertSame(await another(t), model)
      }
    }
  )

  t.test('a writer that hangs in a flush while another claims changes nothing when it wakes', async (t) => {
    for (const at of ['flush.staged', 'flush.writing', 'flush.written', 'flush.deciding'] as const) {
      await under.open(t)
      const proxy = await proxied()
      let hung = 0
      const hanging = (point: ScyllaCrashPoint): void => {
        if (point === at && hung++ === 0) proxy.mode = 'held'
      }
      const late = await behind(t, proxy, hanging, 3)
      await late.blocks.claim(1)
      const model = new StorageModel()
      const blocks = Array.from({ length: 12 }, (_, index) => sampleBlock(10, index))
      for (const block of blocks.slice(0, 3)) {
        model.commit(block)
        await late.blocks.commit(block)
      }
      while (hung === 0) await delay(1)
      const next = await another(t, undefined, 2)
      t.equal((await next.blocks.claim(2))?.slot, slotAt(2), 'it goes on with what was not flushed')
      await assertSame(next, model)
      for (const block of blocks.slice(3)) {
        model.commit(block)
        t.equal(await next.blocks.commit(block), true)
      }
      proxy.mode = 'open'
      await assertSame(next, model)
      await late.blocks.head()
      await assertSame(late, model)
      await t.rejects(late.blocks.commit(sampleBlock(10, 20)), LOST)
      await next.close()
      await assertSame(await another(t), model)
    }
  })

  t.test('closing does not wait for a cluster that is away', async (t) => {
    await under.open(t)
    const proxy = await proxied()
    let shut = 0
    const storage = await behind(t, proxy, (point) => {
      if (point === 'commit.staged' && shut++ === 0) proxy.mode = 'shut'
    })
    const commits = [0, 1, 2].map((index) => storage.blocks.commit(blockOfTrades(index, other, 2)))
    const rejected = Promise.all(
      commits.map((commit) => t.rejects(commit, { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE }))
    )
    while (storage.outage === null) await delay(5)
    await storage.close()
    await rejected
    t.equal(proxy.mode, 'shut')
  })
})
