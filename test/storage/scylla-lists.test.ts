import assert from 'node:assert/strict'
import t from 'tap'
import type { ActivityHour } from '../../src/market/activity-rows.ts'
import type { LaunchRow } from '../../src/market/rows.ts'
import { launchKeysOf } from '../../storage/codec/keys.ts'
import { activityTable } from '../../storage/scylla/activity.ts'
import { candleTable } from '../../storage/scylla/candles.ts'
import { launchTable } from '../../storage/scylla/launches.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleHour } from '../../storage/test/sample-activity.ts'
import { sampleCash, sampleMint, slotAt } from '../../storage/test/sample-addresses.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { sampleLaunch } from '../../storage/test/sample-launches.ts'
import { sampleCandle } from '../../storage/test/sample-pairs.ts'
import { testWithCql } from '../servers/cql.ts'
import { newKeyspace, Watermarks, withPages } from './scylla-writers.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const HOUR = 3_600
const FIRST_HOUR = 1_760_000_400
const [mint, cash] = [sampleMint(0), sampleCash(0)]

const blockOf = (index: number, ...launches: readonly LaunchRow[]) => ({ ...emptyBlock(index), launches })

testWithCql(t, 'lists on a CQL server', async (t, server) => {
  const { connect } = await newKeyspace(t, server)
  const client = await connect()
  const empty = async (...tables: readonly string[]): Promise<void> => {
    for (const table of tables) await client.write([{ statement: `TRUNCATE ${table}`, params: [], bytes: 0 }])
  }

  t.test('a launch changes lists with its block, and with no block of a writer that dies', async (t) => {
    const watermarks = new Watermarks(client)
    const writer = watermarks.claim()
    const { stage } = launchTable(writer.base)
    const [a, b] = [slotAt(0), slotAt(1)]
    await writer.committed(blockOf(0, sampleLaunch(1, 0, 'created')), stage)
    await writer.committed(blockOf(1, sampleLaunch(1, 1, 'created')), stage)
    t.strictSame(await listsOf(watermarks), [[b, a], [b, a], []])
    const moved = await writer.written(blockOf(2, sampleLaunch(1, 0, 'trading')), stage)
    t.strictSame(await listsOf(watermarks), [[b, a], [b, a], []], 'written and not visible')
    writer.publish(moved)
    t.strictSame(await listsOf(watermarks), [[b, a], [b], [a]])
    await writer.written(blockOf(3, sampleLaunch(1, 1, 'trading')), stage)
    const next = watermarks.claim()
    t.strictSame(await listsOf(watermarks), [[b, a], [b], [a]], 'its writer is dead')
    await next.committed(blockOf(3, sampleLaunch(1, 1, 'graduated')), launchTable(next.base).stage)
    t.strictSame(await listsOf(watermarks), [[b, a], [], [a]])
  })

  t.test('the mark of a launch that left a list is deleted late, and nothing newer with it', async (t) => {
    await empty('launches', 'launch_lists', 'launch_lists_buckets')
    const watermarks = new Watermarks(client)
    const writer = watermarks.claim()
    const { stage } = launchTable(writer.base)
    let blocks = 0
    const commit = async (...launches: readonly LaunchRow[]): Promise<void> =>
      writer.tidyUp(await writer.committed(blockOf(blocks++, ...launches), stage))
    const idle = async (until: number): Promise<void> => {
      while (blocks < until) await commit()
    }
    const [a, b] = [slotAt(0), slotAt(1)]
    await commit(sampleLaunch(1, 0, 'created'), sampleLaunch(1, 1, 'created'))
    await commit(sampleLaunch(1, 0, 'trading'), sampleLaunch(1, 1, 'trading'))
    await commit(sampleLaunch(1, 0, 'created'))
    await idle(257)
    t.equal((await marks()).length, 2, 'it stays for readers that do not know of the block')
    await idle(258)
    t.strictSame(await listsOf(watermarks), [[b, a], [a], [b]])
    t.equal((await marks()).length, 1, 'the mark is gone, and what came back is there')
  })

  /** Returns the slots of all launches, of the new ones and of the trading ones. */
  async function listsOf(watermarks: Watermarks): Promise<number[][]> {
    const { port } = launchTable(watermarks.process())
    const page = { order: 'desc', limit: 9 } as const
    const lists = [page, { ...page, status: 'created' }, { ...page, status: 'trading' }] as const
    const pages = await Promise.all(lists.map((list) => port.page(list)))
    return pages.map((rows) => rows.map(({ slot }) => slot))
  }

  /** Reads the stored rows of the list of new launches. */
  const marks = () =>
    client.read('SELECT cursor FROM launch_lists WHERE owner = ? AND bucket = ?', [
      launchKeysOf('created').gte,
      Math.floor(slotAt(0) / 65_536)
    ])

  t.test('an offset passes over launches alone, and reads few rows more than it passes', async (t) => {
    await empty('launches', 'launch_lists', 'launch_lists_buckets')
    const watermarks = new Watermarks(client)
    const writer = watermarks.claim()
    const { stage } = launchTable(writer.base)
    const created = Array.from({ length: 600 }, (_, i) => sampleLaunch(2, i, 'created'))
    const block = { ...emptyBlock(600), launches: created }
    await writer.committed(block, stage)
    const left = created
      .filter((_, i) => i % 3 === 0)
      .map((row): LaunchRow => ({ ...row, status: 'trading' }))
    await writer.committed({ ...emptyBlock(601), launches: left }, stage)
    let rows = 0
    const counted = withPages(watermarks.process(), async function* (pages, ...args) {
      for await (const page of pages(...args)) {
        rows += page.length
        yield page
      }
    })
    const { port } = launchTable(counted)
    const newest = created.filter((_, i) => i % 3 !== 0).reverse()
    for (const [offset, limit] of [
      [0, 10],
      [1, 3],
      [250, 5],
      [395, 50],
      [400, 5]
    ] as const) {
      rows = 0
      const page = await port.page({ status: 'created', order: 'desc', offset, limit })
      assert.deepStrictEqual(page, newest.slice(offset, offset + limit), `from ${offset}`)
      t.ok(rows <= 2 * (offset + limit) + 100, `${rows} rows for ${offset} and ${limit}`)
    }
    const oldest = await port.page({ order: 'asc', offset: 500, limit: 4 })
    t.strictSame(
      oldest.map(({ slot }) => slot),
      created.slice(500, 504).map(({ slot }) => slot)
    )
  })

  t.test('what mints traded goes once it is too old, also where a deletion failed before', async (t) => {
    const watermarks = new Watermarks(client)
    const writer = watermarks.claim()
    const { stage } = activityTable(writer.base)
    const choices = new Choices(3)
    const hourOf = (i: number): ActivityHour => ({
      ...sampleHour(choices, 'mint', mint, FIRST_HOUR + i * HOUR),
      minutes: [{ ...sampleHour(choices, 'mint', mint, FIRST_HOUR + i * HOUR).minutes[0]!, trades: 1 }]
    })
    const hours = Array.from({ length: 80 }, (_, i) => hourOf(i))
    const stored = async () => {
      const listed = await client.read("SELECT hour FROM turnover_hours WHERE chain = 'solana'", [])
      const partitions = await client.read('SELECT DISTINCT hour FROM turnover', [])
      return { listed: listed.length, partitions: partitions.length }
    }
    for (const [i, activity] of hours.entries()) {
      const block = emptyBlock(i)
      const slot = { ...block.slot, blockTime: activity.hour + HOUR - 1 }
      const commit = await writer.committed({ ...block, slot, activity: [activity] }, stage)
      // Every second block is not cleaned up.
      if (i % 2 === 0 && i < 79) await writer.tidyUp(commit)
      if (i === 40) t.strictSame(await stored(), { listed: 41, partitions: 27 })
    }
    const { partitions, listed } = await stored()
    t.ok(partitions <= 28, `${partitions} hours are kept`)
    t.ok(listed <= 27 + 25, `${listed} are listed, some of them as deleted`)
    const { port } = activityTable(watermarks.process())
    for (const hour of hours.slice(-26)) {
      const { minutes } = hour
      const [found] = await port.mintsOfHour(hour.hour, { limit: 9 })
      assert.equal(found?.minutes[0]?.minute, minutes[0]!.minute)
    }
    assert.deepStrictEqual(await port.mintsOfHour(hours[10]!.hour, { limit: 9 }), [])
    assert.deepStrictEqual(await port.get(hours[10]!), hours[10], 'activity itself stays')
  })

  t.test('a range of candles that a block comes into the middle of has all of the block', async (t) => {
    const { candles, put, asked, range } = await interrupted(async (n) => {
      if (n > 0) return
      candles[1] = { ...candles[1]!, trades: 4_444 }
      await put([4, 1])
      await put([5])
    })
    assert.deepStrictEqual(await range(), candles.slice(0, 6))
    t.equal(asked(), 2, 'the blocks came between, and it was read again')
  })

  t.test(
    'one that a block comes into the middle of each time rejects: it may have seen half of a block',
    async (t) => {
      const { put, asked, range } = await interrupted((n) => put([4 + n]))
      await t.rejects(range(), { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE })
      t.equal(asked(), 5, 'it gives up after some times')
    }
  )

  /** Returns a series of four candles, and a reader during whose read of their pages something happens. */
  async function interrupted(happens: (n: number) => Promise<unknown>) {
    await empty('newest_candles', 'candle_pages', 'candle_pages_buckets')
    const watermarks = new Watermarks(client)
    const base = watermarks.process()
    const writer = watermarks.claim()
    const { stage } = candleTable(writer.base)
    const choices = new Choices(4)
    const candles = Array.from({ length: 12 }, (_, i) => sampleCandle(choices, FIRST_HOUR + i * 60))
    let blocks = 0
    const put = async (which: readonly number[]): Promise<void> => {
      const upserts = which.map((i) => ({ mint, cash, interval: '1m' as const, candle: candles[i]! }))
      await writer.committed({ ...emptyBlock(blocks++), candles: upserts }, stage)
      base.visibility.advance(watermarks.known)
    }
    await put([0, 1, 2, 3])
    let asked = 0
    const reader = withPages(base, async function* (pages, ...args) {
      // By then the newest candle has been read.
      if (args[0].includes(' FROM candle_pages_buckets ')) await happens(asked++)
      yield* pages(...args)
    })
    const { port } = candleTable(reader)
    const range = () => port.range(mint, cash, '1m', { from: 0, to: 4e9, limit: 100 })
    return { candles, put, asked: () => asked, range }
  }
})
