import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { ChainEvent, CurveChange, Launch, Trade, TradeReserves } from '../../src/chain/events.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { decodeTransaction } from '../../src/chain/decode.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import { curveCourse, forSaleOf } from '../../src/market/curve-course.ts'
import { recordedCase } from '../chain/cases/recorded-case.ts'
import { randomRuns } from '../random-runs.ts'
import { ingestAll } from './memory-store.ts'
import {
  block,
  buy,
  curve,
  key,
  launch,
  NOON,
  OPTIONS,
  OTHER,
  sell,
  SOL,
  solSale,
  TOKEN,
  trade
} from './world.ts'

const CURVE = key(150)
const AT_CURVE = { venue: 'pumpfun', pool: CURVE } as const

// Initial reserves of pump.fun's curves, in base units.
const VIRTUAL_SOL = 30_000_000_000n
const VIRTUAL_TOKENS = 1_073_000_000_000_000n
const FOR_SALE = 793_100_000_000_000n
const TARGET = 85_005_359_057n

/** Returns the curve of a mint after each block of events. */
function curvesOf(...blocks: readonly (readonly ChainEvent[])[]) {
  const chain = blocks.map((events, i) => block(1_000 + i, NOON + i, events))
  return ingestAll(chain, OPTIONS).folds.map((fold) => fold.curves)
}

function lastCurve(...events: readonly ChainEvent[]) {
  return curvesOf(events)[0]![0]
}

/** Returns the reserves of such a curve after it received some lamports. */
function reservesAt(lamports: bigint) {
  const virtualBase = (VIRTUAL_SOL * VIRTUAL_TOKENS) / (VIRTUAL_SOL + lamports)
  const realBase = FOR_SALE - (VIRTUAL_TOKENS - virtualBase)
  return { realBase, realQuote: lamports, virtualBase, virtualQuote: VIRTUAL_SOL + lamports }
}

function buyReserves(lamports: bigint): TradeReserves {
  const { realBase, realQuote, virtualBase, virtualQuote } = reservesAt(lamports)
  return { in: realQuote, out: realBase, virtualIn: virtualQuote, virtualOut: virtualBase }
}

const creation = (fields: Partial<CurveChange> = {}) =>
  curve('create', {
    ...AT_CURVE,
    curve: CURVE,
    progressPct: 0,
    reserves: { realBase: FOR_SALE, virtualBase: VIRTUAL_TOKENS, virtualQuote: VIRTUAL_SOL },
    ...fields
  })
const birth = (fields: Partial<Launch> = {}) => launch({ ...AT_CURVE, curve: CURVE, ...fields })
const completion = (fields: Partial<CurveChange> = {}) =>
  curve('complete', { ...AT_CURVE, curve: CURVE, progressPct: 100, ...fields })
const migration = (fields: Partial<CurveChange> = {}) =>
  curve('migrate', { ...AT_CURVE, curve: CURVE, progressPct: 100, destination: key(160), ...fields })
const bought = (lamports: bigint, fields: Partial<Trade> = {}) =>
  buy(10n ** 9n, 10n ** 12n, { ...AT_CURVE, reserves: buyReserves(lamports), ...fields })

t.test('a pump.fun curve of 30 SOL and 1,073 million tokens completes at about 85 SOL', async (t) => {
  const course = curveCourse(reservesAt(0n), FOR_SALE)
  t.equal(course?.progressPct, 0)
  t.equal(course?.targetQuote, TARGET)
})

t.test('the course of a curve is the same wherever on it its reserves are read', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: TARGET - 1n }), (lamports) => {
      const course = curveCourse(reservesAt(lamports), FOR_SALE)!
      const sold = FOR_SALE - reservesAt(lamports).realBase
      t.equal(course.progressPct, 100 * (Number(sold) / Number(FOR_SALE)))
      t.equal(course.targetQuote, TARGET)
    }),
    randomRuns(200, 51)
  )
})

t.test(
  'reserves that are not all stated have no target, and without tokens for sale no course',
  async (t) => {
    const all = reservesAt(5n * 10n ** 9n)
    for (const missing of ['virtualBase', 'virtualQuote', 'realQuote']) {
      const rest = Object.fromEntries(Object.entries(all).filter(([name]) => name !== missing))
      t.match(curveCourse(rest, FOR_SALE), { targetQuote: null, sold: FOR_SALE - all.realBase }, missing)
    }
    t.equal(curveCourse({ ...all, realBase: undefined! }, FOR_SALE), null)
    t.match(curveCourse({ ...all, realQuote: all.virtualQuote }, FOR_SALE), { targetQuote: null })
    t.match(curveCourse({ ...all, realBase: all.virtualBase }, FOR_SALE), { targetQuote: null })
    t.equal(curveCourse(all, 0n), null, 'nothing was ever for sale')
    t.equal(curveCourse(all, null), null)
  }
)

t.test('a curve that was sold more tokens than it sold has a progress of 0', async (t) => {
  const { realBase, ...rest } = reservesAt(0n)
  t.match(curveCourse({ ...rest, realBase: realBase + 1n }, FOR_SALE), { progressPct: 0, sold: 0n })
})

t.test('the start is what the launchpad states, never what the product of the reserves says', async (t) => {
  // As after an agent's purchase below the curve's price: the product is lower than at the start.
  const reserves = { realBase: 700_000_000n, virtualBase: 980_000_000n, realQuote: 5n, virtualQuote: 25n }
  t.equal(forSaleOf('pumpfun', 800_000_000n, reserves), 800_000_000n)
  t.equal(forSaleOf('pumpfun', null, reserves), null, 'other virtual tokens than the program gives')
  t.equal(forSaleOf('pumpfun', null, reservesAt(7n * 10n ** 9n)), FOR_SALE, 'those that the program gives')
  t.equal(forSaleOf('raydium-launchlab', null, reservesAt(0n)), null, 'each has its own')
  const mayhem = reservesAt(10n ** 9n)
  const below = {
    ...mayhem,
    realBase: mayhem.realBase - 10n ** 13n,
    virtualBase: mayhem.virtualBase - 10n ** 13n
  }
  const trade = bought(0n, {
    reserves: {
      in: below.realQuote,
      out: below.realBase,
      virtualIn: below.virtualQuote,
      virtualOut: below.virtualBase
    }
  })
  for (const events of [[trade], [birth(), creation(), trade]]) {
    const row = lastCurve(...events)!
    t.equal(row.progressPct, 100 * (Number(FOR_SALE - below.realBase) / Number(FOR_SALE)))
    t.equal(row.targetQuote, TARGET)
  }
})

t.test('a recorded curve in mayhem mode has sold 0.6711 % by the tokens that it had for sale', async (t) => {
  const outcome = readRpcTransaction(recordedCase('mayhem-agent-buy'))
  if (outcome.kind !== 'transaction') throw new Error(outcome.kind)
  const row = lastCurve(...decodeTransaction(outcome.transaction).events)!
  t.equal(row.progressPct, 100 * (5_322_500_188_431 / 793_100_000_000_000))
  t.equal(row.progressPct!.toFixed(4), '0.6711')
  // 9,773.313612 USDC of virtual quote at the start, × 793.1 ÷ 279.9, rounded up.
  t.equal(row.targetQuote, 27_692_801_093n)
})

t.test(
  'a curve of LaunchLab has the target of its creation, and the tokens for sale of its trades',
  async (t) => {
    const lab = { venue: 'raydium-launchlab' } as const
    const trade = bought(10n ** 9n, { ...lab, statedCurve: { forSale: FOR_SALE } })
    const created = creation({
      ...lab,
      reserves: { realBase: FOR_SALE, realQuote: 0n },
      targetQuote: 85n * 10n ** 9n
    })
    t.match(lastCurve(created), { progressPct: 0, forSale: FOR_SALE, targetQuote: 85n * 10n ** 9n })
    const { realBase } = reservesAt(10n ** 9n)
    const progressPct = 100 * (Number(FOR_SALE - realBase) / Number(FOR_SALE))
    t.match(lastCurve(created, trade), { progressPct, targetQuote: 85n * 10n ** 9n })
    t.match(
      lastCurve(trade),
      { progressPct, targetQuote: TARGET },
      'without the creation it follows from the start'
    )
  }
)

t.test('trades of a DBC curve state its price, its target and so its progress', async (t) => {
  const dbc = { venue: 'meteora-dbc' } as const
  const threshold = 80n * 10n ** 9n
  const sqrtPrice = 2n ** 64n / 100n
  const traded = (raised: bigint): Trade =>
    bought(0n, { ...dbc, reserves: { in: raised }, statedCurve: { targetQuote: threshold, sqrtPrice } })
  const live = lastCurve(
    solSale(200),
    birth(dbc),
    creation({ ...dbc, reserves: null }),
    traded(20n * 10n ** 9n)
  )!
  t.match(live, { progressPct: 25, targetQuote: threshold, cashUsd: 200 })
  t.ok(Math.abs(live.price! - 1e-4 / 1e3) < 1e-20, 'base units of 6 decimals in those of 9')
  const held = { realBase: 7n, realQuote: threshold + 3n }
  const ended = lastCurve(birth(dbc), traded(threshold + 3n), completion({ ...dbc, reserves: held }))!
  t.match(ended, { status: 'graduating', progressPct: 100, targetQuote: threshold, reserves: held })
  t.equal(ended.price, live.price, 'not the average of the completing fill')
})

t.test('a new curve states its price, its target and what is for sale', async (t) => {
  t.match(lastCurve(solSale(200), birth(), creation()), {
    mint: TOKEN,
    platform: 'pumpfun',
    curve: CURVE,
    quote: SOL,
    decimals: 6,
    quoteDecimals: 9,
    status: 'bonding',
    progressPct: 0,
    reserves: { realBase: FOR_SALE, realQuote: 0n, virtualBase: VIRTUAL_TOKENS, virtualQuote: VIRTUAL_SOL },
    targetQuote: TARGET,
    price: 30 / 1_073_000_000,
    cashUsd: 200,
    creator: key(301),
    created: { slot: 1_000, blockTime: NOON },
    graduated: null
  })
})

t.test('a trade moves the curve to the reserves that it states', async (t) => {
  const after = lastCurve(birth(), creation(), bought(10n ** 9n), bought(40n * 10n ** 9n))!
  t.same(after.reserves, reservesAt(40n * 10n ** 9n))
  t.ok(Math.abs(after.progressPct! - 77.3) < 0.1, String(after.progressPct))
  t.equal(after.price, 70_000 / (Number(after.reserves.virtualBase) / 1e6) / 1_000)
  t.equal(after.cursor, 1_000 * 2 ** 20 + 2 + 3 + 4)
})

t.test('a sale names the same reserves the other way round', async (t) => {
  const { in: quote, out: base, virtualIn, virtualOut } = buyReserves(3n * 10n ** 9n)
  const reserves = { in: base!, out: quote!, virtualIn: virtualOut!, virtualOut: virtualIn! }
  const sale = sell(10n ** 9n, 10n ** 9n, { ...AT_CURVE, reserves })
  t.same(lastCurve(birth(), creation(), sale)!.reserves, reservesAt(3n * 10n ** 9n))
})

t.test('what a trade does not state is unknown after it, and so is the progress', async (t) => {
  const quiet = bought(0n, { reserves: { in: 5n } })
  const after = lastCurve(birth(), creation(), quiet)!
  t.same(after.reserves, { realQuote: 5n })
  t.equal(after.progressPct, null)
  t.equal(after.targetQuote, TARGET, 'the target does not change with trades')
  t.equal(after.price, 1 / 1_000_000, 'the price of the trade stands in')
})

t.test('bonding, graduating, graduated', async (t) => {
  const steps = curvesOf([birth(), creation()], [bought(10n ** 9n)], [completion()], [migration()])
  t.same(
    steps.map((rows) => rows[0]?.status),
    ['bonding', 'bonding', 'graduating', 'graduated']
  )
  t.match(steps[2]![0], { progressPct: 100, graduated: null, reserves: reservesAt(10n ** 9n) })
  t.match(steps[3]![0], { progressPct: 100, graduated: { slot: 1_003, blockTime: NOON + 3, pool: key(160) } })
})

t.test(
  'a platform without two steps graduates at once, and its migration may lead to an unknown pool',
  async (t) => {
    const moonshot = { venue: 'moonshot', destination: null } as const
    const [, rows] = curvesOf(
      [birth({ venue: 'moonshot' }), creation({ venue: 'moonshot' })],
      [migration(moonshot)]
    )
    t.match(rows, [{ platform: 'moonshot', status: 'graduated', graduated: { pool: null } }])
  }
)

t.test(
  'a completed curve that is sold out holds what its completion states, if that was unknown',
  async (t) => {
    const lab = { venue: 'raydium-launchlab' } as const
    const stated = { realBase: 7n, realQuote: 80n * 10n ** 9n }
    const rows = curvesOf(
      [birth(lab), creation({ ...lab, reserves: null })],
      [bought(0n, { ...lab, reserves: { in: 79n } })],
      [completion({ ...lab, reserves: stated })]
    )
    t.equal(
      lastCurve(birth({ venue: 'meteora-dbc' }), completion({ venue: 'meteora-dbc', reserves: stated }))!
        .targetQuote,
      null,
      'a DBC curve completes at a threshold that the completion does not state'
    )
    t.same(
      rows.map(([row]) => row?.targetQuote),
      [null, null, 80n * 10n ** 9n]
    )
    t.same(
      rows.map(([row]) => row?.progressPct),
      [0, null, 100]
    )
    t.same(rows[2]![0]!.reserves, stated)
  }
)

t.test('a curve graduates once: a second migration leaves the first', async (t) => {
  const [, , rows] = curvesOf([birth()], [migration()], [migration({ destination: key(161) })])
  t.match(rows, [{ slot: 1_002, graduated: { slot: 1_001, pool: key(160) } }])
})

t.test('neither a late trade on the curve nor one elsewhere brings a graduated curve back', async (t) => {
  const late = bought(2n * 10n ** 9n)
  const elsewhere = buy(10n ** 9n, 10n ** 9n, { venue: 'pumpswap', pool: key(160) })
  t.same(curvesOf([birth(), creation()], [migration()], [late, elsewhere]).at(-1), [])
  t.same(curvesOf([birth(), creation()], [completion()], [late, elsewhere]).at(-1), [])
  t.same(curvesOf([birth(), creation()], [migration()], [completion(), creation()]).at(-1), [])
})

t.test('the part of a completing buy that the pool to come fills does not move the curve', async (t) => {
  const part = bought(0n, { reserves: { in: 1n, out: 2n } })
  const row = lastCurve(birth(), creation(), bought(85n * 10n ** 9n), completion(), part)!
  t.same(row.reserves, reservesAt(85n * 10n ** 9n))
})

t.test('where the index began later, the first trade on a launchpad makes the curve known', async (t) => {
  t.match(lastCurve(bought(10n ** 9n)), {
    mint: TOKEN,
    curve: CURVE,
    quote: SOL,
    decimals: 6,
    quoteDecimals: 9,
    status: 'bonding',
    creator: null,
    created: null
  })
  t.equal(lastCurve(bought(10n ** 9n, { venue: 'pumpswap' })), undefined, 'not one elsewhere')
})

t.test('between two tokens a trade belongs to the one whose curve is its pool, else to none', async (t) => {
  const swap = trade({ ...AT_CURVE, inMint: OTHER, outMint: TOKEN, inDecimals: 6, reserves: { in: 9n } })
  t.same(curvesOf([swap])[0], [])
  const [, rows] = curvesOf(
    [birth({ quoteMint: OTHER }), creation({ quoteMint: OTHER, reserves: null })],
    [swap]
  )
  t.match(rows, [{ mint: TOKEN, quote: OTHER, reserves: { realQuote: 9n }, price: null, cashUsd: null }])
  t.equal(rows!.length, 1)
})

t.test('a mint has one curve, the first; another’s events and trades change nothing', async (t) => {
  const other = { pool: key(151), curve: key(151) }
  const known = [birth(), creation()]
  t.same(curvesOf(known, [completion(other), migration(other), birth(other)]).at(-1), [])
  t.same(curvesOf(known, [bought(10n ** 9n, { pool: key(151) })]).at(-1), [])
})

t.test('every curve is of the newest trade or event that belongs to it', async (t) => {
  const store = ingestAll(
    [block(5, NOON, [birth(), creation()]), block(6, NOON + 1, [bought(10n ** 9n)])],
    OPTIONS
  ).store
  const row = (mint: Pubkey) => store.rows.maps.curves.get(pubkeyMapKey(mint))
  t.match(row(TOKEN), { slot: 6, blockTime: NOON + 1, cursor: 6 * 2 ** 20 })
  t.equal(row(OTHER), undefined)
})
