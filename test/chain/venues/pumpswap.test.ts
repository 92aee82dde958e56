import t from 'tap'
import type { Trade } from '../../../src/chain/events.ts'
import { pumpfun } from '../../../src/chain/venues/pumpfun.ts'
import { tradeEvent } from '../../../src/chain/venues/pumpfun-events.ts'
import { multiHopCurveSwap } from '../../../src/chain/venues/pumpfun-instructions.ts'
import { pumpswap } from '../../../src/chain/venues/pumpswap.ts'
import {
  buyEvent,
  createPoolEvent,
  depositEvent,
  sellEvent,
  withdrawEvent
} from '../../../src/chain/venues/pumpswap-events.ts'
import {
  boostBuyAndBurn,
  buy,
  buyExactQuoteIn,
  createPool,
  deposit,
  multiHopSwap,
  sellV2,
  withdraw
} from '../../../src/chain/venues/pumpswap-instructions.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  checkedTransfer,
  keyOf,
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

const SWAP = pumpswap.programs[0]!
const PUMP = pumpfun.programs[0]!

t.test('every discriminator is the hash of its name', async (t) => checkDiscriminators(t, pumpswap))
t.test('every layout reads what it writes', async (t) => layoutsReadWhatTheyWrite(t, pumpswap))
t.test('no bytes make the decoder throw', async (t) => anyCallDecodes(t, pumpswap))

testWithFixtures(t, 'every vector reads as its source says', (t) => {
  // The source names two values that the bytes do not hold.
  const aliases = { coin_creator_fee_bps: null, coin_creator_fee: null }
  for (const vector of readVectors(fixturesDirectory(), 'pumpswap')) {
    const compared = compareVector(pumpswap, vector, vector.name.startsWith('unpack_create') ? aliases : {})
    t.same(compared.differences, [], vector.name)
  }
})

testWithFixtures(t, 'every recorded transaction decodes, and agrees with the balances of its vaults', (t) => {
  let checked = 0
  for (const { entry, result, decoded } of recorded('pumpswap')) {
    t.same(
      decoded.notes.filter(({ venue }) => venue === 'pumpswap'),
      [],
      entry.file
    )
    const names = entry.instructions.pumpswap ?? []
    const events = decoded.events.filter(({ venue }) => venue === 'pumpswap')
    t.equal(events.length, names.filter((name) => !name.startsWith('disc:')).length, entry.file)
    for (const event of events) {
      const pool = text(event.pool)
      if (events.filter((other) => text(other.pool) === pool).length > 1) continue
      checked++
      if (event.kind === 'liquidity') {
        const sign = event.event === 'add' ? 1n : -1n
        for (const [mint, amount] of [
          [event.baseMint, event.baseAmount],
          [event.quoteMint, event.quoteAmount]
        ] as const) {
          const { before, after } = holdings(result, pool, text(mint!))
          t.equal(after - before, sign * amount, `liquidity of ${entry.file}`)
        }
      }
      if (event.kind !== 'trade') continue
      const paid = holdings(result, pool, text(event.inMint))
      const given = holdings(result, pool, text(event.outMint))
      t.equal(paid.after - paid.before, event.inAmount, `in of ${entry.file}`)
      t.equal(given.before - given.after, event.outAmount, `out of ${entry.file}`)
      t.same(event.reserves, { in: paid.after, out: given.after }, `reserves of ${entry.file}`)
      const beside = event.fees.filter(({ kind }) => kind !== 'lp')
      const fees = beside.reduce((sum, { amount }) => sum + amount, 0n)
      t.equal(
        event.traderIn - event.inAmount + event.outAmount - event.traderOut,
        fees,
        `fees of ${entry.file}`
      )
    }
  }
  t.ok(checked >= 25, `${checked} events`)
})

testWithFixtures(t, 'a recorded sale is what its source expects', (t) => {
  let compared = 0
  for (const { entry, decoded } of recorded('pumpswap')) {
    for (const { from, values } of entry.expected) {
      const [stated] = values as Record<string, string>[]
      if (!from.startsWith('0xfnzero') || stated?.base_amount_in === undefined) continue
      const [trade] = decoded.events.filter(({ venue }) => venue === 'pumpswap') as Trade[]
      t.match(stated, {
        base_amount_in: String(trade!.inAmount),
        quote_amount_out_without_lp_fee: String(trade!.outAmount),
        user_quote_amount_out: String(trade!.traderOut),
        pool: text(trade!.pool),
        user: text(trade!.user)
      })
      compared++
    }
  }
  t.ok(compared > 0)
})

// Fields of the newest events for synthetic transactions: 1,000 base for 502 quote in the vault.
const common = {
  timestamp: 1n,
  userBaseTokenReserves: 0n,
  userQuoteTokenReserves: 9_000n,
  poolBaseTokenReserves: 100_000n,
  poolQuoteTokenReserves: 50_000n,
  lpFeeBasisPoints: 20n,
  lpFee: 2n,
  protocolFeeBasisPoints: 5n,
  protocolFee: 4n,
  pool: keyOf('pool'),
  user: keyOf('trader'),
  userBaseTokenAccount: keyOf('trader base'),
  userQuoteTokenAccount: keyOf('trader quote'),
  protocolFeeRecipient: keyOf('protocol'),
  protocolFeeRecipientTokenAccount: keyOf('protocol quote')
}
const tail = {
  cashbackFeeBasisPoints: 0n,
  cashback: 0n,
  buybackFeeBasisPoints: 0n,
  buybackFee: 1n,
  virtualQuoteReserves: -30n,
  canBoost: false,
  baseSupply: 1n,
  holderRewardsBps: 0n,
  holderRewards: 0n,
  creatorFeeUnclaimed: 0n
}
const creator = { coinCreator: keyOf('creator'), coinCreatorFeeBasisPoints: 5n, coinCreatorFee: 3n }
const bought = {
  ...common,
  baseAmountOut: 1000n,
  maxQuoteAmountIn: 9_000n,
  quoteAmountIn: 500n,
  quoteAmountInWithLpFee: 502n,
  userQuoteAmountIn: 509n,
  ...creator,
  trackVolume: true,
  totalUnclaimedTokens: 0n,
  totalClaimedTokens: 0n,
  currentSolVolume: 0n,
  lastUpdateTimestamp: 0n,
  minBaseAmountOut: 1n,
  ixName: 'buy',
  ...tail
}
const sold = {
  ...common,
  baseAmountIn: 1000n,
  minQuoteAmountOut: 1n,
  quoteAmountOut: 504n,
  quoteAmountOutWithoutLpFee: 502n,
  userQuoteAmountOut: 495n,
  ...creator,
  ...tail
}

const ACCOUNTS = [
  'pool',
  'trader',
  'config',
  'coin',
  SOL,
  'trader base',
  'trader quote',
  'base vault',
  'quote vault',
  'protocol',
  'protocol quote'
]
const BALANCES = [{ account: 'base vault', mint: 'coin', owner: 'pool', decimals: 6, before: 100_000n }]
const sent = (amount: bigint): CallSpec =>
  checkedTransfer('base vault', 'coin', 'trader base', 'pool', amount, 6)
const paid = (amount: bigint, to = 'quote vault'): CallSpec =>
  checkedTransfer('trader quote', SOL, to, 'trader', amount, 9)
const given = (amount: bigint, to = 'trader quote'): CallSpec =>
  checkedTransfer('quote vault', SOL, to, 'pool', amount, 9)
const returned = checkedTransfer('trader base', 'coin', 'base vault', 'trader', 1000n, 6)
const BUY = buy.write({ baseAmountOut: 1000n, maxQuoteAmountIn: 9_000n })

function outer(call: Partial<CallSpec>, more: Partial<TransactionSpec> = {}) {
  const calls = [{ program: SWAP, accounts: ACCOUNTS, data: BUY, ...call }]
  return decodeSpec({ signers: ['trader'], balances: BALANCES, calls, ...more })
}

t.test('a buy is whole: legs, totals, fees, reserves after it and what the trader fixed', async (t) => {
  const event = buyEvent.write({ ...bought, holderRewards: 1n, cashback: 2n, userQuoteAmountIn: 511n })
  const { events, notes } = outer({
    inner: [
      sent(1000n),
      paid(502n),
      paid(4n, 'protocol quote'),
      paid(3n, 'creator quote'),
      stating(SWAP, event)
    ]
  })
  t.same(notes, [])
  t.match(plain(events), [
    {
      pool: text(keyOf('pool')),
      user: text(keyOf('trader')),
      inMint: SOL,
      outMint: text(keyOf('coin')),
      inAmount: 502n,
      outAmount: 1000n,
      traderIn: 511n,
      traderOut: 1000n,
      fees: [
        { kind: 'lp', amount: 2n },
        { kind: 'protocol', amount: 4n },
        { kind: 'creator', amount: 2n },
        { kind: 'holder-rewards', amount: 1n },
        { kind: 'cashback', amount: 2n }
      ],
      reserves: { in: 50_502n, out: 99_000n },
      exact: 'out'
    }
  ])
})

t.test('a trade reads the same in every version of its event', async (t) => {
  const appended = ['trackVolume', 'minBaseAmountOut', ...Object.keys(tail)]
  const starts = [
    'coinCreator',
    ...appended.filter((name) => !/^(cashback|buybackFee|holderRewards)$/.test(name))
  ]
  for (const field of starts) {
    const event = buyEvent.write(until(bought, field) as never)
    const { events, notes } = outer({ inner: [sent(1000n), paid(502n), stating(SWAP, event)] })
    t.same(notes, [], field)
    t.match(plain(events), [{ inAmount: 502n, outAmount: 1000n, traderIn: 509n }])
  }
  for (const field of starts.filter((name) => name in sold)) {
    const event = sellEvent.write(until(sold, field) as never)
    const { events, notes } = outer({
      data: sellV2.write({ baseAmountIn: 1n, minQuoteAmountOut: 1n }),
      inner: [returned, given(502n), stating(SWAP, event)]
    })
    t.same(notes, [], field)
    t.match(plain(events), [{ inAmount: 1000n, outAmount: 502n, traderOut: 495n, exact: 'in' }])
  }
})

t.test(
  'a buy of an exact quote that states the amounts turned around: the trader paid the fees too',
  async (t) => {
    const event = { ...bought, quoteAmountIn: 509n, userQuoteAmountIn: 500n, ixName: 'buy_exact_quote_in' }
    const { events, notes } = outer({
      data: buyExactQuoteIn.write({ spendableQuoteIn: 509n, minBaseAmountOut: 1n }),
      inner: [
        sent(1000n),
        paid(502n),
        paid(4n, 'protocol quote'),
        paid(3n, 'creator quote'),
        stating(SWAP, buyEvent.write(event))
      ]
    })
    t.same(notes, [])
    t.match(plain(events), [{ inAmount: 502n, outAmount: 1000n, traderIn: 509n, exact: 'in' }])
  }
)

t.test('body sizes are those that were seen on the chain', async (t) => {
  t.equal(buyEvent.write(bought).length - 8, 481)
  t.equal(buyEvent.write({ ...bought, ixName: 'buy_exact_quote_in_v2' }).length - 8, 499)
  t.equal(sellEvent.write(sold).length - 8, 433)
})

t.test('a sale that leaves its fees in the vault counts them in the reserves, not in the fill', async (t) => {
  const { events } = outer({
    data: sellV2.write({ baseAmountIn: 1000n, minQuoteAmountOut: 1n }),
    inner: [returned, given(495n), given(1n, 'buyback'), stating(SWAP, sellEvent.write(sold))]
  })
  t.match(plain(events), [{ outAmount: 502n, traderOut: 495n, reserves: { in: 101_000n, out: 49_504n } }])
})

t.test('a pool with SOL as its base: a buy sells the coin', async (t) => {
  const { events } = outer({
    accounts: ACCOUNTS.with(3, SOL).with(4, 'coin'),
    data: buyExactQuoteIn.write({ spendableQuoteIn: 509n, minBaseAmountOut: 1n }),
    inner: [stating(SWAP, buyEvent.write({ ...bought, ixName: 'buy_exact_quote_in' }))]
  })
  t.match(plain(events), [
    {
      inMint: text(keyOf('coin')),
      outMint: SOL,
      inAmount: 502n,
      outAmount: 1000n,
      exact: 'in',
      reserves: null
    }
  ])
})

t.test('a buyer of a coin that charges transfers is credited less than the vault sent', async (t) => {
  const fee = checkedTransfer('base vault', 'coin', 'trader base', 'pool', 1000n, 6, { fee: 40n })
  const { events } = outer({ inner: [fee, paid(502n), stating(SWAP, buyEvent.write(bought))] })
  t.match(plain(events), [{ outAmount: 1000n, traderOut: 960n, reserves: { out: 99_000n } }])
})

t.test('a trade is held back when the base vault sent another amount than its event states', async (t) => {
  const { events, notes } = outer({ inner: [sent(999n), paid(502n), stating(SWAP, buyEvent.write(bought))] })
  t.same(events, [])
  t.match(notes, [{ kind: 'disagreement' }, { kind: 'missing', reason: 'readings-contradict' }])
})

t.test('an event is read from the log only when it is whole and nothing is stated', async (t) => {
  const event = buyEvent.write(bought)
  t.equal(outer({ inner: [sent(1000n), paid(502n)], logged: [event] }).events.length, 1, 'logged only')
  t.equal(outer({ inner: [sent(1000n), stating(SWAP, event)], logged: [event] }).events.length, 1, 'both')
  t.match(outer({ inner: [sent(1000n)] }, { logs: null }), {
    events: [],
    notes: [{ reason: 'event-missing' }]
  })
})

t.test('an event of an unknown instruction is a trade between the mints of the user', async (t) => {
  const mints = [
    ...BALANCES,
    { account: 'trader base', mint: 'coin', owner: 'trader', decimals: 6 },
    { account: 'trader quote', mint: SOL, owner: 'trader', decimals: 9 }
  ]
  const data = Uint8Array.fromHex('ffffffffffffffff')
  const { events, notes } = outer(
    { data, accounts: ['x', 'trader base', 'trader quote'], inner: [stating(SWAP, buyEvent.write(bought))] },
    { balances: mints }
  )
  t.match(plain(events), [{ inMint: SOL, outMint: text(keyOf('coin')), inAmount: 502n, exact: 'out' }])
  t.match(notes, [{ kind: 'unknown-instruction' }])
  t.match(outer({ data, accounts: [], inner: [stating(SWAP, buyEvent.write(bought))] }), {
    events: [],
    notes: [{ reason: 'mint-unknown' }, { kind: 'unknown-instruction' }]
  })
})

t.test('the setters of a creator fee are known instructions with known events', async (t) => {
  for (const [instruction, event] of [
    ['4259caed08769ea9', 'e68af19e1ce8e4d3'],
    ['cc4156cf6e54ef68', 'bfc67fbc6dae0969']
  ] as const) {
    const stated = Uint8Array.from([...Uint8Array.fromHex(event), ...new Uint8Array(120)])
    const data = Uint8Array.from([...Uint8Array.fromHex(instruction), ...new Uint8Array(8)])
    t.same(outer({ data, accounts: ['admin', 'pool'], inner: [stating(SWAP, stated)] }), {
      events: [],
      notes: []
    })
  }
})

t.test('a boost buys and burns without a trade', async (t) => {
  const event = buyEvent.write({ ...bought, user: keyOf('boost vault') })
  const data = boostBuyAndBurn.write({ quoteAmountIn: 500n, minBaseAmountBurned: 1n })
  t.same(outer({ data, inner: [sent(1000n), stating(SWAP, event)] }), { events: [], notes: [] })
})

t.test(
  'below a router the trader is the signer whose lamports changed, else the address that paid',
  async (t) => {
    const event = buyEvent.write({ ...bought, user: keyOf('router vault') })
    const inner = [
      {
        program: SWAP,
        accounts: ACCOUNTS.with(1, 'router vault'),
        data: BUY,
        inner: [sent(1000n), stating(SWAP, event)]
      }
    ]
    const calls = [{ program: 'router', accounts: [], data: new Uint8Array(), inner }]
    const spec = { signers: ['payer'], balances: BALANCES, calls }
    const owned = decodeSpec(spec)
    t.match(plain(owned.events), [{ user: text(keyOf('router vault')), innerIxIndex: 0 }])
    const paid = decodeSpec({ ...spec, lamports: { payer: [20_000, 1_000] } })
    t.match(plain(paid.events), [{ user: text(keyOf('payer')), innerIxIndex: 0 }])
  }
)

const FIXED = Array.from({ length: 16 }, (_, i) => `fixed ${i}`)

t.test('a route through a pool and a curve is two fills, each of its own venue', async (t) => {
  const hop = tradeEvent.write({
    mint: keyOf('second'),
    solAmount: 0n,
    tokenAmount: 70n,
    isBuy: true,
    user: keyOf('trader'),
    timestamp: 1n,
    virtualSolReserves: 0n,
    virtualTokenReserves: 998n,
    realSolReserves: 0n,
    realTokenReserves: 700n,
    feeRecipient: new Uint8Array(32),
    feeBasisPoints: 0n,
    fee: 0n,
    creator: keyOf('creator'),
    creatorFeeBasisPoints: 30n,
    creatorFee: 3n,
    trackVolume: false,
    totalUnclaimedTokens: 0n,
    totalClaimedTokens: 0n,
    currentSolVolume: 0n,
    lastUpdateTimestamp: 0n,
    ixName: 'multi_hop_swap',
    mayhemMode: false,
    cashbackFeeBasisPoints: 0n,
    cashback: 0n,
    buybackFeeBasisPoints: 0n,
    buybackFee: 0n,
    shareholders: [],
    quoteMint: keyOf('coin'),
    quoteAmount: 997n,
    virtualQuoteReserves: 44n,
    realQuoteReserves: 33n
  })
  const poolHop = ['coin', SOL, 'pool', 'base vault', 'quote vault']
  const curveHop = ['second', 'coin', 'curve', 'curve coins', 'curve quote']
  const { events, notes } = outer(
    {
      accounts: [...FIXED, ...poolHop, ...curveHop],
      data: multiHopSwap.write({ amountIn: 509n, minAmountOut: 1n }),
      inner: [
        paid(502n),
        stating(SWAP, buyEvent.write({ ...bought, ixName: 'multi_hop_swap' })),
        checkedTransfer('base vault', 'coin', 'curve quote', 'pool', 1000n, 6),
        {
          program: PUMP,
          accounts: ['global', ...curveHop],
          data: multiHopCurveSwap.write({}),
          inner: [tokenTransfer('curve coins', 'trader second', 'curve', 70n), stating(PUMP, hop)]
        }
      ]
    },
    { balances: [...BALANCES, { account: 'curve coins', mint: 'second', owner: 'curve', decimals: 6 }] }
  )
  t.same(notes, [])
  t.match(plain(events), [
    {
      venue: 'pumpswap',
      inMint: SOL,
      outMint: text(keyOf('coin')),
      inAmount: 502n,
      outAmount: 1000n,
      exact: 'in',
      route: { hop: 1, hops: 2 }
    },
    {
      venue: 'pumpfun',
      pool: text(keyOf('curve')),
      inMint: text(keyOf('coin')),
      inAmount: 997n,
      traderIn: 1000n,
      outAmount: 70n,
      innerIxIndex: 3
    }
  ])
})

t.test('a route of curves only states nothing of its own', async (t) => {
  const curves = { program: PUMP, accounts: [], data: multiHopCurveSwap.write({}) }
  const { notes } = outer({
    accounts: FIXED,
    data: multiHopSwap.write({ amountIn: 1n, minAmountOut: 1n }),
    inner: [curves]
  })
  t.match(notes, [{ venue: 'pumpfun', reason: 'event-missing' }])
})

const LIQUIDITY = [
  'pool',
  'config',
  'trader',
  'coin',
  SOL,
  'lp mint',
  'trader base',
  'trader quote',
  'trader lp',
  'base vault',
  'quote vault'
]
const change = { ...common, lpMintSupply: 1n, userPoolTokenAccount: keyOf('trader lp') }

t.test('a deposit and a withdrawal change liquidity on both sides', async (t) => {
  const added = outer({
    accounts: LIQUIDITY,
    data: deposit.write({ lpTokenAmountOut: 7n, maxBaseAmountIn: 99n, maxQuoteAmountIn: 99n }),
    inner: [
      stating(
        SWAP,
        depositEvent.write({
          ...change,
          lpTokenAmountOut: 7n,
          maxBaseAmountIn: 99n,
          maxQuoteAmountIn: 99n,
          baseAmountIn: 11n,
          quoteAmountIn: 22n
        })
      )
    ]
  })
  t.match(plain(added.events), [
    {
      kind: 'liquidity',
      event: 'add',
      baseAmount: 11n,
      quoteAmount: 22n,
      lpAmount: 7n,
      baseMint: text(keyOf('coin')),
      quoteMint: SOL
    }
  ])
  const removed = outer({
    accounts: LIQUIDITY,
    data: withdraw.write({ lpTokenAmountIn: 7n, minBaseAmountOut: 1n, minQuoteAmountOut: 1n }),
    inner: [
      stating(
        SWAP,
        withdrawEvent.write({
          ...change,
          lpTokenAmountIn: 7n,
          minBaseAmountOut: 1n,
          minQuoteAmountOut: 1n,
          baseAmountOut: 11n,
          quoteAmountOut: 0n
        })
      )
    ]
  })
  t.match(plain(removed.events), [{ event: 'remove', baseAmount: 11n, quoteAmount: 0n, lpAmount: 7n }])
})

t.test('a pool is created with what its event states, in every version', async (t) => {
  const event = {
    timestamp: 1n,
    index: 0,
    creator: keyOf('trader'),
    baseMint: keyOf('coin'),
    quoteMint: keyOf('other'),
    baseMintDecimals: 5,
    quoteMintDecimals: 8,
    baseAmountIn: 10n,
    quoteAmountIn: 20n,
    poolBaseAmount: 9n,
    poolQuoteAmount: 19n,
    minimumLiquidity: 100n,
    initialLiquidity: 1n,
    lpTokenAmountOut: 1n,
    poolBump: 255,
    pool: keyOf('pool'),
    lpMint: keyOf('lp mint'),
    userBaseTokenAccount: keyOf('trader base'),
    userQuoteTokenAccount: keyOf('trader quote'),
    coinCreator: keyOf('creator'),
    isMayhemMode: false,
    creatorFeeBps: 30n,
    canEditCreatorFee: false,
    isHolderReward: true
  }
  for (const field of ['coinCreator', 'isMayhemMode', 'creatorFeeBps', 'isHolderReward', 'past the end']) {
    const body = field === 'past the end' ? event : until(event, field)
    const { events, notes } = outer({
      accounts: LIQUIDITY,
      data: createPool.write({ index: 0, baseAmountIn: 10n, quoteAmountIn: 20n }),
      inner: [stating(SWAP, createPoolEvent.write(body as never))]
    })
    t.same(notes, [], field)
    t.match(plain(events), [
      {
        kind: 'pool',
        event: 'create',
        pool: text(keyOf('pool')),
        baseMint: text(keyOf('coin')),
        quoteMint: text(keyOf('other')),
        baseVault: text(keyOf('base vault')),
        quoteVault: text(keyOf('quote vault')),
        initialBase: 9n,
        initialQuote: 19n
      }
    ])
  }
})
