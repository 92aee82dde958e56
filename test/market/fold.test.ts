import fc from 'fast-check'
import t from 'tap'
import { splitCursor, placeEvents } from '../../src/market/cursor.ts'
import { MarketState } from '../../src/market/market-state.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import { randomRuns } from '../random-runs.ts'
import { ingest, ingestAll, MemoryStore } from './memory-store.ts'
import {
  anyChain,
  anyEvent,
  block,
  buy,
  curve,
  key,
  launch,
  liquidity,
  NOON,
  OPTIONS,
  OTHER,
  POOL,
  poolChange,
  sell,
  SOL,
  solSale,
  TOKEN,
  trade,
  USD_COIN
} from './world.ts'

function foldOne(...events: Parameters<typeof block>[2]) {
  return ingestAll([block(5, NOON, events)], OPTIONS).folds[0]!
}

t.test('a trade row carries its event, its place in the block and its money values', async (t) => {
  const event = buy(2_000_000_000n, 4_000_000n, {
    ixIndex: 3,
    innerIxIndex: 1,
    traderIn: 2_020_000_000n,
    traderOut: 4_000_000n,
    fees: [{ kind: 'protocol', mint: SOL, amount: 20_000_000n }],
    reserves: { in: 10n, out: 20n, virtualIn: 30n, virtualOut: 40n },
    exact: 'out',
    route: { program: key(201), ixIndex: 3, hop: 1, hops: 2 }
  })
  const [, row] = foldOne(solSale(150), event).trades
  const { kind, ...facts } = event
  t.equal(kind, 'trade')
  t.strictSame(row, {
    ...facts,
    cursor: 5 * 2 ** 20 + 4,
    slot: 5,
    blockTime: NOON,
    signature: row!.signature,
    txIndex: 1,
    feePayer: key(400),
    commitment: 'confirmed',
    mint: TOKEN,
    cashSide: 'in',
    price: 0.5,
    cashUsd: 150,
    priceForming: true
  })
  t.equal(row!.signature[63], 1)
})

t.test('the commitment of rows is that of the block', async (t) => {
  const some = { ...block(5, NOON, [buy(1n, 1n), launch(), poolChange()]), commitment: 'processed' as const }
  const fold = ingestAll([some], OPTIONS).folds[0]!
  t.same(
    [...fold.trades, ...fold.launches, ...fold.poolEvents].map((row) => row.commitment),
    ['processed', 'processed', 'processed']
  )
})

t.test('a trade with one cash side is listed under the other mint', async (t) => {
  const rows = foldOne(buy(1n, 1n), sell(1n, 1n)).trades
  t.match(rows, [
    { mint: TOKEN, cashSide: 'in' },
    { mint: TOKEN, cashSide: 'out' }
  ])
})

t.test('SOL against dollars is listed under SOL, priced in dollars', async (t) => {
  const [row] = foldOne(solSale(187.25)).trades
  t.match(row, { mint: SOL, cashSide: 'out', price: 187.25, cashUsd: 1, priceForming: true })
})

t.test(
  'a trade without cash is listed under both mints, without money values, price or candle',
  async (t) => {
    const fold = foldOne(trade({ inMint: TOKEN, outMint: OTHER, inDecimals: 6 }))
    const unpriced = { cashSide: null, price: null, cashUsd: null, priceForming: false }
    t.match(fold.trades, [
      { mint: TOKEN, cursor: 5 * 2 ** 20, ...unpriced },
      { mint: OTHER, cursor: 5 * 2 ** 20 + 1, ...unpriced }
    ])
    t.equal(fold.slot.trades, 1, 'one trade in two rows')
    t.same([fold.candles, fold.pairs], [[], []])
  }
)

t.test('a trade in which no token moved has no price', async (t) => {
  const fold = foldOne(buy(1_000_000_000n, 0n))
  t.match(fold.trades, [{ price: null, priceForming: false }])
  t.match(fold.candles[0], {
    candle: { native: null, nativeRaw: null, trades: 1, volumeCash: 1_000_000_000n }
  })
})

t.test('the slot row counts transactions, events and trades', async (t) => {
  t.same(foldOne(buy(1n, 1n), launch(), curve('create'), trade({ inMint: OTHER })).slot, {
    slot: 5,
    blockTime: NOON,
    parentSlot: 4,
    blockhash: null,
    transactions: 7,
    trades: 2,
    events: 4,
    receivedAtMs: NOON * 1000 + 400
  })
})

t.test('liquidity, curve and pool events keep their bodies, in cursor order', async (t) => {
  const events = [poolChange(), curve('create'), liquidity()]
  const rows = foldOne(buy(1n, 1n), ...events).poolEvents
  t.same(
    rows.map((row) => row.body),
    events
  )
  t.same(
    rows.map((row) => splitCursor(row.cursor).position),
    [4, 7, 10]
  )
  t.match(rows[0], { pool: POOL, venue: 'pumpswap', txIndex: 1, feePayer: key(400) })
})

t.test('every affected pair gets the running bucket of each interval once', async (t) => {
  const dollars = { inMint: USD_COIN, inDecimals: 6 }
  const fold = foldOne(buy(1n, 1n), buy(1n, 1n), buy(1n, 1n, dollars))
  t.same(
    fold.candles.map(({ interval }) => interval),
    [...INTERVALS, ...INTERVALS]
  )
  t.same(
    fold.candles.map(({ cash }) => cash),
    [...INTERVALS.map(() => SOL), ...INTERVALS.map(() => USD_COIN)]
  )
})

t.test('a pair is stored from its first trade, and then when its prices change', async (t) => {
  const dust = sell(1n, 1n)
  const { folds } = ingestAll(
    [block(5, NOON, [dust]), block(6, NOON, [dust]), block(7, NOON, [buy(10n ** 9n, 10n ** 6n)])],
    OPTIONS
  )
  t.same(
    folds.map((fold) => fold.pairs.length),
    [1, 0, 1]
  )
  t.match(folds[0]!.pairs[0], {
    mint: TOKEN,
    cash: SOL,
    decimals: 6,
    cashDecimals: 9,
    recent: [],
    last: null
  })
  t.match(folds[2]!.pairs[0], { recent: [1], last: { price: 1, slot: 7, cashUsd: null, pool: POOL } })
})

t.test('the last price of a pair is that of its newest price-forming row', async (t) => {
  const fold = foldOne(buy(10n ** 9n, 10n ** 6n), buy(2n * 10n ** 9n, 10n ** 6n), buy(10n ** 12n, 10n ** 6n))
  t.match(fold.pairs[0], { recent: [1, 2], excluded: [1_000], last: { price: 2, cursor: 5 * 2 ** 20 + 4 } })
})

t.test('a level that moved forms prices from there on, and earlier rows keep their flags', async (t) => {
  const price = (sol: bigint) => buy(sol * 10n ** 9n, 10n ** 6n)
  const fold = foldOne(...[1n, 100n, 101n, 102n, 103n].map(price))
  t.same(
    fold.trades.map((row) => row.priceForming),
    [true, false, false, true, true]
  )
})

t.test('folding a block again gives the same, and changes nothing that is known', async (t) => {
  fc.assert(
    fc.property(anyChain, (chain) => {
      const store = new MemoryStore()
      const state = store.restart()
      for (const at of chain.slice(0, -1)) ingest(store, state, at, OPTIONS)
      const last = chain.at(-1)!
      const prepared = state.prepare(last, OPTIONS)
      const { fold, kept } = prepared.foldKept(store.load(prepared.readSet))
      t.strictSame(new MarketState(kept.before).prepare(last, OPTIONS).fold(kept.before.values), fold)
    }),
    randomRuns(30, 9)
  )
})

t.test('positions depend on the block alone, whatever the market was before', async (t) => {
  const events = fc.array(anyEvent, { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(anyChain, events, (chain, last) => {
      const head = chain.at(-1)!
      const next = block(head.slot + 1, head.blockTime, last)
      const after = ingestAll([...chain, next], OPTIONS).folds.at(-1)!
      const fresh = ingestAll([next], { ...OPTIONS, startingSolUsd: 99 }).folds[0]!
      t.same(cursorsOf(after), cursorsOf(fresh))
      const rows = cursorsOf(after)
      t.ok(rows.every((cursor, i) => i === 0 || cursor > rows[i - 1]!))
      const placed = new Set(placeEvents(next.slot, last))
      t.ok(after.poolEvents.every((row) => placed.has(row.cursor)))
    }),
    randomRuns(30, 10)
  )
})

t.test(
  'events of a venue that is switched off give no rows, and the others keep their cursors',
  async (t) => {
    const events = [
      solSale(150),
      buy(2_000_000_000n, 4_000_000n, { venue: 'phoenix' as const }),
      buy(3_000_000_000n, 4_000_000n, { venue: 'pumpfun' as const })
    ]
    const all = ingestAll([block(5, NOON, events)], OPTIONS).folds[0]!
    const some = ingestAll([block(5, NOON, events)], { ...OPTIONS, venues: new Set(['pumpfun' as const]) })
      .folds[0]!
    t.same(
      some.trades.map(({ venue }) => venue),
      ['pumpfun']
    )
    t.equal(some.trades[0]!.cursor, all.trades.find(({ venue }) => venue === 'pumpfun')!.cursor)
    t.equal(some.slot.trades, 1)
    t.equal(some.trades[0]!.cashUsd, null, 'what is off prices nothing')
  }
)

function cursorsOf(fold: ReturnType<typeof foldOne>): number[] {
  return [...fold.trades, ...fold.poolEvents].map((row) => row.cursor).sort((a, b) => a - b)
}
