import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type { LaunchStatus } from '../../src/market/rows.ts'
import type { BlockCommit, Storage, PageRequest } from '../port.ts'
import { StorageModel } from './model.ts'
import {
  blockOfTrades,
  Choices,
  emptyBlock,
  SAMPLE_CASHES,
  SAMPLE_MINTS,
  SAMPLE_POOLS,
  sampleBlock,
  sampleCandle,
  sampleCash,
  sampleKey,
  sampleLaunch,
  sampleMint,
  samplePool,
  slotAt
} from './sample-blocks.ts'

/** An empty store, and what a test may do to it beside using it. Whoever opens it closes it after the test. */
export interface StorageUnderTest {
  readonly storage: Storage
  /** Closes the store and opens the same data. */
  reopen(): Promise<Storage>
  /** Damages the stored trades of a mint and opens the store again; left out where an adapter cannot. */
  damageTrades?(mint: Pubkey): Promise<Storage>
}

export type OpenForTest = (t: Test) => Promise<StorageUnderTest>

const MINUTE = 1_760_000_040
const [mint, other] = [sampleMint(0), sampleMint(1)]
const [cash, otherCash] = [sampleCash(0), sampleCash(1)]
const ALL: PageRequest = { order: 'asc', limit: 10_000 }

/** What every adapter of the storage port must do. */
export function storageConformance(t: Test, open: OpenForTest): void {
  t.test('blocks', (t) => testBlocks(t, open))
  t.test('trades and pool events', (t) => testRows(t, open))
  t.test('candles', (t) => testCandles(t, open))
  t.test('launches', (t) => testLaunches(t, open))
  t.test('pairs, prices and keys', (t) => testSingles(t, open))
  t.test('durability', (t) => testDurability(t, open))
  t.test('random blocks agree with plain lists on every query', (t) => testModel(t, open))
}

async function testBlocks(t: Test, open: OpenForTest): Promise<void> {
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
}

async function testRows(t: Test, open: OpenForTest): Promise<void> {
  t.test('rows read back exactly as written, in cursor order both ways', async (t) => {
    const { storage } = await open(t)
    const blocks = Array.from({ length: 12 }, (_, index) => sampleBlock(2, index))
    for (const block of blocks) await storage.blocks.commit(block)
    const written = blocks
      .flatMap((block) => block.trades)
      .filter((row) => Buffer.compare(row.mint, mint) === 0)
    t.ok(written.length > 10)
    assert.deepStrictEqual(await storage.trades.ofMint(mint, ALL), written)
    assert.deepStrictEqual(await storage.trades.ofMint(mint, { ...ALL, order: 'desc' }), written.toReversed())
    const events = blocks
      .flatMap((block) => block.poolEvents)
      .filter((row) => Buffer.compare(row.pool, samplePool(0)) === 0)
    t.ok(events.length > 5)
    assert.deepStrictEqual(await storage.poolEvents.ofPool(samplePool(0), ALL), events)
  })

  t.test('pages of any size, chained by from, give every row once', async (t) => {
    const { storage } = await open(t)
    for (let index = 0; index < 20; index++)
      await storage.blocks.commit(blockOfTrades(index, mint, 1 + (index % 9)))
    const all = (await storage.trades.ofMint(mint, ALL)).map((row) => row.cursor)
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 7, 32, 33, 64]) {
        const seen: number[] = []
        for (let from: number | undefined; ; from = seen.at(-1)) {
          const page = await storage.trades.ofMint(mint, {
            order,
            limit,
            ...(from === undefined ? {} : { from })
          })
          if (page.length === 0) break
          t.ok(page.length <= limit)
          seen.push(...page.map((row) => row.cursor))
        }
        t.strictSame(seen, order === 'asc' ? all : all.toReversed(), `${order} by ${limit}`)
      }
  })

  t.test('from is left out and until is included, both ways, and neither need name a row', async (t) => {
    const { storage } = await open(t)
    for (let index = 0; index < 10; index++) await storage.blocks.commit(blockOfTrades(index, mint, 10))
    const all = (await storage.trades.ofMint(mint, ALL)).map((row) => row.cursor)
    const cursors = async (page: PageRequest): Promise<number[]> =>
      (await storage.trades.ofMint(mint, page)).map((row) => row.cursor)
    const [low, high] = [all[20]!, all[70]!]
    t.strictSame(await cursors({ ...ALL, from: low, until: high }), all.slice(21, 71))
    t.strictSame(
      await cursors({ ...ALL, order: 'desc', from: high, until: low }),
      all.slice(20, 70).reverse()
    )
    t.strictSame(await cursors({ ...ALL, from: low - 1, until: high + 1 }), all.slice(20, 71))
    t.strictSame(
      await cursors({ ...ALL, order: 'desc', from: high + 1, until: low - 1 }),
      all.slice(20, 71).reverse()
    )
    t.strictSame(await cursors({ ...ALL, from: high, until: low }), [])
    t.strictSame(await cursors({ ...ALL, from: Number.MAX_SAFE_INTEGER }), [])
    t.strictSame(await cursors({ ...ALL, order: 'desc', from: 0 }), [])
    t.strictSame(await cursors({ ...ALL, limit: 0 }), [])
  })

  t.test('an unknown mint or pool has no rows', async (t) => {
    const { storage } = await open(t)
    await storage.blocks.commit(blockOfTrades(0, mint, 3))
    t.strictSame(await storage.trades.ofMint(sampleMint(99), ALL), [])
    t.strictSame(await storage.poolEvents.ofPool(samplePool(99), ALL), [])
  })
}

async function testCandles(t: Test, open: OpenForTest): Promise<void> {
  const choices = new Choices(9)
  const minutes = Array.from({ length: 200 }, (_, i) =>
    sampleCandle(choices, MINUTE + 60 * (i < 150 ? i : 3 * i))
  )

  t.test('a range gives the newest of its buckets, oldest first, and only of its series', async (t) => {
    const { storage } = await open(t)
    for (const [index, candle] of minutes.entries())
      await storage.blocks.commit({
        ...emptyBlock(index),
        candles: [
          { mint, cash, interval: '1m', candle },
          { mint, cash: otherCash, interval: '1m', candle: { ...candle, trades: 77 } },
          { mint, cash, interval: '1w', candle: { ...candle, ts: 1_759_708_800 } }
        ]
      })
    const range = (from: number, to: number, limit: number) =>
      storage.candles.range(mint, cash, '1m', { from, to, limit })
    const end = minutes.at(-1)!.ts
    assert.deepStrictEqual(await range(0, end + 1, 1_000), minutes)
    assert.deepStrictEqual(await range(0, end, 1_000), minutes.slice(0, -1))
    assert.deepStrictEqual(await range(0, end + 1, 70), minutes.slice(-70))
    assert.deepStrictEqual(await range(minutes[40]!.ts, minutes[120]!.ts, 1_000), minutes.slice(40, 120))
    assert.deepStrictEqual(await range(minutes[40]!.ts, minutes[120]!.ts, 5), minutes.slice(115, 120))
    t.strictSame(await range(end + 1, end + 600, 10), [])
    t.strictSame(await range(end, 0, 10), [])
    t.strictSame(await range(0, end, 0), [])
    t.equal((await storage.candles.range(mint, cash, '1w', { from: 0, to: end, limit: 10 })).length, 1)
  })

  t.test(
    'a bucket is found by its time, the newest and older ones, and the last write of it counts',
    async (t) => {
      const { storage } = await open(t)
      const [first, second] = [sampleCandle(choices, MINUTE), sampleCandle(choices, MINUTE + 60)]
      const late = sampleCandle(choices, MINUTE)
      const earliest = sampleCandle(choices, MINUTE - 60 * 500)
      for (const [index, candle] of [first, second, late, earliest].entries())
        await storage.blocks.commit({
          ...emptyBlock(index),
          candles: [{ mint, cash, interval: '1m', candle }]
        })
      assert.deepStrictEqual(await storage.candles.get(mint, cash, '1m', MINUTE), late)
      assert.deepStrictEqual(await storage.candles.get(mint, cash, '1m', MINUTE + 60), second)
      assert.deepStrictEqual(await storage.candles.get(mint, cash, '1m', earliest.ts), earliest)
      t.equal(await storage.candles.get(mint, cash, '1m', MINUTE + 120), null)
      t.equal(await storage.candles.get(mint, cash, '1m', MINUTE - 60), null)
      t.equal(await storage.candles.get(mint, cash, '5m', MINUTE), null)
      t.equal(await storage.candles.get(other, cash, '1m', MINUTE), null)
    }
  )
}

async function testLaunches(t: Test, open: OpenForTest): Promise<void> {
  t.test('a launch moves from status to status and is listed once', async (t) => {
    const { storage } = await open(t)
    const mints = async (status?: LaunchStatus): Promise<string[]> =>
      (
        await storage.launches.page({ order: 'asc', limit: 10, ...(status === undefined ? {} : { status }) })
      ).map((row) => row.uri)
    const [a, b] = ['https://example.org/0', 'https://example.org/1']
    await storage.blocks.commit({ ...emptyBlock(0), launches: [sampleLaunch(1, 0, 'created')] })
    await storage.blocks.commit({ ...emptyBlock(1), launches: [sampleLaunch(1, 1, 'created')] })
    t.strictSame(await mints('created'), [a, b])
    await storage.blocks.commit({ ...emptyBlock(2), launches: [sampleLaunch(1, 0, 'trading')] })
    t.strictSame(await mints('created'), [b])
    t.strictSame(await mints('trading'), [a])
    t.strictSame(await mints('graduated'), [])
    t.strictSame(await mints(), [a, b])
    assert.deepStrictEqual(
      await storage.launches.ofMint(sampleLaunch(1, 0, 'trading').mint),
      sampleLaunch(1, 0, 'trading')
    )
    t.equal(await storage.launches.ofMint(mint), null)
  })

  t.test('a mint that launches and trades in one block is stored as trading', async (t) => {
    const { storage } = await open(t)
    const launches = [sampleLaunch(1, 0, 'created'), sampleLaunch(1, 0, 'trading')]
    await storage.blocks.commit({ ...emptyBlock(0), launches })
    t.strictSame(await storage.launches.page({ status: 'created', order: 'asc', limit: 10 }), [])
    assert.deepStrictEqual(await storage.launches.page({ order: 'asc', limit: 10 }), launches.slice(1))
  })

  t.test('pages go both ways, by cursor and by offset, in all and in one status', async (t) => {
    const { storage } = await open(t)
    const rows = Array.from({ length: 30 }, (_, i) => sampleLaunch(1, i, i % 3 === 0 ? 'trading' : 'created'))
    for (const [index, row] of rows.entries())
      await storage.blocks.commit({ ...emptyBlock(index), launches: [row] })
    const newest = rows.toReversed()
    const desc = { order: 'desc', limit: 7 } as const
    assert.deepStrictEqual(await storage.launches.page(desc), newest.slice(0, 7))
    assert.deepStrictEqual(
      await storage.launches.page({ ...desc, from: newest[6]!.cursor }),
      newest.slice(7, 14)
    )
    assert.deepStrictEqual(await storage.launches.page({ ...desc, offset: 25 }), newest.slice(25))
    assert.deepStrictEqual(
      await storage.launches.page({ ...desc, order: 'asc', from: rows[2]!.cursor }),
      rows.slice(3, 10)
    )
    const trading = newest.filter((row) => row.status === 'trading')
    const page = { ...desc, status: 'trading', limit: 4 } as const
    assert.deepStrictEqual(await storage.launches.page(page), trading.slice(0, 4))
    assert.deepStrictEqual(
      await storage.launches.page({ ...page, from: trading[3]!.cursor }),
      trading.slice(4, 8)
    )
    t.strictSame(await storage.launches.page({ ...page, limit: 0 }), [])
  })
}

async function testSingles(t: Test, open: OpenForTest): Promise<void> {
  t.test('a pair is the last one written; a mint lists all of its pairs', async (t) => {
    const { storage } = await open(t)
    const pair = sampleBlock(5, 3).pairs[0]!
    const [first, last] = [
      { ...pair, mint, cash, decimals: 1 },
      { ...pair, mint, cash, decimals: 2 }
    ]
    const beside = { ...pair, mint, cash: otherCash }
    await storage.blocks.commit({ ...emptyBlock(0), pairs: [first, beside] })
    await storage.blocks.commit({ ...emptyBlock(1), pairs: [last, { ...pair, mint: other, cash }] })
    assert.deepStrictEqual(await storage.pairs.get(mint, cash), last)
    t.equal(await storage.pairs.get(other, otherCash), null)
    t.equal((await storage.pairs.ofMint(mint)).length, 2)
    t.strictSame(await storage.pairs.ofMint(sampleMint(9)), [])
  })

  t.test('the SOL price is the newest at or before a minute', async (t) => {
    const { storage } = await open(t)
    t.equal(await storage.solPrices.atOrBefore(MINUTE), null)
    const price = (minute: number, usd: number) => ({ minute, usd, sourceMinute: null })
    await storage.blocks.commit({ ...emptyBlock(0), solPrice: price(MINUTE, 150) })
    await storage.blocks.commit({ ...emptyBlock(1), solPrice: price(MINUTE + 600, 160) })
    t.equal(await storage.solPrices.atOrBefore(MINUTE - 60), null)
    t.strictSame(await storage.solPrices.atOrBefore(MINUTE), price(MINUTE, 150))
    t.strictSame(await storage.solPrices.atOrBefore(MINUTE + 540), price(MINUTE, 150))
    t.strictSame(await storage.solPrices.atOrBefore(MINUTE + 6_000), price(MINUTE + 600, 160))
  })

  t.test(
    'API keys are found by hash, listed in order of creation, and replaced by a second put',
    async (t) => {
      const { storage } = await open(t)
      for (const n of [3, 1, 2]) await storage.keys.put(sampleKey(n))
      t.strictSame(await storage.keys.byHash(sampleKey(1).hash), sampleKey(1))
      t.equal(await storage.keys.byHash(sampleKey(9).hash), null)
      await storage.keys.put({ ...sampleKey(2), name: 'renamed' })
      t.strictSame(await storage.keys.all(), [
        sampleKey(1),
        { ...sampleKey(2), name: 'renamed' },
        sampleKey(3)
      ])
      t.equal(await storage.blocks.head(), null, 'a key is no block')
    }
  )
}

async function testDurability(t: Test, open: OpenForTest): Promise<void> {
  t.test('a store opened again answers as the one that was closed', async (t) => {
    const under = await open(t)
    const model = new StorageModel()
    for (let index = 0; index < 40; index++) {
      model.commit(sampleBlock(3, index))
      await under.storage.blocks.commit(sampleBlock(3, index))
    }
    await under.storage.keys.put(sampleKey(1))
    const storage = await under.reopen()
    await assertSame(storage, model)
    t.strictSame(await storage.keys.all(), [sampleKey(1)])
    t.equal(await storage.blocks.commit(sampleBlock(3, 39)), false)
    t.equal(await storage.blocks.commit(sampleBlock(3, 40)), true)
  })

  t.test('closing waits for the commits that were accepted, and refuses later ones', async (t) => {
    const under = await open(t)
    const commits = [0, 1, 2].map((index) => under.storage.blocks.commit(blockOfTrades(index, mint, 40)))
    const closing = under.storage.close()
    await t.rejects(under.storage.blocks.commit(blockOfTrades(3, mint, 1)), { code: 'STORAGE_UNAVAILABLE' })
    await t.rejects(under.storage.trades.ofMint(mint, ALL), { code: 'STORAGE_UNAVAILABLE' })
    t.strictSame(await Promise.all(commits), [true, true, true])
    await closing
    const storage = await under.reopen()
    t.equal((await storage.trades.ofMint(mint, ALL)).length, 120)
  })

  t.test('a damaged record is an error that names it, and never wrong rows', async (t) => {
    const under = await open(t)
    if (under.damageTrades === undefined) return t.pass('this adapter leaves damage to its server')
    await under.storage.blocks.commit(blockOfTrades(0, mint, 100))
    await under.storage.blocks.commit(blockOfTrades(1, other, 5))
    const storage = await under.damageTrades(mint)
    for (const order of ['asc', 'desc'] as const)
      await t.rejects(storage.trades.ofMint(mint, { order, limit: 100 }), {
        code: 'STORAGE_UNAVAILABLE',
        detail: /trade page 74[0-9a-f]+ is damaged/
      })
    t.equal((await storage.trades.ofMint(other, ALL)).length, 5, 'other records are as they were')
    await t.rejects(storage.blocks.commit(blockOfTrades(2, mint, 1)), { code: 'STORAGE_UNAVAILABLE' })
    t.equal(await storage.blocks.commit(blockOfTrades(2, other, 1)), true, 'what does not touch it goes on')
  })
}

async function testModel(t: Test, open: OpenForTest): Promise<void> {
  const step = fc.record({ skip: fc.integer({ min: 0, max: 3 }), back: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.nat(100_000),
      fc.array(step, { minLength: 1, maxLength: 60 }),
      async (seed, steps) => {
        const { storage } = await open(t)
        const model = new StorageModel()
        let index = 0
        for (const { skip, back } of steps) {
          index += skip
          const block = sampleBlock(seed, back ? Math.max(0, index - 2) : index)
          assert.equal(await storage.blocks.commit(block), model.commit(block))
        }
        await assertSame(storage, model, new Choices(seed))
        await storage.close()
      }
    ),
    { seed: 26, numRuns: 8 }
  )
  t.pass()
}

/** Asks a store and the model the same questions: all there are of the sample blocks, and pages at random. */
export async function assertSame(
  storage: Storage,
  model: StorageModel,
  choices = new Choices(1)
): Promise<void> {
  assert.deepStrictEqual(await storage.blocks.head(), model.head())
  for (const { slot } of model.slots) assert.ok(await storage.blocks.has(slot))
  const cursors = model.slots.map(({ slot }) => slot * 2 ** 20)
  const randomPage = (): PageRequest => ({
    order: choices.of(['asc', 'desc']),
    limit: 1 + choices.below(70),
    ...(choices.chance(0.7) ? { from: choices.of(cursors) + choices.below(40) } : {}),
    ...(choices.chance(0.3) ? { until: choices.of(cursors) + choices.below(40) } : {})
  })
  const pages: PageRequest[] = [ALL, { ...ALL, order: 'desc' }, ...Array.from({ length: 6 }, randomPage)]

  for (let n = 0; n < SAMPLE_POOLS; n++)
    for (const page of pages)
      assert.deepStrictEqual(
        await storage.poolEvents.ofPool(samplePool(n), page),
        model.poolEvents(samplePool(n), page)
      )
  for (const page of pages)
    for (const status of [undefined, 'created', 'trading', 'graduated'] as const) {
      const { from, order, limit } = page
      const asked = {
        order,
        limit,
        offset: choices.below(4),
        ...(from === undefined ? {} : { from }),
        ...(status === undefined ? {} : { status })
      }
      assert.deepStrictEqual(await storage.launches.page(asked), model.launches(asked))
    }
  for (const { blockTime } of model.slots)
    assert.deepStrictEqual(await storage.solPrices.atOrBefore(blockTime), model.solPrice(blockTime))
  for (let n = 0; n <= SAMPLE_MINTS; n++) await assertSameMint(storage, model, sampleMint(n), pages, choices)
}

async function assertSameMint(
  storage: Storage,
  model: StorageModel,
  mint: Pubkey,
  pages: readonly PageRequest[],
  choices: Choices
): Promise<void> {
  for (const page of pages)
    assert.deepStrictEqual(
      await storage.trades.ofMint(mint, page),
      model.trades(mint, page),
      JSON.stringify(page)
    )
  const byCash = (a: { cash: Pubkey }, b: { cash: Pubkey }): number => Buffer.compare(a.cash, b.cash)
  assert.deepStrictEqual((await storage.pairs.ofMint(mint)).sort(byCash), model.pairs(mint).sort(byCash))
  for (let n = 0; n < SAMPLE_CASHES; n++) {
    const cash = sampleCash(n)
    assert.deepStrictEqual(await storage.pairs.get(mint, cash), model.pair(mint, cash))
    for (const interval of INTERVALS) {
      const all = { from: 0, to: 4e9, limit: 10_000 }
      const candles = model.candles(mint, cash, interval, all)
      const ts = candles.length === 0 ? MINUTE : choices.of(candles).ts
      const part = {
        from: ts - choices.below(9_000),
        to: ts + choices.below(9_000),
        limit: 1 + choices.below(9)
      }
      assert.deepStrictEqual(
        await storage.candles.get(mint, cash, interval, ts),
        model.candle(mint, cash, interval, ts)
      )
      for (const range of [all, part])
        assert.deepStrictEqual(
          await storage.candles.range(mint, cash, interval, range),
          model.candles(mint, cash, interval, range)
        )
    }
  }
}
