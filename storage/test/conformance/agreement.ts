import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Pubkey } from '../../../src/chain/pubkey.ts'
import type { ActivityOf } from '../../../src/market/activity-rows.ts'
import { INTERVALS } from '../../../src/market/rows.ts'
import type { PageRequest, Storage } from '../../port.ts'
import { Choices } from '../choices.ts'
import { StorageModel } from '../model.ts'
import {
  SAMPLE_CASHES,
  SAMPLE_MINTS,
  SAMPLE_POOLS,
  SAMPLE_WALLETS,
  sampleCash,
  sampleMint,
  samplePool,
  sampleWallet
} from '../sample-addresses.ts'
import { sampleBlock } from '../sample-blocks.ts'
import { ALL } from '../under-test.ts'
import type { OpenForTest } from '../under-test.ts'

const MINUTE = 1_760_000_040
const NEWEST: PageRequest = { order: 'desc', limit: 50 }

export async function testAgreement(t: Test, open: OpenForTest): Promise<void> {
  const step = fc.record({ skip: fc.integer({ min: 0, max: 3 }), back: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.nat(100_000),
      fc.array(step, { minLength: 1, maxLength: 40 }),
      async (seed, steps) => {
        const { storage } = await open(t)
        const model = new StorageModel()
        const choices = new Choices(seed)
        let index = 0
        for (const { skip, back } of steps) {
          index += skip
          const block = sampleBlock(seed, back ? Math.max(0, index - 2) : index)
          assert.equal(await storage.blocks.commit(block), model.commit(block))
          // What memory found out between two blocks must hold after the later one.
          await assertSameMint(storage, model, sampleMint(index % 2), [NEWEST], choices)
        }
        // Asked again, the same is answered from memory.
        for (let asked = 0; asked < 2; asked++) await assertSame(storage, model, new Choices(seed))
        await storage.close()
      }
    ),
    { seed: 26, numRuns: 5 }
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
  assert.deepStrictEqual(await storage.totals.get(), model.totals())
  const pages: PageRequest[] = [ALL, { ...ALL, order: 'desc' }, ...Array.from({ length: 4 }, randomPage)]

  for (let n = 0; n < SAMPLE_POOLS; n++) {
    const pool = samplePool(n)
    for (const page of pages)
      assert.deepStrictEqual(await storage.poolEvents.ofPool(pool, page), model.poolEvents(pool, page))
    await assertSameActivity(storage, model, 'pool', pool)
  }
  for (const row of model.allPools()) assert.deepStrictEqual(await storage.pools.get(row.pool), row)
  await assertSameActivity(storage, model, 'market', new Uint8Array(32))
  for (const hour of model.hours())
    assert.deepStrictEqual(
      await storage.activity.mintsOfHour(hour, { limit: 1_000 }),
      model.mintsOfHour(hour)
    )
  for (let n = 0; n < SAMPLE_WALLETS; n += 7)
    for (const page of pages)
      assert.deepStrictEqual(
        await storage.trades.ofWallet(sampleWallet(n), page),
        model.walletTrades(sampleWallet(n), page)
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
  for (const { blockTime } of model.slots) {
    assert.equal(await storage.blocks.firstSince(blockTime), model.firstSince(blockTime))
    assert.deepStrictEqual(await storage.solPrices.atOrBefore(blockTime), model.solPrice(blockTime))
  }
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
  assert.deepStrictEqual(await storage.tokens.get(mint), model.token(mint))
  assert.deepStrictEqual(await storage.curves.ofMint(mint), model.curve(mint))
  for (const { order, limit } of pages)
    assert.deepStrictEqual(
      await storage.pools.ofMint(mint, { order, limit }),
      model.pools(mint, { order, limit })
    )
  await assertSameActivity(storage, model, 'mint', mint)
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

async function assertSameActivity(
  storage: Storage,
  model: StorageModel,
  of: ActivityOf,
  owner: Pubkey
): Promise<void> {
  for (const hour of model.hours())
    assert.deepStrictEqual(await storage.activity.get(of, owner, hour), model.activityHour(of, owner, hour))
  const last = model.hours().at(-1) ?? 0
  for (const range of [
    { from: 0, to: 4e9, limit: 100 },
    { from: last - 7_200, to: last + 3_600, limit: 2 }
  ])
    assert.deepStrictEqual(await storage.activity.range(of, owner, range), model.activity(of, owner, range))
}
