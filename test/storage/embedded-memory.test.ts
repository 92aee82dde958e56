import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { samePubkey } from '../../src/chain/pubkey.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { randomRuns } from '../random-runs.ts'
import { countEngineReads } from './engine-calls.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleCash, sampleMint, samplePool, slotAt } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, emptyBlock, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { sampleCandle } from '../../storage/test/sample-pairs.ts'

const mint = sampleMint(0)
const cash = sampleCash(0)
const wallet = samplePool(77)

async function fill(storage: Storage): Promise<void> {
  for (let index = 0; index < 40; index++) {
    const sample = sampleBlock(6, index)
    const { trades } = blockOfTrades(index, mint, 12)
    const candle = sampleCandle(new Choices(index), 1_760_000_040 + 60 * 40 * index)
    await storage.blocks.commit({
      ...sample,
      trades: trades.map((row) => ({ ...row, user: wallet, cashSide: 'in' })),
      candles: [{ mint, cash, interval: '1m', candle }]
    })
  }
}

/** Opens a store that an earlier process has filled. */
async function openFilled(t: Test): Promise<Awaited<ReturnType<typeof openEmbeddedStorage>>> {
  const directory = t.testdir()
  const writer = await openEmbeddedStorage({ directory })
  await fill(writer)
  await writer.close()
  const storage = await openEmbeddedStorage({ directory })
  t.teardown(() => storage.close())
  return storage
}

/** Forward reads bypass the caches, except for the open page of a list. */
const FORWARD = 'the oldest trades after one of the newest'

/** The most frequent requests of clients, by name. */
const questions: Readonly<Record<string, (storage: Storage) => Promise<unknown>>> = {
  'the head': (storage) => storage.blocks.head(),
  '100 trades of a mint': (storage) => storage.trades.ofMint(mint, { order: 'desc', limit: 100 }),
  'the next 100': (storage) =>
    storage.trades.ofMint(mint, { order: 'desc', limit: 100, from: slotAt(30) * 2 ** 20 }),
  'all trades of a mint': (storage) => storage.trades.ofMint(mint, { order: 'desc', limit: 1_000 }),
  [FORWARD]: (storage) =>
    storage.trades.ofMint(mint, { order: 'asc', limit: 9, from: slotAt(39) * 2 ** 20 + 40 }),
  '100 trades of a wallet': (storage) => storage.trades.ofWallet(wallet, { order: 'desc', limit: 100 }),
  'trades of a wallet without any': (storage) => storage.trades.ofWallet(mint, { order: 'desc', limit: 9 }),
  'all candles': (storage) => storage.candles.range(mint, cash, '1m', { from: 0, to: 4e9, limit: 1_000 }),
  '20 candles': (storage) => storage.candles.range(mint, cash, '1m', { from: 0, to: 4e9, limit: 20 }),
  'candles of a pair without any': (storage) =>
    storage.candles.range(wallet, cash, '1m', { from: 0, to: 4e9, limit: 20 }),
  'a pair': (storage) => storage.pairs.get({ mint, cash }),
  'the pairs of a mint': (storage) => storage.pairs.ofMint(mint),
  'a day of activity': (storage) =>
    storage.activity.range('mint', mint, { from: 1_759_932_000, to: 1_760_018_400, limit: 25 }),
  'a token': (storage) => storage.tokens.get(mint),
  'a pool': (storage) => storage.pools.get(samplePool(60_000)),
  'the curve of a mint': (storage) => storage.curves.get(mint),
  'the totals': (storage) => storage.totals.get()
}

t.test('what was asked twice is answered without the engine, as it was', async (t) => {
  const storage = await openFilled(t)
  const reads = countEngineReads(t)
  for (const [name, ask] of Object.entries(questions)) {
    const first = await ask(storage)
    await ask(storage)
    const before = reads()
    assert.deepStrictEqual(await ask(storage), first)
    t.equal(reads() - before, 0, name)
  }
})

t.test('what is read once takes no memory, and from the second read on as much as it needs', async (t) => {
  const storage = await openFilled(t)
  // Each list looks up the horizon.
  for (let read = 0; read < 2; read++) await storage.trades.ofMint(wallet, { order: 'desc', limit: 1 })
  const cached = (): number => storage.recordCache.bytes
  for (const name of ['a token', '100 trades of a mint', 'a pool', 'all candles']) {
    const before = cached()
    await questions[name]!(storage)
    t.equal(cached(), before, name)
    await questions[name]!(storage)
    t.ok(cached() > before, `${name}, again`)
  }
})

t.test('what a block writes is answered without the engine, and the page before it too', async (t) => {
  const storage = await openEmbeddedStorage({ directory: t.testdir() })
  t.teardown(() => storage.close())
  await fill(storage)
  for (let read = 0; read < 2; read++) for (const ask of Object.values(questions)) await ask(storage)
  // A block with every kind of record, and with more trades than a page holds.
  const index = [41, 42, 43, 44, 45].find((n) =>
    sampleBlock(6, n).curves.some((row) => samePubkey(row.mint, mint))
  )
  const { trades } = blockOfTrades(index!, mint, 40)
  await storage.blocks.commit({ ...sampleBlock(6, index!), trades })
  await storage.blocks.commit(emptyBlock(50))
  const reads = countEngineReads(t)
  for (const [name, ask] of Object.entries(questions)) {
    const before = reads()
    await ask(storage)
    if (name !== FORWARD) t.equal(reads() - before, 0, name)
  }
})

t.test('the newest rows are read from the disk by known keys, many pages at once', async (t) => {
  const directory = t.testdir()
  const writer = await openEmbeddedStorage({ directory })
  await fill(writer)
  await writer.close()
  const reads = countEngineReads(t)
  const looks: Record<string, number> = {}
  for (const name of ['the head', '100 trades of a mint', '100 trades of a wallet', 'the pairs of a mint']) {
    const storage = await openEmbeddedStorage({ directory })
    const before = reads()
    await questions[name]!(storage)
    looks[name] = reads() - before
    await storage.close()
  }
  // The first list that is read looks up the horizon, which then stays in memory.
  t.strictSame(looks, {
    'the head': 0,
    '100 trades of a mint': 5,
    // Two of thirteen pages one by one, and the rest together.
    '100 trades of a wallet': 4,
    'the pairs of a mint': 1
  })
})

/** An event of a list: a block adds trades, or somebody reads from one of its trades on. */
const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ adds: fc.integer({ min: 1, max: 70 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      from: fc.option(fc.nat(), { nil: undefined }),
      order: fc.constantFrom('asc' as const, 'desc' as const),
      limit: fc.integer({ min: 1, max: 150 })
    })
  }
)

t.test('a list that grows is read as it is from each of its rows, whatever is cached', async (t) => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
    const storage = await openEmbeddedStorage({ directory: t.testdir(), hotBytesMax: 40_000 })
    const cursors: number[] = []
    try {
      for (const [index, each] of steps.entries()) {
        if ('adds' in each) {
          const block = blockOfTrades(index, mint, each.adds)
          await storage.blocks.commit(block)
          cursors.push(...block.trades.map(({ cursor }) => cursor))
          continue
        }
        const { order, limit } = each
        const from = each.from === undefined ? undefined : cursors[each.from % Math.max(1, cursors.length)]
        const isAfter = (cursor: number): boolean =>
          from === undefined || (order === 'asc' ? cursor > from : cursor < from)
        const expected = (order === 'asc' ? cursors : cursors.toReversed()).filter(isAfter).slice(0, limit)
        const rows = await storage.trades.ofMint(mint, {
          ...{ order, limit },
          ...(from !== undefined && { from })
        })
        assert.deepStrictEqual(
          rows.map(({ cursor }) => cursor),
          expected
        )
      }
    } finally {
      await storage.close()
    }
  })
  await fc.assert(property, randomRuns(20))
})
