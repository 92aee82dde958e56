import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { INITIALIZES } from '../../../src/chain/venues/meteora-damm-v1-layouts.ts'
import { meteoraDammV1 } from '../../../src/chain/venues/meteora-damm-v1.ts'
import {
  COMPLETE_EVENTS,
  LAUNCHES,
  LAUNCH_EVENTS,
  SWAP_2_EVENTS,
  migrateMeteoraDamm,
  migrationDammV2,
  swap,
  swap2,
  swap2WithTransferHook,
  swapEvent
} from '../../../src/chain/venues/meteora-dbc-layouts.ts'
import { meteoraDbc } from '../../../src/chain/venues/meteora-dbc.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import { buildTransaction, keyOf, mintTo, tokenTransfer, type CallSpec } from '../build-transaction.ts'
import { recordedVenue } from '../vault-check.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { selfCall } from './meteora-calls.ts'

const PROGRAM = meteoraDbc.programs[0]!

testWithFixtures(t, 'every vector agrees', (t) => {
  const vectors = readVectors(fixturesDirectory(), 'meteora-dbc')
  t.equal(vectors.length, 5)
  for (const vector of vectors) {
    const { found, differences } = compareVector(meteoraDbc, vector, { event: null, len: null })
    t.equal(found, vector.expected.event)
    t.strictSame(differences, [])
  }
})

testWithFixtures(t, 'a recorded sale leaves its fee out of the fill and in the total', (t) => {
  const [{ trades, notes, facts }] = [...recordedVenue('meteora-dbc', 'meteora-dbc')].filter(
    ({ entry }) => entry.instructions['meteora-dbc']![0] === 'swap'
  ) as [ReturnType<typeof recordedVenue> extends Generator<infer R> ? R : never]
  t.strictSame(notes, [])
  const [trade] = trades
  t.match(trade, { inAmount: 47_192_506_267n, outAmount: 553_734_498n, traderOut: 553_679_124n, exact: 'in' })
  const [call] = facts.calls(PROGRAM)
  t.equal(facts.tokenDifference(call!.accounts[5]!)!.amount, trade!.traderIn)
  t.equal(-facts.tokenDifference(call!.accounts[6]!)!.amount, trade!.traderOut)
  const fees = trade!.fees.reduce((sum, { amount }) => sum + amount, 0n)
  t.equal(trade!.outAmount - trade!.traderOut, fees)
  t.end()
})

testWithFixtures(t, 'a recorded migration leads to the pool that it created', (t) => {
  const [recorded] = [...recordedVenue('meteora-dbc', 'meteora-dbc')].filter(
    ({ entry }) => entry.instructions['meteora-dbc']![0] === 'migration_damm_v2'
  )
  t.strictSame(recorded!.notes, [])
  const [call] = recorded!.facts.calls(PROGRAM)
  t.match(recorded!.events, [
    {
      kind: 'curve',
      event: 'migrate',
      curve: keyOf(call!.accounts[0]!),
      destination: keyOf(call!.accounts[4]!),
      baseMint: keyOf(call!.accounts[13]!)
    }
  ])
  t.end()
})

const ACCOUNTS = [
  'authority',
  'config',
  'curve',
  'user in',
  'user out',
  'base vault',
  'quote vault',
  'base',
  'quote'
]
const SWAP_ACCOUNTS = [...ACCOUNTS, 'user', 'token', 'token', 'referral', 'events', PROGRAM]
const BALANCES = ['base', 'quote'].map((mint) => ({
  account: `${mint} vault`,
  mint,
  decimals: mint === 'base' ? 6 : 9
}))

/** A purchase that pays 100, of which the curve gets 90. */
const bought = {
  pool: keyOf('curve'),
  config: keyOf('config'),
  tradeDirection: 1,
  hasReferral: true,
  swapParameters: { amount0: 100n, amount1: 0n, swapMode: 1 },
  swapResult: {
    includedFeeInputAmount: 100n,
    excludedFeeInputAmount: 90n,
    amountLeft: 20n,
    outputAmount: 500n,
    nextSqrtPrice: 0n,
    tradingFee: 7n,
    protocolFee: 2n,
    referralFee: 1n
  },
  quoteReserveAmount: 90n,
  migrationThreshold: 900n,
  currentTimestamp: 0n
}
const boughtOld = {
  pool: keyOf('curve'),
  config: keyOf('config'),
  tradeDirection: 1,
  hasReferral: true,
  params: { amountIn: 100n, minimumAmountOut: 0n },
  swapResult: {
    actualInputAmount: 90n,
    outputAmount: 500n,
    nextSqrtPrice: 0n,
    tradingFee: 7n,
    protocolFee: 2n,
    referralFee: 1n
  },
  amountIn: 100n,
  currentTimestamp: 0n
}
const TRANSFERS = [
  tokenTransfer('user in', 'quote vault', 'user', 100n),
  tokenTransfer('base vault', 'user out', 'authority', 500n),
  tokenTransfer('quote vault', 'referral', 'authority', 1n)
]
const SWAP_2_DATA = swap2.write({ amount0: 100n, amount1: 0n, swapMode: 1 })

function decode(call: Partial<CallSpec>) {
  return decodeTransaction(
    buildTransaction({
      signers: ['user', 'creator'],
      calls: [{ program: PROGRAM, accounts: SWAP_ACCOUNTS, data: SWAP_2_DATA, ...call }],
      balances: BALANCES
    })
  )
}

const TRADE = {
  kind: 'trade',
  pool: keyOf('curve'),
  user: keyOf('user'),
  inMint: keyOf('quote'),
  outMint: keyOf('base'),
  inDecimals: 9,
  outDecimals: 6,
  inAmount: 90n,
  traderIn: 100n,
  outAmount: 500n,
  traderOut: 500n,
  fees: [
    { kind: 'trading', mint: keyOf('quote'), amount: 7n },
    { kind: 'protocol', mint: keyOf('quote'), amount: 2n },
    { kind: 'referral', mint: keyOf('quote'), amount: 1n }
  ]
}

void t.test('a purchase is one trade whichever of its events are there', async (t) => {
  const first = selfCall(PROGRAM, swapEvent.write(boughtOld))
  const second = selfCall(PROGRAM, SWAP_2_EVENTS[0].write(bought))
  for (const events of [[first], [second], [first, second]]) {
    const decoded = decode({ inner: [...TRANSFERS, ...events] })
    t.strictSame(decoded.notes, [])
    t.match(decoded.events, [{ ...TRADE, exact: 'in' }])
    t.equal(decoded.events.length, 1)
  }
})

void t.test('a sale with its fee on the output adds the fee to the fill', async (t) => {
  const swapResult = {
    ...bought.swapResult,
    includedFeeInputAmount: 500n,
    excludedFeeInputAmount: 500n,
    outputAmount: 80n
  }
  const { events, notes } = decode({
    data: swap.write({ amountIn: 500n, minimumAmountOut: 0n }),
    inner: [
      tokenTransfer('user in', 'base vault', 'user', 500n),
      tokenTransfer('quote vault', 'user out', 'authority', 80n),
      selfCall(PROGRAM, SWAP_2_EVENTS[0].write({ ...bought, tradeDirection: 0, swapResult }))
    ]
  })
  t.strictSame(notes, [])
  t.match(events, [
    {
      inMint: keyOf('base'),
      outMint: keyOf('quote'),
      inAmount: 500n,
      traderIn: 500n,
      outAmount: 90n,
      traderOut: 80n,
      exact: 'in'
    }
  ])
})

void t.test('a purchase with its fee on the output takes it in the base token', async (t) => {
  const swapResult = { ...bought.swapResult, excludedFeeInputAmount: 100n }
  const { events } = decode({
    data: swap2.write({ amount0: 500n, amount1: 100n, swapMode: 2 }),
    inner: [...TRANSFERS, selfCall(PROGRAM, SWAP_2_EVENTS[0].write({ ...bought, swapResult }))]
  })
  t.match(events, [
    {
      inAmount: 100n,
      outAmount: 510n,
      traderOut: 500n,
      exact: 'out',
      fees: [{ mint: keyOf('base') }, {}, {}]
    }
  ])
})

void t.test('the trade that completes the curve is followed by the completion', async (t) => {
  const completed = { pool: keyOf('curve'), config: keyOf('config'), baseReserve: 5n, quoteReserve: 900n }
  const hook = { slices: [] }
  for (const [index, data] of [
    SWAP_2_DATA,
    swap2WithTransferHook.write({ amount0: 100n, amount1: 0n, swapMode: 1, transferHookAccountsInfo: hook }),
    new Uint8Array(8)
  ].entries()) {
    const { events } = decode({
      data,
      inner: [
        ...TRANSFERS,
        selfCall(PROGRAM, SWAP_2_EVENTS[index === 1 ? 1 : 0].write(bought)),
        selfCall(PROGRAM, COMPLETE_EVENTS[index === 1 ? 1 : 0].write(completed))
      ]
    })
    t.match(events, [
      TRADE,
      {
        kind: 'curve',
        event: 'complete',
        curve: keyOf('curve'),
        baseMint: keyOf('base'),
        quoteMint: keyOf('quote'),
        progressPct: 100,
        reserves: { realBase: 5n, realQuote: 900n }
      }
    ])
  }
})

void t.test('a swap that its event contradicts, or that states none, is noted', async (t) => {
  const event = selfCall(PROGRAM, SWAP_2_EVENTS[0].write({ ...bought, tradeDirection: 0 }))
  t.match(decode({ inner: [...TRANSFERS, event] }).notes, [
    { kind: 'missing', reason: 'readings-contradict' }
  ])
  t.match(decode({ inner: TRANSFERS }).notes, [{ kind: 'missing', reason: 'event-missing' }])
})

void t.test('a launch names the token, its supply and its quote, and begins a curve', async (t) => {
  const launched = {
    pool: keyOf('curve'),
    config: keyOf('config'),
    creator: keyOf('creator'),
    baseMint: keyOf('base'),
    poolType: 0,
    activationPoint: 0n
  }
  for (const [index, event] of [LAUNCH_EVENTS[0], LAUNCH_EVENTS[0], LAUNCH_EVENTS[1]].entries()) {
    const { events, notes } = decode({
      accounts: [
        'config',
        'authority',
        'creator',
        'base',
        'quote',
        'curve',
        'base vault',
        'quote vault',
        'user'
      ],
      data: LAUNCHES[index]!.write({ name: 'Über', symbol: 'UB', uri: 'https://x' }),
      inner: [mintTo('base', 'base vault', 'authority', 1_000n), selfCall(PROGRAM, event.write(launched))]
    })
    t.strictSame(notes, [])
    const about = {
      user: keyOf('creator'),
      baseMint: keyOf('base'),
      quoteMint: keyOf('quote'),
      curve: keyOf('curve')
    }
    t.match(events, [
      { kind: 'launch', ...about, name: 'Über', symbol: 'UB', uri: 'https://x', decimals: 6, supply: 1_000n },
      { kind: 'curve', event: 'create', ...about, progressPct: 0 }
    ])
  }
})

void t.test('a migration without a pool creation inside it is no graduation', async (t) => {
  const accounts = Array.from({ length: 31 }, (_, i) => `account ${i}`)
  for (const data of [migrateMeteoraDamm.write({}), migrationDammV2.write({})]) {
    t.strictSame(decode({ accounts, data }), { events: [], notes: [] })
  }
})

void t.test('a migration to DAMM v1 leads to the pool that is created at its account 4', async (t) => {
  const accounts = Array.from({ length: 31 }, (_, i) => `account ${i}`)
  const create = (pool: string): CallSpec => ({
    program: meteoraDammV1.programs[0]!,
    accounts: Array.from({ length: 26 }, (_, i) => (i === 0 ? pool : `inner ${i}`)),
    data: INITIALIZES[4].write({ tokenAAmount: 1n, tokenBAmount: 1n, activationPoint: null })
  })
  const call = { accounts, data: migrateMeteoraDamm.write({}) }
  const migrated = decode({ ...call, inner: [create('account 4')] })
  t.match(
    migrated.events.find(({ venue }) => venue === 'meteora-dbc'),
    {
      kind: 'curve',
      event: 'migrate',
      curve: keyOf('account 0'),
      destination: keyOf('account 4'),
      baseMint: keyOf('account 7'),
      quoteMint: keyOf('account 8')
    }
  )
  const elsewhere = decode({ ...call, inner: [create('account 5')] })
  t.notOk(elsewhere.events.some(({ venue }) => venue === 'meteora-dbc'))
  t.match(elsewhere.notes, [{ venue: 'meteora-dbc', reason: 'event-missing' }])
})

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, meteoraDbc))
void t.test('no bytes make it throw', async (t) => anyCallDecodes(t, meteoraDbc))
