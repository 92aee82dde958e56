import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { ScyllaCrashPoint } from '../../storage/crash-points.ts'
import type { Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { Choices } from '../../storage/test/choices.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { testWithCql } from '../servers/cql.ts'
import { CqlProxy } from './cql-proxy.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const NEVER = 1_000
const FLUSH_STEPS = [
  'flush.staged',
  'flush.writing',
  'flush.written',
  'flush.deciding',
  'flush.visible',
  'flush.published'
] as const

testWithCql(t, 'what the tables have, and what they do not have yet', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())

  const open = async (
    t: Test,
    flushBlocks: number,
    reached: (point: ScyllaCrashPoint) => void = () => undefined,
    port?: number
  ): Promise<Storage> => {
    const way = port === undefined ? {} : { contactPoints: [`127.0.0.1:${port}`], port }
    const storage = await openScyllaStorage({ ...under.options, ...way, flushBlocks, reached })
    t.teardown(() => storage.close())
    return storage
  }

  for (const step of FLUSH_STEPS)
    t.test(`at ${step} every query has the same answer as before and after`, async (t) => {
      await under.clear()
      const proxy = await CqlProxy.start(server.contactPoints[0]!)
      t.teardown(() => proxy.end())
      let [fired, flushes] = [0, 0]
      const stopping = (point: ScyllaCrashPoint): void => {
        if (point === 'flush.published') flushes++
        // The second flush replaces rows of the first.
        if (point !== step || ++fired !== 2) return
        proxy.mode = 'held'
      }
      const writer = await open(t, 5, stopping, proxy.port)
      t.teardown(() => (proxy.mode = 'open'))
      const known = await open(t, 5)
      const model = new StorageModel()
      for (let index = 0; index < 10; index++) {
        model.commit(sampleBlock(12, index))
        await writer.blocks.commit(sampleBlock(12, index))
        if (index === 6) await known.blocks.head()
        if (index === 4) while (flushes === 0) await delay(1)
      }
      while (fired < 2) await delay(1)
      await assertSame(known, model, new Choices(1))
      await assertSame(await open(t, 5), model, new Choices(2))
      proxy.mode = 'open'
      while (flushes < 2) await delay(1)
      await assertSame(writer, model, new Choices(3))
      await assertSame(known, model, new Choices(4))
    })

  t.test('queries that are under way while a flush ends have one answer', async (t) => {
    for (let seed = 20; seed < 23; seed++) {
      await under.clear()
      const model = new StorageModel()
      const commit = async (storage: Storage, from: number, to: number): Promise<void> => {
        for (let index = from; index < to; index++) {
          model.commit(sampleBlock(seed, index))
          await storage.blocks.commit(sampleBlock(seed, index))
        }
      }
      // The first half is in the tables, and the second replaces a section of it.
      const first = await open(t, NEVER)
      await commit(first, 0, 6)
      await first.close()
      t.equal((await under.watermark())['flushed'], 6)
      const second = await open(t, NEVER)
      await commit(second, 6, 12)
      const reader = await open(t, NEVER)
      let [isFlushed, looks] = [false, 0]
      const asked = (async () => {
        do await assertSame(reader, model, new Choices(seed))
        while (!isFlushed)
      })()
      const looking = (async () => {
        for (; !isFlushed || looks < 3; looks++) await reader.blocks.head()
      })()
      while (looks < 1) await delay(1)
      await second.close()
      isFlushed = true
      t.equal((await under.watermark())['flushed'], 12)
      await Promise.all([asked, looking])
      await assertSame(reader, model, new Choices(seed))
    }
  })

  t.test('commits wait for a flush at the limit, and go on with it', async (t) => {
    await under.clear()
    const proxy = await CqlProxy.start(server.contactPoints[0]!)
    t.teardown(() => proxy.end())
    let isHeld = false
    const storage = await open(
      t,
      4,
      (point) => {
        if (point !== 'flush.staged' || isHeld) return
        isHeld = true
      },
      proxy.port
    )
    const model = new StorageModel()
    for (let index = 0; index < 40; index++) {
      model.commit(sampleBlock(13, index))
      await storage.blocks.commit(sampleBlock(13, index))
      const { last_commit: last, flushed } = await under.watermark()
      t.ok(last - flushed <= 8, `${last - flushed} blocks are not in the tables`)
    }
    t.ok(isHeld)
    await assertSame(storage, model)
  })

  t.test('who takes over a store whose writer is gone has the blocks that it did not flush', async (t) => {
    await under.clear()
    const model = new StorageModel()
    // Each is left as if it had been killed, and the next one claims.
    for (let life = 0; life < 5; life++) {
      const storage = await open(t, life === 3 ? 4 : NEVER)
      for (let index = life * 6; index < life * 6 + 6; index++) {
        model.commit(sampleBlock(14, index))
        if (index === life * 6) await storage.blocks.claim(life)
        await storage.blocks.commit(sampleBlock(14, index))
      }
      await assertSame(storage, model)
      await assertSame(await open(t, NEVER), model)
    }
  })

  t.test('a store from before there were flushes has all of its blocks in the tables', async (t) => {
    await under.clear()
    const model = new StorageModel()
    const commit = async (storage: Storage, from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index++) {
        model.commit(sampleBlock(15, index))
        t.equal(await storage.blocks.commit(sampleBlock(15, index)), true)
      }
    }
    for (const first of [0, 4]) {
      const old = await open(t, NEVER)
      await commit(old, first, first + 4)
      await old.close()
    }
    const last = await under.epoch()
    for (const epoch of [last - 1, last])
      await under.change(`DELETE flushed FROM writers WHERE chain = 'solana' AND epoch = ${epoch}`)
    await under.change("DELETE flushed_head FROM writers WHERE chain = 'solana'")
    const [writer, reader] = [await open(t, NEVER), await open(t, NEVER)]
    await assertSame(reader, model)
    await commit(writer, 8, 12)
    for (const storage of [writer, reader, await open(t, NEVER)]) await assertSame(storage, model)
    await writer.close()
    for (const storage of [reader, await open(t, NEVER)]) await assertSame(storage, model)
  })
})
