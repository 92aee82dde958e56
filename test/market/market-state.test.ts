import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { BlockFold } from '../../src/market/fold.ts'
import type { MarketSize } from '../../src/market/market-limits.ts'
import { EMPTY_START, MarketState } from '../../src/market/market-state.ts'
import { pairKey } from '../../src/market/pairs.ts'
import { byName, LATEST } from '../../src/market/records.ts'
import { affectedKeys } from '../../src/market/affected-keys.ts'
import { randomRuns } from '../random-runs.ts'
import { ingest, MemoryStore } from './memory-store.ts'
import {
  anyChain,
  anyChainWithFallingTimes,
  block,
  buy,
  curve,
  key,
  launch,
  NOON,
  OPTIONS,
  OTHER,
  PEGGED,
  SOL,
  solSale,
  TOKEN,
  trade,
  USD_COIN
} from './world.ts'

/** A fold without the order of the minute's SOL trades, which a restart reads newest first. */
const comparable = (fold: BlockFold) => ({
  ...fold,
  solUsd: { ...fold.solUsd, trades: fold.solUsd.trades.map(({ price }) => price).sort((a, b) => a - b) }
})

// INVARIANTS 6
t.test('a market that restarts before every block folds as one that stays warm', async (t) => {
  fc.assert(
    fc.property(anyChain, fc.option(fc.constant(150)), (chain, startingSolUsd) => {
      const options = { ...OPTIONS, startingSolUsd }
      const warmStore = new MemoryStore()
      const coldStore = new MemoryStore()
      const warm = warmStore.restart()
      for (const at of chain) {
        const cold = ingest(coldStore, coldStore.restart(), at, options)
        t.strictSame(comparable(cold), comparable(ingest(warmStore, warm, at, options)))
      }
      t.strictSame(coldStore.rows.maps.candles, warmStore.rows.maps.candles)
    }),
    randomRuns(40, 11)
  )
})

t.test('a market with hardly any room folds as one with much, even when times fall', async (t) => {
  let evicted = false
  fc.assert(
    fc.property(anyChainWithFallingTimes, (chain) => {
      const stores = [new MemoryStore(), new MemoryStore()] as const
      const roomy = new MarketState(EMPTY_START)
      const narrow = new MarketState(EMPTY_START, { ...byName<MarketSize>(LATEST, () => 1), pairs: 2 })
      const [restless, itsStore] = [new MarketState(EMPTY_START, { quietBlocks: 1 }), new MemoryStore()]
      for (const at of chain) {
        const folded = ingest(stores[1], roomy, at, OPTIONS)
        t.strictSame(ingest(stores[0], narrow, at, OPTIONS), folded)
        t.strictSame(ingest(itsStore, restless, at, OPTIONS), folded)
        const { pairs, ...others } = narrow.size
        t.ok(pairs <= 2 && Object.values(others).every((size) => size <= 1))
        evicted ||= roomy.size.pairs > 2
      }
    }),
    randomRuns(40, 12)
  )
  t.ok(evicted)
})

t.test('a block touches its pairs, and the mints whose launch may change', async (t) => {
  const events = [
    buy(1n, 1n),
    buy(2n, 2n),
    solSale(200),
    trade({ inMint: PEGGED, outMint: OTHER }),
    trade({ inMint: OTHER, outMint: key(3) }),
    launch({ baseMint: key(4) }),
    curve('migrate', { baseMint: key(5) })
  ]
  const affected = affectedKeys(block(5, NOON, events), OPTIONS.cash)
  t.equal(affected.blockTime, NOON)
  t.same(
    [...affected.pairs.values()],
    [
      { mint: TOKEN, cash: SOL },
      { mint: SOL, cash: USD_COIN },
      { mint: OTHER, cash: PEGGED }
    ]
  )
  t.same([...affected.launches.values()], [TOKEN, OTHER, key(3), key(4), key(5)])
})

/** A market that has folded one buy at noon, and the read set of a later buy. */
function afterOneBuy() {
  const store = new MemoryStore()
  const state = store.restart()
  ingest(store, state, block(5, NOON, [buy(10n ** 9n, 10n ** 6n)]), OPTIONS)
  const readSetAt = (time: number) => state.prepare(block(6, time, [buy(1n, 1n)]), OPTIONS).readSet
  return { store, state, readSetAt }
}

t.test('a cold market misses the pair, its running buckets and the launch', async (t) => {
  const state = new MemoryStore().restart()
  const readSet = state.prepare(block(5, NOON, [buy(1n, 1n)]), OPTIONS).readSet
  t.same(readSet.pairs, [{ mint: TOKEN, cash: SOL }])
  t.same(readSet.launches, [TOKEN])
  t.equal(readSet.candles.length, 8)
  t.match(readSet.candles[7], { mint: TOKEN, cash: SOL, interval: '1w', ts: Date.UTC(2026, 7, 24) / 1000 })
})

t.test('a known pair misses nothing, not even in a new minute', async (t) => {
  const { readSetAt } = afterOneBuy()
  for (const seconds of [0, 60, 10 ** 6]) {
    for (const addresses of Object.values(readSetAt(NOON + seconds))) t.same(addresses, [])
  }
})

t.test('a known pair misses the buckets of an earlier time', async (t) => {
  const { readSetAt } = afterOneBuy()
  t.same(
    readSetAt(NOON - 60).candles.map(({ interval }) => interval),
    ['1m', '5m', '15m', '30m', '1h', '4h']
  )
})

t.test('after a restart a pair of the store misses nothing later than the head', async (t) => {
  const { store } = afterOneBuy()
  const state = store.restart()
  const later = block(6, NOON + 60, [buy(10n ** 9n, 10n ** 6n)])
  const fold = ingest(store, state, later, OPTIONS)
  t.match(
    fold.candles.find(({ interval }) => interval === '5m'),
    { candle: { ts: NOON, trades: 2 } }
  )
  t.match(
    fold.candles.find(({ interval }) => interval === '1m'),
    { candle: { ts: NOON + 60, trades: 1 } }
  )
})

t.test('after a restart at a time that fell, the minute and the hour that it fell from go on', async (t) => {
  const store = new MemoryStore()
  const bought = [buy(10n ** 9n, 10n ** 6n)]
  const state = store.restart()
  ingest(store, state, block(5, NOON + 30, bought), OPTIONS)
  ingest(store, state, block(6, NOON - 10, []), OPTIONS)
  const restarted = store.restart()
  ingest(store, restarted, block(7, NOON - 5, bought), OPTIONS)
  const fold = ingest(store, restarted, block(8, NOON + 40, bought), OPTIONS)
  t.match(
    fold.candles.find(({ interval }) => interval === '1m'),
    { candle: { ts: NOON, trades: 2 } }
  )
  t.equal(fold.activity.length, 3, 'of the mint, the pool and the market')
  for (const { of, hour, minutes } of fold.activity) {
    t.match({ hour, minutes }, { hour: NOON, minutes: [{ minute: NOON, trades: 2 }] }, of)
  }
})

// INVARIANTS 10
t.test('the pairs and launches untouched for longest go first', async (t) => {
  const store = new MemoryStore()
  const state = new MarketState(EMPTY_START, { pairs: 2, launches: 2 })
  const buyOf = (mint: Uint8Array) => buy(10n ** 9n, 10n ** 6n, { outMint: mint })
  for (const [i, mint] of [TOKEN, OTHER, TOKEN, key(3)].entries()) {
    ingest(store, state, block(5 + i, NOON, [buyOf(mint)]), OPTIONS)
  }
  const readSet = state.prepare(block(9, NOON, [TOKEN, OTHER, key(3)].map(buyOf)), OPTIONS).readSet
  t.same(readSet.pairs, [{ mint: OTHER, cash: SOL }])
  t.same(readSet.launches, [OTHER])
})

// INVARIANTS 10
t.test('what many blocks do not touch goes, and what one of them touches stays', async (t) => {
  const store = new MemoryStore()
  const state = new MarketState(EMPTY_START, { quietBlocks: 3 })
  const buyOf = (mint: Uint8Array) => buy(10n ** 9n, 10n ** 6n, { outMint: mint })
  const sizes = [TOKEN, OTHER, OTHER, OTHER, OTHER, OTHER, TOKEN].map((mint, i) => {
    ingest(store, state, block(5 + i, NOON, [buyOf(mint)]), OPTIONS)
    return state.size.pairs
  })
  t.strictSame(sizes, [1, 2, 2, 2, 2, 1, 2])
})

t.test('a pair that was let go is not taken to end where times fell to', async (t) => {
  const store = new MemoryStore()
  const state = new MarketState(EMPTY_START, { pairs: 1 })
  const ours = [buy(10n ** 9n, 10n ** 6n)]
  const others = [buy(10n ** 9n, 10n ** 6n, { outMint: OTHER })]
  const steps = [
    [60, ours],
    [0, others],
    [0, ours],
    [60, ours]
  ] as const
  const folds = steps.map(([seconds, events], i) =>
    ingest(store, state, block(5 + i, NOON + seconds, events), OPTIONS)
  )
  t.match(
    folds[3]!.candles.find(({ interval }) => interval === '1m'),
    { candle: { ts: NOON + 60, trades: 2 } }
  )
})

t.test('a block is folded once, and only as the one that was prepared last', async (t) => {
  const { store, state } = afterOneBuy()
  const [first, second] = [6, 7].map((slot) => state.prepare(block(slot, NOON, [buy(1n, 1n)]), OPTIONS))
  t.throws(() => first!.fold(store.load(first!.readSet)), /block 6 is folded out of order/)
  t.equal(state.head?.slot, 5)
  second!.fold(store.load(second!.readSet))
  t.equal(state.head?.slot, 7)
  t.throws(() => second!.foldKept(store.load(second!.readSet)), /block 7 is folded out of order/)
})

t.test('reading what was never loaded throws', async (t) => {
  const { state } = afterOneBuy()
  const pair = pairKey(TOKEN, SOL)
  t.throws(() => state.latest('pairs', pairKey(OTHER, SOL)), /row of pairs was not loaded/)
  t.throws(() => state.candle(pair, '1m', NOON - 60), /1m bucket at \d+ was not loaded/)
  t.throws(() => state.latest('launches', pubkeyMapKey(OTHER)), /row of launches was not loaded/)
  t.equal(state.latest('launches', pubkeyMapKey(TOKEN)), null)
})
