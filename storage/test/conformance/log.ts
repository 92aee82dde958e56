import assert from 'node:assert/strict'
import type { Test } from 'tap'
import type { LogChannel, LogEntry } from '../../../src/market/log.ts'
import { LOG_ANSWER_BYTES } from '../../port.ts'
import type { BlockCommit, LogPage, Storage } from '../../port.ts'
import { differenceBetween } from '../difference.ts'
import { StorageModel } from '../model.ts'
import { slotAt } from '../sample-addresses.ts'
import { emptyBlock } from '../sample-blocks.ts'
import { sampleLogEntry } from '../sample-log.ts'
import type { OpenForTest } from '../under-test.ts'

const [busy, quiet]: LogChannel[] = ['venue:pumpswap', 'launches']
const NO_GAPS = { put: [], remove: [] }

const blockOf = (index: number, ...log: readonly LogEntry[]): BlockCommit => ({ ...emptyBlock(index), log })

/** An entry of a number of events at the slot of a block. */
const partAt = (channel: LogChannel, index: number, count: number) =>
  sampleLogEntry(channel, slotAt(index), count)

/** Cursors of all events, page after page as a reader continues. */
async function walk(storage: Storage, channel: LogChannel, page: LogPage): Promise<number[]> {
  const cursors: number[] = []
  for (let from = page.from; ;) {
    const entries = await storage.log.read(channel, { ...page, ...(from === undefined ? {} : { from }) })
    assert.ok(entries.length <= page.limit)
    if (entries.length === 0) return cursors
    for (const { events } of entries) {
      assert.ok(events.length > 0)
      cursors.push(...events.map(({ cursor }) => cursor))
    }
    from = cursors.at(-1)!
  }
}

const cursorsOf = (entries: readonly LogEntry[]): number[] =>
  entries.flatMap(({ events }) => events.map(({ cursor }) => cursor))

export async function testLog(t: Test, open: OpenForTest): Promise<void> {
  t.test(
    'what a block has on a channel reads back exactly, and of an empty one there is nothing',
    async (t) => {
      const { storage } = await open(t)
      t.strictSame(await storage.log.read(busy!, { limit: 10 }), [])
      const entries = [partAt(busy!, 0, 60), partAt(quiet!, 0, 1)]
      await storage.blocks.commit(blockOf(0, ...entries))
      await storage.blocks.commit(blockOf(1))
      assert.deepStrictEqual(await storage.log.read(busy!, { limit: 10 }), entries.slice(0, 1))
      assert.deepStrictEqual(await storage.log.read(quiet!, { limit: 10 }), entries.slice(1))
      t.strictSame(await storage.log.read('venue:phoenix', { limit: 10 }), [])
      t.strictSame(await storage.log.read(busy!, { limit: 0 }), [])
    }
  )

  t.test('who reads on from the last cursor has every event once, by any limit', async (t) => {
    const { storage } = await open(t)
    const entries = Array.from({ length: 80 }, (_, index) => partAt(busy!, index, 1 + (index % 5)))
    for (const [index, entry] of entries.entries())
      await storage.blocks.commit(
        blockOf(index, entry, ...(index % 30 === 7 ? [partAt(quiet!, index, 2)] : []))
      )
    for (const limit of [1, 7, 32, 33, 1_000])
      t.strictSame(await walk(storage, busy!, { limit }), cursorsOf(entries), `by ${limit}`)
    t.equal((await walk(storage, quiet!, { limit: 2 })).length, 6)
  })

  t.test('from is left out and until is included, in the middle of parts and between them', async (t) => {
    const { storage } = await open(t)
    const entries = [0, 1, 2, 3, 4].map((index) => partAt(busy!, index, 9))
    for (const [index, entry] of entries.entries()) await storage.blocks.commit(blockOf(index, entry))
    const all = cursorsOf(entries)
    for (const [low, high] of [
      [0, 44],
      [3, 40],
      [8, 9],
      [9, 17],
      [20, 21],
      [20, 20],
      [44, 44]
    ] as const) {
      const page = { from: all[low]!, until: all[high]! }
      t.strictSame(await walk(storage, busy!, { ...page, limit: 2 }), all.slice(low + 1, high + 1))
      const between = { from: all[low]! - 1, until: all[high]! }
      t.strictSame(await walk(storage, busy!, { ...between, limit: 9 }), all.slice(low, high + 1))
    }
    const [first] = await storage.log.read(busy!, { from: all[8]!, limit: 1 })
    assert.deepStrictEqual(first, entries[1], 'a slot of which nothing is asked for is no part')
    t.strictSame(await storage.log.read(busy!, { from: all[44]!, limit: 9 }), [])
    t.strictSame(await storage.log.read(busy!, { from: all[9]!, until: all[2]!, limit: 9 }), [])
    t.strictSame(await storage.log.read(busy!, { from: Number.MAX_SAFE_INTEGER, limit: 9 }), [])
  })

  t.test('an answer ends once it is large, and who reads on misses nothing', async (t) => {
    const { storage } = await open(t)
    const body = new Uint8Array(LOG_ANSWER_BYTES / 8)
    const entries = Array.from({ length: 6 }, (_, index): LogEntry => {
      const { slot, events } = partAt(busy!, index, 3)
      return { channel: busy!, slot, events: events.map(({ cursor }) => ({ cursor, body })) }
    })
    for (const [index, entry] of entries.entries()) await storage.blocks.commit(blockOf(index, entry))
    const answer = await storage.log.read(busy!, { limit: 100 })
    t.equal(answer.length, 3, 'nine eighths')
    t.strictSame(await walk(storage, busy!, { limit: 100 }), cursorsOf(entries))
  })

  t.test('an amendment puts parts, in the place of others too, and takes some out', async (t) => {
    const under = await open(t)
    let { storage } = under
    const model = (...blocks: readonly BlockCommit[]): StorageModel => {
      const model = new StorageModel()
      for (const block of blocks) model.commit(block)
      return model
    }
    const blocks = [0, 2, 3].map((index) => blockOf(index, partAt(busy!, index, 3), partAt(quiet!, index, 2)))
    for (const block of blocks) await storage.blocks.commit(block)
    const wanted = [blocks[0]!, blockOf(1, partAt(busy!, 1, 5)), blockOf(2, partAt(busy!, 2, 7)), blocks[2]!]
    const after = model(...wanted)
    await storage.history.amend(differenceBetween(model(...blocks), after), NO_GAPS)
    for (const again of [false, true]) {
      if (again) storage = await under.reopen()
      for (const channel of [busy!, quiet!])
        for (const limit of [1, 2, 100])
          t.strictSame(
            await walk(storage, channel, { limit }),
            cursorsOf(after.log(channel, { limit: 100 })),
            `${channel} by ${limit}`
          )
    }
    await storage.blocks.commit(blockOf(4, partAt(quiet!, 4, 1)))
    t.equal((await storage.log.read(quiet!, { limit: 9 })).length, 3)
  })

  // Retractions of a lost fork stand behind its last block, where the chain has no block any more.
  t.test('a part that an amendment puts above the head is read once a block is above it', async (t) => {
    for (const isReopened of [false, true]) {
      const under = await open(t)
      let { storage } = under
      const blocks = [0, 1, 2].map((index) => blockOf(index, partAt(busy!, index, 3)))
      for (const block of blocks) await storage.blocks.commit(block)
      const [before, after] = [new StorageModel(), new StorageModel()]
      for (const block of blocks) before.commit(block)
      after.commit(blocks[0]!)
      const amendment = differenceBetween(before, after)
      const said = [partAt(busy!, 3, 2), partAt('retractions', 3, 4)]
      const log = { ...amendment.log, put: [...amendment.log.put, ...said] }
      await storage.history.amend({ ...amendment, log }, NO_GAPS)
      if (isReopened) storage = await under.reopen()
      const next = blockOf(4, partAt(busy!, 4, 1))
      await storage.blocks.commit(next)
      const entries = [...blocks[0]!.log, said[0]!, ...next.log]
      t.strictSame(await walk(storage, busy!, { limit: 2 }), cursorsOf(entries))
      t.strictSame(await walk(storage, 'retractions', { limit: 2 }), cursorsOf(said.slice(1)))
    }
  })
}
