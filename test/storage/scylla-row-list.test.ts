import assert from 'node:assert/strict'
import t from 'tap'
import type { PageRequest } from '../../storage/port.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { batchesOf } from '../../storage/scylla/row-write.ts'
import type { Commit } from '../../storage/scylla/commit.ts'
import type { RowWrite } from '../../storage/scylla/row-write.ts'
import type { ScyllaBase } from '../../storage/scylla/base.ts'
import { RowList } from '../../storage/scylla/row-list.ts'
import { tradesByMint } from '../../storage/scylla/row-lists.ts'
import { sampleMint, slotAt } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades } from '../../storage/test/sample-blocks.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { testWithCql } from '../servers/cql.ts'
import { newKeyspace, Watermarks } from './scylla-writers.ts'

const [mint, quiet] = [sampleMint(0), sampleMint(1)]
const DAY = 86_400
const NEWEST: PageRequest = { order: 'desc', limit: 20 }
const PER_BUCKET = tradesByMint.slotsPerBucket
/** Number of a test's blocks in a bucket's slots. */
const BLOCKS_PER_BUCKET = Math.floor((PER_BUCKET * 2) / 3)

t.test('rows of a partition go in batches of at most 100 rows and 40 KB, in order', async (t) => {
  const rows = (count: number, bytes: number): RowWrite[] =>
    Array.from({ length: count }, (_, i) => ({ statement: 'x', params: [i], bytes }))
  const sizes = (count: number, bytes: number): number[] =>
    batchesOf(rows(count, bytes)).map((each) => each.length)
  t.strictSame(sizes(0, 1), [])
  t.strictSame(sizes(1, 90_000), [1], 'a row that is larger goes alone')
  t.strictSame(sizes(3, 90_000), [1, 1, 1])
  t.strictSame(sizes(201, 100), [100, 100, 1])
  t.strictSame(sizes(9, 10_000), [4, 4, 1])
  t.strictSame(batchesOf(rows(70, 500)).flat(), rows(70, 500))
})

/** Counts each read of pages by statement. */
function counted(base: ScyllaBase): { base: ScyllaBase; reads: string[] } {
  const reads: string[] = []
  const client = new Proxy(base.client, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        if (name === 'pages') reads.push(args[0] as string)
        return Reflect.apply(value as () => unknown, target, args)
      }
    }
  })
  return { base: { ...base, client }, reads }
}

const staging =
  (base: ScyllaBase, rows: (commit: Commit) => readonly TradeRow[] = (commit) => commit.blocks.trades) =>
  async (commit: Commit): Promise<void> =>
    new RowList(base, tradesByMint).stage(commit, rows(commit), (row) => row.mint)

testWithCql(t, 'lists of rows on a CQL server', async (t, server) => {
  const { connect } = await newKeyspace(t, server)
  /** Each test has its own mints, as far as they matter. */
  const open = async (retentionSeconds: number | null = null) => {
    const watermarks = new Watermarks(await connect())
    const writer = watermarks.claim(watermarks.process(retentionSeconds))
    return { watermarks, writer, list: new RowList(writer.base, tradesByMint) }
  }

  t.test('a quiet owner is read without its empty buckets, and a busy one with one read', async (t) => {
    const { watermarks, writer } = await open()
    const places = [0, 1, 300, 301, 800, 1_500].map((bucket) => bucket * BLOCKS_PER_BUCKET)
    const written: TradeRow[] = []
    for (const index of places) {
      const block = blockOfTrades(index, quiet, 3)
      written.push(...block.trades)
      await writer.committed(block, staging(writer.base))
    }
    // Since then only another owner has rows.
    await writer.committed(blockOfTrades(2_000 * BLOCKS_PER_BUCKET, mint, 40), staging(writer.base))
    const { base, reads } = counted(watermarks.process())
    const list = new RowList(base, tradesByMint)
    for (const order of ['asc', 'desc'] as const) {
      reads.length = 0
      const found = await list.read(quiet, { order, limit: 100 })
      assert.deepStrictEqual(found, order === 'asc' ? written : written.toReversed())
      t.equal(reads.filter((statement) => statement.includes('_buckets')).length, 1, 'the index')
      t.equal(reads.length, 1 + places.length, 'and the buckets that have rows')
    }
    reads.length = 0
    t.equal((await list.read(mint, NEWEST)).length, 20)
    t.equal(reads.length, 2)
    reads.length = 0
    t.equal((await list.read(mint, NEWEST)).length, 20)
    t.equal(reads.length, 1, 'the next time the index is known')
  })

  t.test('rows in a bucket that began since the index was read are found', async (t) => {
    const { writer, list } = await open()
    const owner = sampleMint(20)
    const bucket = (n: number): number => Math.ceil((n * PER_BUCKET - (slotAt(0) % PER_BUCKET)) / 1.5) + 3
    const written: number[] = []
    for (let n = 1; n < 12; n++)
      for (const index of [bucket(n), bucket(n) + 1]) {
        const block = blockOfTrades(index, owner, 2)
        written.unshift(...block.trades.map((row) => row.cursor).reverse())
        await writer.committed(block, staging(writer.base))
        const found = await list.read(owner, { order: 'desc', limit: 1_000 })
        t.strictSame(
          found.map((row) => row.cursor),
          written
        )
        t.equal((await list.read(owner, { order: 'desc', limit: 3 })).length, Math.min(3, written.length))
      }
  })

  t.test('a row that a later epoch writes again counts, whichever of them arrives last', async (t) => {
    const { watermarks, writer: first, list: stale } = await open()
    const owner = sampleMint(21)
    const left = blockOfTrades(0, owner, 6)
    const of = (block: typeof left, blockTime: number) => ({ ...block, slot: { ...block.slot, blockTime } })
    const half = await first.staged(of(left, 5_000), staging(first.base))
    const second = watermarks.claim()
    const kept = blockOfTrades(0, owner, 6)
      .trades.slice(2, 5)
      .map((row) => ({ ...row, txIndex: 999 }))
    await first.send(half)
    const block = of({ ...left, trades: kept }, 4_000)
    const commit = await second.committed(block, staging(second.base))
    // The first writer's statements are repeated by the network, as late as possible; and so are the second's.
    await first.send(half)
    await second.send(commit)
    await first.send(half)
    for (const list of [
      new RowList(second.base, tradesByMint),
      new RowList(watermarks.process(), tradesByMint)
    ]) {
      assert.deepStrictEqual(await list.read(owner, ALL), kept)
      assert.deepStrictEqual(await list.read(owner, { ...ALL, order: 'desc' }), kept.toReversed())
      assert.deepStrictEqual(await list.read(owner, { order: 'desc', limit: 1 }), kept.slice(-1))
    }
    t.strictSame(await stale.read(owner, ALL), [], 'the first knows of no commit')
  })

  t.test('rows of a block that is not visible take no place among those that are', async (t) => {
    const { writer, list } = await open()
    const owner = sampleMint(22)
    const visible = blockOfTrades(0, owner, 30)
    await writer.committed(visible, staging(writer.base))
    await writer.written(blockOfTrades(1, owner, 500), staging(writer.base))
    for (const limit of [1, 20, 30, 31])
      assert.deepStrictEqual(
        await list.read(owner, { order: 'desc', limit }),
        visible.trades.toReversed().slice(0, limit)
      )
    assert.deepStrictEqual(await list.read(owner, ALL), visible.trades)
    t.equal(
      await list.at(owner, visible.trades[3]!.cursor).then((found) => found?.row.cursor),
      visible.trades[3]!.cursor
    )
    t.equal(await list.at(owner, blockOfTrades(1, owner, 500).trades[0]!.cursor), null)
  })

  t.test('with a retention every row and entry has a time to live, an entry a longer one', async (t) => {
    const { writer } = await open(30 * DAY)
    const owner = sampleMint(23)
    await writer.committed(blockOfTrades(0, owner, 2), staging(writer.base))
    const rows = await writer.base.client.read(
      'SELECT TTL(row) AS ttl, WRITETIME(row) AS time, owner FROM trades_by_mint',
      []
    )
    const own = rows.filter((row) => Buffer.compare(row['owner'] as Buffer, owner) === 0)
    t.equal(own.length, 2)
    for (const row of own) {
      const ttl = row['ttl'] as number
      t.ok(ttl > 30 * DAY - 60 && ttl <= 30 * DAY)
      t.equal(
        row['time'],
        BigInt(blockOfTrades(0, owner, 2).slot.blockTime) * 1_000_000n,
        'windows go by block time'
      )
    }
    const commit = await writer.staged(blockOfTrades(1, sampleMint(24), 1), staging(writer.base))
    const entry = commit.writes.flat().find((write) => write.statement.includes('_buckets'))
    t.equal(entry?.params.at(-1), 33 * DAY)
  })

  t.test(
    'an entry of the index is written once a bucket, and again when a tenth of its time has passed',
    async (t) => {
      const { writer } = await open(30 * DAY)
      let now = Date.now()
      const { client } = writer.base
      const timed = new Proxy(client, {
        get(target, name) {
          if (name === 'now') return () => now
          const value = Reflect.get(target, name, target) as unknown
          return typeof value === 'function' ? (value as () => unknown).bind(target) : value
        }
      })
      const list = new RowList({ ...writer.base, client: timed }, tradesByMint)
      const stage = async (commit: Commit): Promise<void> =>
        list.stage(commit, commit.blocks.trades, (row) => row.mint)
      const entries = async (index: number): Promise<number> => {
        const commit = await writer.committed(blockOfTrades(index, sampleMint(25), 1), stage)
        return commit.writes.flat().filter((write) => write.statement.includes('_buckets')).length
      }
      t.strictSame([await entries(0), await entries(1), await entries(2)], [1, 0, 0])
      now += 2.9 * DAY * 1_000
      t.equal(await entries(3), 0)
      now += 0.2 * DAY * 1_000
      t.equal(await entries(4), 1)
      t.equal(await entries(5), 0)
    }
  )
})
