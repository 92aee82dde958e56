import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Pubkey } from '../../../src/chain/pubkey.ts'
import type { ActivityOf } from '../../../src/market/activity-rows.ts'
import { addressOf, LATEST, SINGLE } from '../../../src/market/records.ts'
import type { LatestName } from '../../../src/market/records.ts'
import type { TokenRow } from '../../../src/market/registry-rows.ts'
import { INTERVALS } from '../../../src/market/rows.ts'
import type { LogPage, PageRequest, RecordStore, Storage } from '../../port.ts'
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
import { SAMPLE_CHANNELS } from '../sample-log.ts'
import { ALL } from '../under-test.ts'
import type { OpenForTest } from '../under-test.ts'
import { randomRuns } from '../../../test/random-runs.ts'

const MINUTE = 1_760_000_040
const CONCURRENCY = 8
const NEWEST: PageRequest = { order: 'desc', limit: 50 }

/** Blocks after which a mint's hour has no trades, although it had some before. */
const MINTS_WITHOUT_TRADES: [number, { skip: number; back: boolean }[]] = [
  31,
  Array.from({ length: 20 }, () => ({ skip: 1, back: false }))
]

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
          // Values that memory cached between two blocks must hold after the later one.
          const comparisons = new Comparisons()
          await askMint(comparisons, storage, model, sampleMint(index % 2), [NEWEST], choices)
          await askLog(comparisons, storage, model, choices)
          await comparisons.done()
        }
        // The second answer to each query comes from memory.
        for (let asked = 0; asked < 2; asked++) await assertSame(storage, model, new Choices(seed))
        await storage.close()
      }
    ),
    { ...randomRuns(3, 26), examples: [MINTS_WITHOUT_TRADES] }
  )
  t.pass()
}

/** Comparisons that must hold, several at once, because a cluster takes time for each. */
class Comparisons {
  readonly #running = new Set<Promise<void>>()
  #failure: Error | null = null

  /** Resolves once there is room for another comparison; rejects if an answer differed. */
  async same<T>(ask: () => Promise<T>, stated: T, question?: string): Promise<void> {
    if (this.#running.size >= CONCURRENCY) await Promise.race(this.#running)
    if (this.#failure !== null) throw this.#failure
    const running = this.#compare(ask, stated, question).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async done(): Promise<void> {
    await Promise.all(this.#running)
    if (this.#failure !== null) throw this.#failure
  }

  async #compare<T>(ask: () => Promise<T>, stated: T, question?: string): Promise<void> {
    try {
      assert.deepStrictEqual(await ask(), stated)
    } catch (error) {
      this.#failure ??= new Error(question ?? String(ask), { cause: error })
    }
  }
}

/** Runs the same queries on a store and the model: all those of the sample blocks, and pages at random. */
export async function assertSame(
  storage: Storage,
  model: StorageModel,
  choices = new Choices(1)
): Promise<void> {
  assert.deepStrictEqual(await storage.blocks.head(), model.head())
  const comparisons = new Comparisons()
  for (const row of model.slots) {
    await comparisons.same(() => storage.blocks.has(row.slot), true)
    await comparisons.same(() => storage.blocks.at(row.slot), row)
  }
  await comparisons.same(() => storage.blocks.at((model.head()?.slot ?? 0) + 1), null)
  const cursors = model.slots.map(({ slot }) => slot * 2 ** 20)
  const randomPage = (): PageRequest => ({
    order: choices.of(['asc', 'desc']),
    limit: 1 + choices.below(70),
    ...(choices.chance(0.7) ? { from: choices.of(cursors) + choices.below(40) } : {}),
    ...(choices.chance(0.3) ? { until: choices.of(cursors) + choices.below(40) } : {})
  })
  for (const name of SINGLE) await comparisons.same(() => storage[name].get(), model.rows.singles[name])
  for (const name of LATEST) await askEach(comparisons, name, storage, model)
  const pages: PageRequest[] = [ALL, { ...ALL, order: 'desc' }, ...Array.from({ length: 4 }, randomPage)]

  for (let n = 0; n < SAMPLE_POOLS; n++) {
    const pool = samplePool(n)
    for (const page of pages)
      await comparisons.same(() => storage.poolEvents.ofPool(pool, page), model.poolEvents(pool, page))
    await askActivity(comparisons, storage, model, 'pool', pool)
  }
  await askActivity(comparisons, storage, model, 'market', new Uint8Array(32))
  for (const hour of model.hours())
    await comparisons.same(
      () => storage.activity.mintsOfHour(hour, { limit: 1_000 }),
      model.mintsOfHour(hour)
    )
  for (let n = 0; n < SAMPLE_WALLETS; n += 7)
    for (const page of pages)
      await comparisons.same(
        () => storage.trades.ofWallet(sampleWallet(n), page),
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
      await comparisons.same(() => storage.launches.page(asked), model.launches(asked))
    }
  for (const length of [-1, 1, 20, 200]) {
    const first = (model.slots[0]?.slot ?? 0) + choices.below(100)
    await comparisons.same(
      () => storage.blocks.between(first, first + length - 1),
      model.between(first, first + length - 1)
    )
  }
  for (const { blockTime } of model.slots) {
    await comparisons.same(() => storage.blocks.firstSince(blockTime), model.firstSince(blockTime))
    await comparisons.same(() => storage.solPrices.atOrBefore(blockTime), model.solPrice(blockTime))
  }
  await askLog(comparisons, storage, model, choices)
  for (const limit of [1, 2, 100])
    await comparisons.same(() => listedTokens(storage, limit), inOrderOf(storage, model.tokens()))
  for (let n = 0; n <= SAMPLE_MINTS; n++)
    await askMint(comparisons, storage, model, sampleMint(n), pages, choices)
  await comparisons.done()
}

/** Reads the list of tokens page by page. */
async function listedTokens({ tokens }: Storage, limit: number): Promise<TokenRow[]> {
  const listed: TokenRow[] = []
  for (;;) {
    const last = listed.at(-1)
    const page = await tokens.list({ ...(last !== undefined && { after: last.mint }), limit })
    listed.push(...page)
    if (page.length < limit) return listed
  }
}

const inOrderOf = ({ tokens }: Storage, rows: readonly TokenRow[]): TokenRow[] =>
  rows.toSorted((one, other) => tokens.compare(one.mint, other.mint))

/** Reads every row of a record at its address. */
async function askEach<Name extends LatestName>(
  comparisons: Comparisons,
  name: Name,
  storage: Storage,
  model: StorageModel
): Promise<void> {
  const store = storage[name] as RecordStore<Name>
  for (const row of model.rows.all(name))
    await comparisons.same(() => store.get(addressOf(name, row)), row, name)
}

async function askMint(
  comparisons: Comparisons,
  storage: Storage,
  model: StorageModel,
  mint: Pubkey,
  pages: readonly PageRequest[],
  choices: Choices
): Promise<void> {
  for (const page of pages)
    await comparisons.same(
      () => storage.trades.ofMint(mint, page),
      model.trades(mint, page),
      JSON.stringify(page)
    )
  await comparisons.same(() => storage.tokens.get(mint), model.get('tokens', mint))
  await comparisons.same(() => storage.curves.get(mint), model.get('curves', mint))
  for (const { order, limit } of pages)
    await comparisons.same(
      () => storage.pools.ofMint(mint, { order, limit }),
      model.pools(mint, { order, limit })
    )
  await askActivity(comparisons, storage, model, 'mint', mint)
  const byCash = (a: { cash: Pubkey }, b: { cash: Pubkey }): number => Buffer.compare(a.cash, b.cash)
  await comparisons.same(
    async () => (await storage.pairs.ofMint(mint)).sort(byCash),
    model.pairs(mint).sort(byCash)
  )
  for (let n = 0; n < SAMPLE_CASHES; n++) {
    const cash = sampleCash(n)
    await comparisons.same(() => storage.pairs.get({ mint, cash }), model.get('pairs', { mint, cash }))
    for (const interval of INTERVALS) {
      const all = { from: 0, to: 4e9, limit: 10_000 }
      const candles = model.candles(mint, cash, interval, all)
      const ts = candles.length === 0 ? MINUTE : choices.of(candles).ts
      const part = {
        from: ts - choices.below(9_000),
        to: ts + choices.below(9_000),
        limit: 1 + choices.below(9)
      }
      const at = { mint, cash, interval, ts }
      await comparisons.same(() => storage.candles.get(at), model.get('candles', at))
      for (const range of [all, part])
        await comparisons.same(
          () => storage.candles.range(mint, cash, interval, range),
          model.candles(mint, cash, interval, range)
        )
    }
  }
}

async function askLog(
  comparisons: Comparisons,
  storage: Storage,
  model: StorageModel,
  choices: Choices
): Promise<void> {
  const cursors = model.slots.map(({ slot }) => slot * 2 ** 20)
  const randomPage = (): LogPage => ({
    limit: 1 + choices.below(50),
    ...(choices.chance(0.7) ? { from: choices.of(cursors) + choices.below(80) - 1 } : {}),
    ...(choices.chance(0.5) ? { until: choices.of(cursors) + choices.below(80) - 1 } : {})
  })
  for (const channel of SAMPLE_CHANNELS)
    for (const page of [{ limit: 10_000 }, ...Array.from({ length: 4 }, randomPage)])
      await comparisons.same(
        () => storage.log.read(channel, page),
        model.log(channel, page),
        `${channel} ${JSON.stringify(page)}`
      )
}

async function askActivity(
  comparisons: Comparisons,
  storage: Storage,
  model: StorageModel,
  of: ActivityOf,
  owner: Pubkey
): Promise<void> {
  for (const hour of model.hours())
    await comparisons.same(
      () => storage.activity.get({ of, owner, hour }),
      model.get('activity', { of, owner, hour })
    )
  const last = model.hours().at(-1) ?? 0
  for (const range of [
    { from: 0, to: 4e9, limit: 100 },
    { from: last - 7_200, to: last + 3_600, limit: 2 }
  ])
    await comparisons.same(() => storage.activity.range(of, owner, range), model.activity(of, owner, range))
}
