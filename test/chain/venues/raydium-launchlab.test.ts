import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { TOKEN_2022_PROGRAM } from '../../../src/chain/token-movement.ts'
import { raydiumAmmV4 } from '../../../src/chain/venues/raydium-amm-v4.ts'
import { cpmmInitialize } from '../../../src/chain/venues/raydium-cpmm-layouts.ts'
import { raydiumCpmm } from '../../../src/chain/venues/raydium-cpmm.ts'
import {
  INITIALIZES,
  buyExactIn,
  buyExactOut,
  migrateToAmm,
  migrateToCpswap,
  poolCreateEvent,
  sellExactIn,
  sellExactOut,
  tradeEvent,
  type TradeStated
} from '../../../src/chain/venues/raydium-launchlab-layouts.ts'
import { raydiumLaunchlab } from '../../../src/chain/venues/raydium-launchlab.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  checkedTransfer,
  keyOf,
  tokenTransfer,
  type CallSpec
} from '../build-transaction.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { amountsOf, decodedFixtures, eventsOf, vaultDifferences } from './raydium-fixtures.ts'

const VENUE = 'raydium-launchlab'
const PROGRAM = raydiumLaunchlab.programs[0]!

testWithFixtures(t, 'every vector agrees', (t) => {
  const vectors = readVectors(fixturesDirectory(), VENUE)
  t.ok(vectors.length > 0)
  for (const vector of vectors) {
    // One source names the pool as the venue's other events do, and adds facts of the instruction.
    const aliases = { pool: 'poolState', mint: null, isBuy: null }
    t.strictSame(compareVector(raydiumLaunchlab, vector, aliases).differences, [], vector.name)
  }
})

testWithFixtures(t, 'recorded trades equal their vaults and fees, and lack nothing', (t) => {
  let compared = 0
  for (const fixture of decodedFixtures(VENUE)) {
    t.strictSame(
      fixture.decoded.notes.filter(({ venue }) => venue === VENUE),
      []
    )
    // A vault touched by a launch in its transaction is filled by minting, not by the trade.
    if (fixture.entry.kind.includes('create')) continue
    const [trade] = eventsOf(fixture, VENUE, 'trade')
    const [vaults] = vaultDifferences(fixture, PROGRAM, (count) =>
      count < 15 ? null : { pool: 4, vaults: [7, 8] }
    )
    const [base, quote] = vaults!.differences
    t.equal(pubkeyToBase58(trade!.pool), vaults!.pool)
    // Platform and creator fees leave the quote vault at once in newer versions; the rest stays in it.
    const paidOut = (kinds: readonly string[]) =>
      trade!.fees.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { amount }) => sum + amount, 0n)
    if (base < 0n) {
      t.equal(trade!.outAmount, -base)
      t.equal(trade!.inAmount, quote - paidOut(['protocol', 'platform', 'creator', 'share']))
    } else {
      t.equal(trade!.inAmount, base)
      t.equal(trade!.outAmount, -quote + paidOut(['protocol']))
    }
    compared++
  }
  t.equal(compared, 2)
  t.end()
})

testWithFixtures(t, 'a Token-2022 sale for a token other than SOL states fill, totals and fees', (t) => {
  const fixture = decodedFixtures(VENUE).find(({ entry }) => entry.version === 1)!
  const [trade] = eventsOf(fixture, VENUE, 'trade')
  t.strictSame(amountsOf(trade!), [24_611_949_054_075n, 8_531_484n, 24_860_554_600_076n, 8_424_840n])
  t.match(trade, { inDecimals: 6, outDecimals: 8, exact: 'in' })
  t.strictSame(
    trade!.fees.map(({ kind, amount }) => [kind, amount]),
    [
      ['protocol', 21_329n],
      ['platform', 85_315n],
      ['transfer', 248_605_546_001n]
    ]
  )
  t.end()
})

testWithFixtures(t, 'a launch states its token, and its curve begins', (t) => {
  for (const fixture of decodedFixtures(VENUE).filter(({ entry }) => entry.kind.includes('create'))) {
    const [launch] = eventsOf(fixture, VENUE, 'launch')
    const [curve] = eventsOf(fixture, VENUE, 'curve')
    const [trade] = eventsOf(fixture, VENUE, 'trade')
    t.match(launch, { event: 'create', decimals: 6, supply: 1_000_000_000_000_000n })
    t.match(curve, { event: 'create', progressPct: 0, curve: launch!.curve, baseMint: launch!.baseMint })
    t.strictSame(trade!.outMint, launch!.baseMint)
  }
  t.end()
})

const TRADE_ACCOUNTS = [
  'user',
  'authority',
  'global config',
  'platform',
  'curve',
  'user base',
  'user quote',
  'base vault',
  'quote vault',
  'base mint',
  'quote mint',
  'base program',
  'quote program',
  'event authority',
  PROGRAM
]
const BALANCES = ['base', 'quote'].map((side) => ({
  account: `${side} vault`,
  mint: `${side} mint`,
  owner: 'authority',
  decimals: side === 'base' ? 6 : 9
}))

/** A buy of 1,000,000 base for 990 of 1,000 quote, on a constant product. */
const OLDER_BUY: TradeStated = {
  poolState: keyOf('curve'),
  totalBaseSell: 800_000_000n,
  virtualBase: 1_000_000_000n,
  virtualQuote: 989_010n,
  realBaseBefore: 0n,
  realQuoteBefore: 0n,
  realBaseAfter: 1_000_000n,
  realQuoteAfter: 990n,
  amountIn: 1_000n,
  amountOut: 1_000_000n,
  protocolFee: 3n,
  platformFee: 5n,
  shareFee: 0n,
  tradeDirection: 'buy',
  poolStatus: 'fund'
}
const BUY: TradeStated = { ...OLDER_BUY, creatorFee: 2n, exactIn: true }
const BUY_TRANSFERS = [
  tokenTransfer('user quote', 'quote vault', 'user', 1_000n),
  tokenTransfer('base vault', 'user base', 'authority', 1_000_000n),
  tokenTransfer('quote vault', 'platform fee vault', 'authority', 5n)
]
/** The trade in the opposite direction. */
const SELL: TradeStated = {
  ...BUY,
  realBaseBefore: 1_000_000n,
  realQuoteBefore: 990n,
  realBaseAfter: 0n,
  realQuoteAfter: 0n,
  amountIn: 1_000_000n,
  amountOut: 980n,
  tradeDirection: 'sell'
}
const SELL_TRANSFERS = [
  tokenTransfer('user base', 'base vault', 'user', 1_000_000n),
  tokenTransfer('quote vault', 'user quote', 'authority', 980n),
  tokenTransfer('quote vault', 'platform fee vault', 'authority', 5n)
]
const EXACT_IN = { amountIn: 1_000n, minimumAmountOut: 1n, shareFeeRate: 0n }
const EXACT_OUT = { amountOut: 1_000_000n, maximumAmountIn: 9_999n, shareFeeRate: 0n }

function states(event: Uint8Array): CallSpec {
  return {
    program: PROGRAM,
    accounts: ['event authority'],
    data: Uint8Array.from([...Uint8Array.fromHex('e445a52e51cb9a1d'), ...event])
  }
}

function decode(call: Partial<CallSpec>, more: { logs?: null } = {}) {
  return decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [{ program: PROGRAM, accounts: TRADE_ACCOUNTS, data: new Uint8Array(0), ...call }],
      balances: BALANCES,
      ...more
    })
  )
}

void t.test('both lengths of the event give the trade, once, with and without the log', async (t) => {
  for (const event of [BUY, OLDER_BUY]) {
    const bytes = tradeEvent.write(event)
    t.equal(bytes.length - 8, event === BUY ? 139 : 130)
    const call = {
      data: buyExactIn.write(EXACT_IN),
      inner: [states(bytes), ...BUY_TRANSFERS],
      logged: [bytes]
    }
    for (const { events, notes } of [decode(call), decode(call, { logs: null })]) {
      t.strictSame(notes, [])
      t.match(events, [
        {
          kind: 'trade',
          pool: keyOf('curve'),
          user: keyOf('user'),
          inMint: keyOf('quote mint'),
          outMint: keyOf('base mint'),
          inAmount: 990n,
          outAmount: 1_000_000n,
          traderIn: 1_000n,
          traderOut: 1_000_000n,
          exact: 'in',
          reserves: { in: 990n, out: 799_000_000n, virtualIn: 990_000n, virtualOut: 999_000_000n }
        }
      ])
      const fees = (events[0] as Trade).fees.map(({ kind, amount }) => [kind, amount])
      t.strictSame(fees.slice(0, 2), [
        ['protocol', 3n],
        ['platform', 5n]
      ])
      t.strictSame(fees.slice(2), event === BUY ? [['creator', 2n]] : [])
    }
  }
})

void t.test('every trade instruction states its direction and what was exact', async (t) => {
  const cases = [
    [buyExactIn.write(EXACT_IN), BUY, BUY_TRANSFERS, 'in'],
    [buyExactOut.write(EXACT_OUT), BUY, BUY_TRANSFERS, 'out'],
    [sellExactIn.write(EXACT_IN), SELL, SELL_TRANSFERS, 'in'],
    [sellExactOut.write(EXACT_OUT), SELL, SELL_TRANSFERS, 'out']
  ] as const
  for (const [data, event, transfers, exact] of cases) {
    const { events, notes } = decode({ data, inner: [states(tradeEvent.write(event)), ...transfers] })
    t.strictSame(notes, [])
    const expected =
      event === BUY
        ? { inAmount: 990n, outAmount: 1_000_000n, traderIn: 1_000n, traderOut: 1_000_000n }
        : { inAmount: 1_000_000n, outAmount: 990n, traderIn: 1_000_000n, traderOut: 980n }
    t.match(events, [{ kind: 'trade', exact, ...expected }])
  }
})

void t.test('a transfer fee on the base token parts the trader from the curve', async (t) => {
  const bought = decode({
    data: buyExactIn.write(EXACT_IN),
    inner: [
      states(tradeEvent.write(BUY)),
      BUY_TRANSFERS[0]!,
      checkedTransfer('base vault', 'base mint', 'user base', 'authority', 1_000_000n, 6, { fee: 10_000n })
    ]
  })
  t.strictSame(bought.notes, [])
  t.match(bought.events, [{ outAmount: 1_000_000n, traderOut: 990_000n }])
  const sold = decode({
    data: sellExactIn.write(EXACT_IN),
    inner: [
      states(tradeEvent.write(SELL)),
      checkedTransfer('user base', 'base mint', 'base vault', 'user', 1_010_000n, 6, {
        program: TOKEN_2022_PROGRAM
      }),
      SELL_TRANSFERS[1]!
    ]
  })
  t.strictSame(sold.notes, [])
  t.match(sold.events, [{ inAmount: 1_000_000n, traderIn: 1_010_000n }])
  t.match((sold.events[0] as Trade).fees.at(-1), { kind: 'transfer', amount: 10_000n })
})

void t.test('a share of the fee that returns to the trader is no part of what was sold for', async (t) => {
  const { events, notes } = decode({
    data: sellExactIn.write(EXACT_IN),
    inner: [
      states(tradeEvent.write({ ...SELL, shareFee: 4n })),
      ...SELL_TRANSFERS,
      tokenTransfer('quote vault', 'user quote', 'authority', 4n)
    ]
  })
  t.strictSame(notes, [])
  t.match(events, [{ outAmount: 990n, traderOut: 980n }])
})

void t.test('reserves of a curve that is no constant product have no virtual part', async (t) => {
  const event = { ...BUY, virtualBase: 1_000_000_000n, virtualQuote: 2_000_000n }
  const { events } = decode({
    data: buyExactIn.write(EXACT_IN),
    inner: [states(tradeEvent.write(event)), ...BUY_TRANSFERS]
  })
  t.strictSame((events[0] as Trade).reserves, { in: 990n, out: 799_000_000n })
})

void t.test('the trade that fills the curve completes it', async (t) => {
  const { events } = decode({
    data: buyExactIn.write(EXACT_IN),
    inner: [states(tradeEvent.write({ ...BUY, poolStatus: 'migrate' })), ...BUY_TRANSFERS]
  })
  t.match(events, [
    { kind: 'trade' },
    {
      kind: 'curve',
      event: 'complete',
      progressPct: 100,
      curve: keyOf('curve'),
      baseMint: keyOf('base mint')
    }
  ])
})

void t.test('transfers that contradict the event, or no event at all, hold the trade back', async (t) => {
  const data = buyExactIn.write(EXACT_IN)
  const contradicted = decode({
    data,
    inner: [states(tradeEvent.write({ ...BUY, amountIn: 32_090n })), ...BUY_TRANSFERS]
  })
  t.strictSame(contradicted.events, [])
  t.match(contradicted.notes, [{ kind: 'missing', reason: 'readings-contradict' }])
  const silent = decode({ data, inner: BUY_TRANSFERS })
  t.strictSame(silent.events, [])
  t.match(silent.notes, [{ kind: 'missing', reason: 'event-missing' }])
})

void t.test('an event of an instruction that is not known is still a trade', async (t) => {
  const { events, notes } = decode({
    data: Uint8Array.fromHex('0102030405060708'),
    accounts: [],
    inner: [states(tradeEvent.write(BUY)), ...BUY_TRANSFERS]
  })
  t.match(notes, [{ kind: 'unknown-instruction' }])
  t.match(events, [{ kind: 'trade', inAmount: 990n, outAmount: 1_000_000n, inMint: keyOf('quote mint') }])
})

const MINT = { decimals: 6, name: 'Name', symbol: 'SYM', uri: 'https://example.org/token' }
const VESTING = { totalLockedAmount: 0n, cliffPeriod: 0n, unlockPeriod: 0n }
const CURVES = [
  {
    curve: 'constant',
    supply: 1000n,
    totalBaseSell: 800n,
    totalQuoteFundRaising: 85n,
    migrateType: 1
  },
  { curve: 'fixed', supply: 1000n, totalBaseSell: null, totalQuoteFundRaising: 85n, migrateType: 0 },
  { curve: 'linear', supply: 1000n, totalBaseSell: null, totalQuoteFundRaising: 85n, migrateType: 0 }
] as const
const LAUNCH_ACCOUNTS = [
  'user',
  'creator',
  'global config',
  'platform',
  'authority',
  'curve',
  'base mint',
  'quote mint',
  'base vault',
  'quote vault',
  'more',
  'and more'
]

void t.test('every launch instruction and curve gives the launch and its curve', async (t) => {
  for (const initialize of INITIALIZES) {
    for (const curveParam of CURVES) {
      const launch = { baseMintParam: MINT, curveParam, vestingParam: VESTING }
      const event = poolCreateEvent.write({
        poolState: keyOf('curve'),
        creator: keyOf('creator'),
        config: keyOf('global config'),
        ...launch
      })
      for (const inner of [[states(event)], []]) {
        const { events, notes } = decode({ accounts: LAUNCH_ACCOUNTS, data: initialize.write(launch), inner })
        t.strictSame(notes, [])
        t.match(events, [
          {
            kind: 'launch',
            event: 'create',
            name: 'Name',
            symbol: 'SYM',
            uri: MINT.uri,
            creator: keyOf('creator'),
            user: keyOf('user'),
            baseMint: keyOf('base mint'),
            quoteMint: keyOf('quote mint'),
            curve: keyOf('curve'),
            decimals: 6,
            supply: 1000n
          },
          { kind: 'curve', event: 'create', progressPct: 0 }
        ])
      }
    }
  }
})

/** Returns an account list with the given names in their positions. */
function listed(count: number, named: Readonly<Record<number, string>>): string[] {
  return Array.from({ length: count }, (_, i) => named[i] ?? `other ${i}`)
}

void t.test('a migration names the pool that it opened', async (t) => {
  const openCpmm: CallSpec = {
    program: raydiumCpmm.programs[0]!,
    accounts: listed(20, { 3: 'new pool', 4: 'base mint', 5: 'quote mint' }),
    data: cpmmInitialize.write({ initAmount0: 1n, initAmount1: 1n, openTime: 0n })
  }
  const openAmm: CallSpec = {
    program: raydiumAmmV4.programs[0]!,
    accounts: listed(21, { 4: 'new pool', 8: 'base mint', 9: 'quote mint' }),
    data: Uint8Array.of(1)
  }
  const mints = { 1: 'base mint', 2: 'quote mint' }
  const cases = [
    [migrateToCpswap.write({}), listed(28, { ...mints, 17: 'curve' }), openCpmm],
    [migrateToCpswap.write({}), listed(29, { ...mints, 18: 'curve' }), openCpmm],
    [
      migrateToAmm.write({ baseLotSize: 1n, quoteLotSize: 1n, marketVaultSignerNonce: 0 }),
      listed(32, { ...mints, 23: 'curve' }),
      openAmm
    ]
  ] as const
  for (const [data, accounts, opening] of cases) {
    const { events, notes } = decode({ data, accounts, inner: [opening] })
    t.strictSame(notes, [])
    t.match(events, [
      {
        kind: 'curve',
        event: 'migrate',
        curve: keyOf('curve'),
        destination: keyOf('new pool'),
        baseMint: keyOf('base mint'),
        quoteMint: keyOf('quote mint')
      },
      { kind: 'pool', event: 'create', pool: keyOf('new pool') }
    ])
    t.strictSame(decode({ data, accounts }), { events: [], notes: [] }, 'and nothing when it opened none')
  }
})

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, raydiumLaunchlab))
void t.test('any call decodes without throwing', async (t) => anyCallDecodes(t, raydiumLaunchlab))
