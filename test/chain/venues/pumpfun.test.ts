import t from 'tap'
import type { ChainEvent, CurveChange, Launch, Trade } from '../../../src/chain/events.ts'
import { samePubkey } from '../../../src/chain/pubkey.ts'
import { pumpfun } from '../../../src/chain/venues/pumpfun.ts'
import {
  completeEvent,
  createEvent,
  migrationEvent,
  postCompleteBuyEvent,
  tradeEvent
} from '../../../src/chain/venues/pumpfun-events.ts'
import {
  buy,
  buyV3,
  createV2,
  multiHopCurveSwap,
  sell
} from '../../../src/chain/venues/pumpfun-instructions.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  checkedTransfer,
  keyOf,
  lamportTransfer,
  tokenTransfer,
  type CallSpec,
  type TransactionSpec
} from '../build-transaction.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import {
  SOL,
  checkDiscriminators,
  decodeSpec,
  holdings,
  plain,
  recorded,
  stating,
  text,
  until
} from './pump-checks.ts'
import { decodeTransaction } from '../../../src/chain/decode.ts'

const PUMP = pumpfun.programs[0]!

t.test('every discriminator is the hash of its name', async (t) => checkDiscriminators(t, pumpfun))
t.test('every layout reads what it writes', async (t) => layoutsReadWhatTheyWrite(t, pumpfun))
t.test('no bytes make the decoder throw', async (t) => anyCallDecodes(t, pumpfun))

testWithFixtures(t, 'every vector reads as its source says', (t) => {
  for (const vector of readVectors(fixturesDirectory(), 'pumpfun')) {
    const stated = pumpfun.statedEventOffset(Uint8Array.fromHex(vector.data_hex)) >= 0
    const compared = compareVector(pumpfun, { ...vector, type: stated ? 'event' : vector.type })
    t.same(compared.differences, [], vector.name)
  }
})

const isTrade = (event: ChainEvent): event is Trade => event.kind === 'trade' && event.venue === 'pumpfun'

testWithFixtures(t, 'every recorded transaction decodes, and agrees with the balances of its curve', (t) => {
  let checked = 0
  for (const { entry, result, decoded } of recorded('pumpfun')) {
    t.same(
      decoded.notes.filter(({ venue }) => venue === 'pumpfun'),
      [],
      entry.file
    )
    const names = entry.instructions.pumpfun ?? []
    const trades = decoded.events.filter(isTrade)
    t.equal(trades.length, names.filter((name) => /buy|sell/.test(name)).length, `trades of ${entry.file}`)
    const launches = decoded.events.filter(({ kind }) => kind === 'launch')
    t.equal(
      launches.length,
      names.filter((name) => name.startsWith('create')).length,
      `launches of ${entry.file}`
    )
    for (const curve of new Set(trades.map((trade) => text(trade.pool)))) {
      const ofCurve = trades.filter((trade) => text(trade.pool) === curve)
      const isBuy = (trade: Trade): boolean => text(trade.inMint) === SOL
      const mint = text(isBuy(ofCurve[0]!) ? ofCurve[0]!.outMint : ofCurve[0]!.inMint)
      const tokens = holdings(result, curve, mint)
      const created = tokens.before === 0n ? 10n ** 15n : tokens.before
      const moved = ofCurve.reduce((sum, one) => sum + (isBuy(one) ? -one.outAmount : one.inAmount), 0n)
      t.equal(tokens.after - created, moved, `tokens of ${entry.file}`)
      checked++
      const { preBalances, postBalances } = result.meta
      const index = result.transaction.message.accountKeys.indexOf(curve)
      if (!preBalances?.length || !postBalances?.length || index < 0 || launches.length > 0) continue
      const lamports = ofCurve.reduce((sum, one) => sum + (isBuy(one) ? one.inAmount : -one.outAmount), 0n)
      t.equal(BigInt(postBalances[index]! - preBalances[index]!), lamports, `lamports of ${entry.file}`)
    }
  }
  t.ok(checked >= 20, `${checked} curves`)
})

testWithFixtures(t, 'trades and launches are what the sources of the recordings expect', (t) => {
  let compared = 0
  for (const { entry, decoded } of recorded('pumpfun')) {
    const trades = decoded.events.filter(isTrade)
    for (const { from, values } of entry.expected) {
      const stated = values as Record<string, string | number | boolean>[]
      if (from.startsWith('RubberArchind') && stated[0]?.solAmount !== undefined) {
        const read = trades.map((trade) => {
          const isBuy = text(trade.inMint) === SOL
          return {
            tokenMint: text(isBuy ? trade.outMint : trade.inMint),
            solAmount: String(isBuy ? trade.inAmount : trade.outAmount),
            tokenAmount: String(isBuy ? trade.outAmount : trade.inAmount),
            trader: text(trade.user),
            isBuy,
            virtualSolReserves: String(isBuy ? trade.reserves?.virtualIn : trade.reserves?.virtualOut),
            virtualTokenReserves: String(isBuy ? trade.reserves?.virtualOut : trade.reserves?.virtualIn)
          }
        })
        // A source that reads the log lacks the events that a truncated log lost.
        t.same(
          read.slice(0, stated.length),
          stated.map(({ timestamp, ...rest }) => (timestamp === undefined ? {} : rest)),
          entry.file
        )
        compared++
      }
      if (from.startsWith('RubberArchind') && stated[0]?.createdBy !== undefined) {
        const launch = decoded.events.find((event): event is Launch => event.kind === 'launch')!
        t.match(stated[0], {
          name: launch.name,
          symbol: launch.symbol,
          uri: launch.uri,
          tokenMint: text(launch.baseMint),
          bondingCurve: text(launch.curve),
          tokenDecimals: launch.decimals,
          createdBy: text(launch.user)
        })
        compared++
      }
      if (from.startsWith('0xfnzero')) {
        const [trade] = trades
        t.match(stated[0], {
          sol_amount: String(trade!.inAmount),
          token_amount: String(trade!.outAmount),
          user: text(trade!.user),
          virtual_sol_reserves: String(trade!.reserves!.virtualIn),
          real_token_reserves: String(trade!.reserves!.out)
        })
        compared++
      }
      if (from.startsWith('0xjeffro')) {
        for (const action of stated.filter(({ InstructionName: name }) => /buy|sell/i.test(String(name)))) {
          const trade = trades.find(({ ixIndex }) => ixIndex === action.action_index)!
          t.match(action, {
            Who: text(trade.user),
            FromTokenAmount: String(trade.inAmount),
            ToTokenAmount: String(trade.outAmount)
          })
          const fee = action.PumpfunFeeAmount ?? action.FeeAmount
          if (fee !== undefined) t.equal(String(trade.traderIn - trade.inAmount), String(fee), entry.file)
          compared++
        }
      }
    }
  }
  t.ok(compared >= 7, `${compared} compared`)
})

// Fields of the newest TradeEvent for synthetic transactions: a buy of 2,000 tokens for 1,000 lamports.
const trade = {
  mint: keyOf('coin'),
  solAmount: 1000n,
  tokenAmount: 2000n,
  isBuy: true,
  user: keyOf('trader'),
  timestamp: 1n,
  virtualSolReserves: 31_000n,
  virtualTokenReserves: 998_000n,
  realSolReserves: 1000n,
  realTokenReserves: 700_000n,
  feeRecipient: keyOf('fee recipient'),
  feeBasisPoints: 95n,
  fee: 10n,
  creator: keyOf('creator'),
  creatorFeeBasisPoints: 30n,
  creatorFee: 3n,
  trackVolume: true,
  totalUnclaimedTokens: 0n,
  totalClaimedTokens: 0n,
  currentSolVolume: 0n,
  lastUpdateTimestamp: 0n,
  ixName: 'buy',
  mayhemMode: false,
  cashbackFeeBasisPoints: 0n,
  cashback: 0n,
  buybackFeeBasisPoints: 0n,
  buybackFee: 5n,
  shareholders: [{ address: keyOf('holder'), shareBps: 10_000 }],
  quoteMint: new Uint8Array(32),
  quoteAmount: 1000n,
  virtualQuoteReserves: 31_000n,
  realQuoteReserves: 1000n,
  holderRewardsBps: 0n,
  holderRewards: 0n,
  creatorFeeUnclaimed: 0n
}

const COIN = [
  { account: 'curve coins', mint: 'coin', owner: 'curve', decimals: 6, before: 1_000_000n },
  { account: 'usdc account', mint: 'usdc', owner: 'trader', decimals: 6, before: 1_000_000n }
]

const V1 = ['global', 'fee recipient', 'coin', 'curve', 'curve coins', 'trader coins', 'trader', 'system']
const V3 = [
  'global',
  'coin',
  'usdc',
  'token program',
  'token program',
  'curve',
  'curve coins',
  'curve usdc',
  'trader',
  'trader coins',
  'usdc account'
]
const SENT = checkedTransfer('curve coins', 'coin', 'trader coins', 'curve', 2000n, 6)
const RETURNED = checkedTransfer('trader coins', 'coin', 'curve coins', 'trader', 2000n, 6)

interface TradeSpec {
  readonly data?: Uint8Array
  readonly accounts?: readonly string[]
  readonly inner: readonly CallSpec[]
  readonly logged?: readonly Uint8Array[]
  readonly lines?: readonly string[]
}

function call({
  data = buy.write({ amount: 2000n, maxSolCost: 9999n }),
  accounts = V1,
  ...rest
}: TradeSpec): CallSpec {
  return { program: PUMP, accounts, data, ...rest }
}

function outer(spec: TradeSpec, more: Partial<TransactionSpec> = {}) {
  return decodeSpec({ signers: ['trader'], balances: COIN, calls: [call(spec)], ...more })
}

t.test('a trade reads the same in every version of its event', async (t) => {
  const firstOfVersion = [
    ['realSolReserves', { reserves: null, fees: 10n }],
    ['feeRecipient', { reserves: 700_000n, fees: 10n }],
    ['trackVolume', { reserves: 700_000n, fees: 13n }],
    ['ixName', { reserves: 700_000n, fees: 13n }],
    ['mayhemMode', { reserves: 700_000n, fees: 13n }],
    ['cashbackFeeBasisPoints', { reserves: 700_000n, fees: 13n }],
    ['buybackFeeBasisPoints', { reserves: 700_000n, fees: 13n }],
    ['holderRewardsBps', { reserves: 700_000n, fees: 13n }],
    ['creatorFeeUnclaimed', { reserves: 700_000n, fees: 13n }]
  ] as const
  for (const [field, expected] of firstOfVersion) {
    const event = tradeEvent.write(until(trade, field) as never)
    const fee = lamportTransfer('trader', 'fee recipient', 10n)
    const { events, notes } = outer({
      inner: [SENT, lamportTransfer('trader', 'curve', 1000n), fee, stating(PUMP, event)]
    })
    t.same(notes, [], field)
    const [read] = events as Trade[]
    t.equal(read!.inAmount, 1000n)
    t.equal(read!.outAmount, 2000n)
    t.equal(read!.traderIn - read!.inAmount, expected.fees, `fees until ${field}`)
    t.equal(read!.reserves!.out ?? null, expected.reserves)
  }
})

t.test('a body longer than the newest is read and reported as drift', async (t) => {
  const event = Uint8Array.from([...tradeEvent.write(trade), 1, 2, 3])
  const { events, notes } = outer({ inner: [SENT, stating(PUMP, event)] })
  t.equal(events.length, 1)
  t.match(notes, [{ kind: 'drift', layout: 'TradeEvent', bytes: 3 }])
})

t.test('a trade is whole: legs, totals, fees, reserves and what the trader fixed', async (t) => {
  const event = tradeEvent.write({ ...trade, creatorFee: 7n, holderRewards: 3n, cashback: 2n })
  const { events } = outer({ inner: [SENT, stating(PUMP, event)] })
  t.match(plain(events[0]), {
    kind: 'trade',
    pool: text(keyOf('curve')),
    user: text(keyOf('trader')),
    inMint: SOL,
    outMint: text(keyOf('coin')),
    inDecimals: 9,
    outDecimals: 6,
    inAmount: 1000n,
    outAmount: 2000n,
    traderIn: 1019n,
    traderOut: 2000n,
    fees: [
      { kind: 'protocol', mint: SOL, amount: 10n },
      { kind: 'creator', mint: SOL, amount: 4n },
      { kind: 'holder-rewards', mint: SOL, amount: 3n },
      { kind: 'cashback', mint: SOL, amount: 2n }
    ],
    reserves: { in: 1000n, out: 700_000n, virtualIn: 31_000n, virtualOut: 998_000n },
    exact: 'out'
  })
})

t.test('a sale without a stated fee takes it from what the recipient gained', async (t) => {
  const event = tradeEvent.write(until({ ...trade, isBuy: false }, 'feeRecipient') as never)
  const built = buildTransaction({
    signers: ['trader'],
    balances: COIN,
    calls: [
      { ...lamportTransfer('trader', 'fee recipient', 500n) },
      call({ data: sell.write({ amount: 2000n, minSolOutput: 0n }), inner: [RETURNED, stating(PUMP, event)] })
    ]
  })
  const recipient = Array.from({ length: built.keys.length }, (_, i) => i).find((i) =>
    samePubkey(built.keys.bytes(i), keyOf('fee recipient'))
  )!
  const measured = decodeTransaction({ ...built, postBalances: built.postBalances.with(recipient, 511) })
  t.match(plain(measured.events), [{ inAmount: 2000n, outAmount: 1000n, traderOut: 989n, exact: 'in' }])
  const unmeasured = decodeTransaction({ ...built, preBalances: [], postBalances: [] })
  t.match(plain(unmeasured.events), [
    { outAmount: 1000n, traderOut: 990n, reserves: { in: 700_000n, out: 1000n } }
  ])
})

t.test('a coin quoted in another coin trades against it', async (t) => {
  const event = tradeEvent.write({
    ...trade,
    solAmount: 0n,
    quoteMint: keyOf('usdc'),
    quoteAmount: 500n,
    virtualQuoteReserves: 9_000n,
    realQuoteReserves: 600n,
    feeRecipient: new Uint8Array(32),
    ixName: 'buy_v3'
  })
  const paid = checkedTransfer('usdc account', 'usdc', 'curve usdc', 'trader', 508n, 6)
  const data = buyV3.write({ amount: 2000n, maxSolCost: 600n })
  const { events, notes } = outer({ data, accounts: V3, inner: [paid, SENT, stating(PUMP, event)] })
  t.same(notes, [])
  t.match(plain(events), [
    {
      pool: text(keyOf('curve')),
      inMint: text(keyOf('usdc')),
      inDecimals: 6,
      inAmount: 500n,
      traderIn: 513n,
      reserves: { in: 600n, out: 700_000n, virtualIn: 9_000n, virtualOut: 998_000n }
    }
  ])
})

const later = {
  user: keyOf('trader'),
  mint: keyOf('coin'),
  bondingCurve: keyOf('curve'),
  quoteMint: new Uint8Array(32),
  timestamp: 1n,
  baseOut: 300n,
  quoteIn: 200n,
  feeBasisPoints: 95n,
  fee: 2n,
  creatorFeeBasisPoints: 30n,
  creatorFee: 1n,
  buybackFee: 1n,
  poolBaseReservesBefore: 206_900n,
  poolQuoteReservesBefore: 85_000n,
  poolBaseReservesAfter: 206_600n,
  poolQuoteReservesAfter: 85_200n
}
const complete = { user: keyOf('trader'), mint: keyOf('coin'), bondingCurve: keyOf('curve'), timestamp: 1n }

t.test('a completing buy is two fills and one completed curve, in the order of the events', async (t) => {
  const last = tradeEvent.write({ ...trade, realTokenReserves: 0n, ixName: 'buy_v3' })
  const { events, notes } = outer({
    data: buyV3.write({ amount: 2300n, maxSolCost: 9999n }),
    accounts: V3.with(2, SOL),
    inner: [
      checkedTransfer('curve coins', 'coin', 'trader coins', 'curve', 2300n, 6),
      stating(PUMP, last),
      stating(PUMP, completeEvent.write({ ...complete, quoteMint: new Uint8Array(32) })),
      stating(PUMP, postCompleteBuyEvent.write(later))
    ]
  })
  t.same(notes, [])
  t.match(plain(events), [
    { kind: 'trade', inAmount: 1000n, outAmount: 2000n, innerIxIndex: null, reserves: { out: 0n } },
    {
      kind: 'curve',
      event: 'complete',
      progressPct: 100,
      quoteMint: SOL,
      reserves: { realBase: 0n, realQuote: 1000n, virtualBase: 998_000n, virtualQuote: 31_000n }
    },
    {
      kind: 'trade',
      pool: text(keyOf('curve')),
      inAmount: 200n,
      traderIn: 203n,
      outAmount: 300n,
      innerIxIndex: 3,
      reserves: { in: 85_200n, out: 206_600n }
    }
  ])
})

t.test('the oldest CompleteEvent, without a quote, completes a SOL curve', async (t) => {
  const { events } = outer({
    inner: [SENT, stating(PUMP, tradeEvent.write(trade)), stating(PUMP, completeEvent.write(complete))]
  })
  t.match(plain((events as CurveChange[])[1]), {
    event: 'complete',
    quoteMint: SOL,
    curve: text(keyOf('curve'))
  })
})

t.test('an event is read from the log only when it is whole and nothing is stated', async (t) => {
  const event = tradeEvent.write(trade)
  t.equal(outer({ inner: [SENT], logged: [event] }).events.length, 1, 'logged only')
  t.equal(
    outer({ inner: [SENT, stating(PUMP, event)], logged: [event] }).events.length,
    1,
    'stated and logged'
  )
  const cut = [`Program ${PUMP} invoke [1]`, `Program data: ${event.toBase64()}`, 'Log truncated']
  const { events, notes } = outer({ inner: [SENT] }, { logs: cut })
  t.same(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'event-missing' }])
  t.match(outer({ inner: [SENT] }, { logs: null }).notes, [{ reason: 'event-missing' }])
})

t.test('a trade is held back when the curve sent another amount than its event states', async (t) => {
  const sent = checkedTransfer('curve coins', 'coin', 'trader coins', 'curve', 1999n, 6)
  const { events, notes } = outer({ inner: [sent, stating(PUMP, tradeEvent.write(trade))] })
  t.same(events, [])
  t.match(notes, [{ kind: 'disagreement' }, { kind: 'missing', reason: 'readings-contradict' }])
})

t.test('an event of an unknown instruction is a trade of the curve whose tokens moved', async (t) => {
  const data = Uint8Array.fromHex('ffffffffffffffff')
  const bought = outer({ data, accounts: ['x'], inner: [SENT, stating(PUMP, tradeEvent.write(trade))] })
  t.match(plain(bought.events), [{ pool: text(keyOf('curve')), outAmount: 2000n, exact: 'out' }])
  t.match(bought.notes, [{ kind: 'unknown-instruction', discriminator: 'ffffffffffffffff' }])
  const event = tradeEvent.write({ ...trade, isBuy: false, ixName: 'sell_v9' })
  const sold = outer({ data, accounts: [], inner: [RETURNED, stating(PUMP, event)] })
  t.match(plain(sold.events), [{ pool: text(keyOf('curve')), inAmount: 2000n, exact: 'in' }])
  const lost = outer({ data, accounts: [], inner: [stating(PUMP, event)] })
  t.same(lost.events, [])
  t.match(lost.notes, [{ reason: 'accounts-unknown' }, { kind: 'unknown-instruction' }])
})

function nested(user: string, more: Partial<TransactionSpec> = {}) {
  const event = tradeEvent.write({ ...trade, user: keyOf(user) })
  const inner = [call({ accounts: V1.with(6, user), inner: [SENT, stating(PUMP, event)] })]
  return decodeSpec({
    signers: ['payer', 'trader'],
    balances: COIN,
    calls: [{ program: 'bot', accounts: [], data: new Uint8Array(), inner }],
    ...more
  })
}

t.test(
  'below another program the trader is the user that signed, else the address that the event states',
  async (t) => {
    t.match(plain(nested('trader').events), [{ user: text(keyOf('trader')), innerIxIndex: 0 }])
    t.match(plain(nested('vault of the bot').events), [
      { user: text(keyOf('vault of the bot')), innerIxIndex: 0 }
    ])
  }
)

t.test('one nested trade is read without stack heights and without a log', async (t) => {
  const { events, notes } = nested('trader', { heights: false, logs: null })
  t.same(notes, [])
  t.match(plain(events), [{ inAmount: 1000n, outAmount: 2000n, user: text(keyOf('trader')) }])
})

t.test(
  'a call that trades two curves finds each in its list, and names the second by its own event',
  async (t) => {
    const first = tradeEvent.write({ ...trade, mint: keyOf('quote coin'), ixName: 'multi_hop_swap' })
    const second = tradeEvent.write({
      ...trade,
      tokenAmount: 70n,
      quoteMint: keyOf('quote coin'),
      quoteAmount: 2000n,
      ixName: 'multi_hop_swap'
    })
    const { events, notes } = outer(
      {
        data: multiHopCurveSwap.write({}),
        accounts: [
          'global',
          'quote coin',
          SOL,
          'curve A',
          'A coins',
          'A sol',
          'coin',
          'quote coin',
          'curve',
          'curve coins',
          'curve quote'
        ],
        inner: [
          tokenTransfer('A coins', 'curve quote', 'curve A', 2000n),
          stating(PUMP, first),
          tokenTransfer('curve coins', 'trader coins', 'curve', 70n),
          stating(PUMP, second)
        ]
      },
      {
        balances: [
          ...COIN,
          { account: 'A coins', mint: 'quote coin', owner: 'curve A', decimals: 6, before: 9000n }
        ]
      }
    )
    t.same(notes, [])
    t.match(plain(events), [
      {
        pool: text(keyOf('curve A')),
        inMint: SOL,
        outAmount: 2000n,
        innerIxIndex: null,
        exact: 'in',
        route: { hop: 1, hops: 2 }
      },
      {
        pool: text(keyOf('curve')),
        inMint: text(keyOf('quote coin')),
        inAmount: 2000n,
        outAmount: 70n,
        innerIxIndex: 3
      }
    ])
  }
)

const created = {
  name: 'Coin',
  symbol: 'COIN',
  uri: 'https://coin.test',
  mint: keyOf('coin'),
  bondingCurve: keyOf('curve'),
  user: keyOf('trader'),
  creator: keyOf('creator'),
  timestamp: 1n,
  virtualTokenReserves: 1073n,
  virtualSolReserves: 30n,
  realTokenReserves: 793n,
  tokenTotalSupply: 1000n,
  tokenProgram: keyOf('token program'),
  isMayhemMode: false,
  isCashbackEnabled: false,
  quoteMint: keyOf('usdc'),
  virtualQuoteReserves: 44n,
  creatorFeeBps: 30n,
  isHolderReward: false,
  depth: 0
}

t.test('a creation is a launch and a curve, in every version of its event', async (t) => {
  for (const field of [
    'creator',
    'virtualTokenReserves',
    'tokenProgram',
    'quoteMint',
    'depth',
    'past the end'
  ]) {
    const body = field === 'past the end' ? created : until(created, field)
    const oldest = field === 'creator'
    const quoted = field === 'depth' || field === 'past the end'
    const { events, notes } = outer({
      data: createV2.write({ name: '', symbol: '', uri: '', creator: keyOf('creator'), isMayhemMode: false }),
      accounts: ['coin', 'authority', 'curve', 'curve coins', 'global', 'trader'],
      inner: [stating(PUMP, createEvent.write(body as never))]
    })
    t.same(notes, [], field)
    t.match(plain(events), [
      {
        kind: 'launch',
        event: 'create',
        name: 'Coin',
        symbol: 'COIN',
        uri: 'https://coin.test',
        creator: text(keyOf(oldest ? 'trader' : 'creator')),
        decimals: 6,
        supply: oldest || field === 'virtualTokenReserves' ? null : 1000n,
        quoteMint: quoted ? text(keyOf('usdc')) : SOL,
        curve: text(keyOf('curve'))
      },
      {
        kind: 'curve',
        event: 'create',
        progressPct: 0,
        reserves:
          oldest || field === 'virtualTokenReserves'
            ? null
            : { realBase: 793n, virtualBase: 1073n, virtualQuote: quoted ? 44n : 30n }
      }
    ])
  }
})

t.test(
  'a migration leads to its pool; a migrate instruction that did nothing is no graduation',
  async (t) => {
    const migrate = Uint8Array.fromHex('9beae792ec9ea21e')
    const accounts = Array.from({ length: 24 }, (_, i) => `account ${i}`)
    const idle = outer({ data: migrate, accounts, inner: [] })
    t.same(idle, { events: [], notes: [] })
    const event = migrationEvent.write({
      user: keyOf('trader'),
      mint: keyOf('coin'),
      mintAmount: 1n,
      solAmount: 2n,
      poolMigrationFee: 3n,
      bondingCurve: keyOf('curve'),
      timestamp: 1n,
      pool: keyOf('the pool'),
      quoteMint: new Uint8Array(32)
    })
    const { events, notes } = outer({ data: migrate, accounts, inner: [stating(PUMP, event)] })
    t.same(notes, [])
    t.match(plain(events), [
      {
        kind: 'curve',
        event: 'migrate',
        curve: text(keyOf('curve')),
        destination: text(keyOf('the pool')),
        quoteMint: SOL
      }
    ])
  }
)

t.test('a trade of nothing, and one whose decimals nobody states, are held back', async (t) => {
  const nothing = outer({
    inner: [stating(PUMP, tradeEvent.write({ ...trade, solAmount: 0n, quoteAmount: 0n }))]
  })
  t.match(nothing, { events: [], notes: [{ reason: 'zero-amount' }] })
  const unknown = outer({ inner: [stating(PUMP, tradeEvent.write(trade))] }, { balances: [] })
  // INVARIANTS 2
  t.match(unknown, { events: [], notes: [{ reason: 'decimals-unknown' }] })
})

t.test('a failed transaction gives nothing', async (t) => {
  t.same(outer({ inner: [SENT, stating(PUMP, tradeEvent.write(trade))] }, { failed: true }), {
    events: [],
    notes: []
  })
})
