import fc from 'fast-check'
import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import { moonshot } from '../../../src/chain/venues/moonshot.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  checkedTransfer,
  keyOf,
  lamportTransfer,
  mintTo,
  tokenTransfer,
  type CallSpec
} from '../build-transaction.ts'
import { recordedVenue } from '../vault-check.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { randomRuns } from '../../random-runs.ts'

const [PROGRAM] = moonshot.programs as [string]
const instruction = (hex: string) => moonshot.instructions.find(Uint8Array.fromHex(hex))!
const event = (hex: string) => moonshot.events.find(Uint8Array.fromHex(hex))!
const buy = instruction('66063d1201daebea')
const sell = instruction('33e685a4017f83ad')
const tokenMint = instruction('032ca4b87b0df5b3')
const migrateFunds = instruction('2ae50ae7bd3ec1ae')
const tradeEvent = event('bddb7fd34ee661ee')
const migrationEvent = event('ffca4c935be74916')

const BALANCES = [{ account: 'curve tokens', mint: 'coin', decimals: 9, before: 900n, after: 500n }]
const ACCOUNTS = ['wallet', 'wallet tokens', 'curve', 'curve tokens', 'dex', 'helio', 'coin', 'config']

function traded(type: number, amounts: object = {}): Uint8Array {
  return tradeEvent.write({
    amount: 400n,
    collateralAmount: 1_000_000n,
    dexFee: 6_000n,
    helioFee: 4_000n,
    allocation: 400n,
    curve: keyOf('curve'),
    costToken: NATIVE_MINT,
    sender: keyOf('wallet'),
    type,
    label: 'trade',
    ...amounts
  })
}

function tradeCall(layout: typeof buy, fixedSide: number, inner: CallSpec[], logged: Uint8Array[]): CallSpec {
  const data = layout.write({ tokenAmount: 1n, collateralAmount: 2n, fixedSide, slippageBps: 3n })
  return { program: PROGRAM, accounts: ACCOUNTS, data, inner, logged }
}

const BOUGHT = [
  checkedTransfer('curve tokens', 'coin', 'wallet tokens', 'curve', 400n, 9),
  lamportTransfer('wallet', 'curve', 1_000_000n),
  lamportTransfer('wallet', 'dex', 6_000n),
  lamportTransfer('wallet', 'helio', 4_000n)
]
const SOLD = [checkedTransfer('wallet tokens', 'coin', 'curve tokens', 'wallet', 400n, 9)]

function decoded(calls: CallSpec[], more: { logs?: string[] | null } = {}) {
  return decodeTransaction(buildTransaction({ signers: ['wallet'], calls, balances: BALANCES, ...more }))
}

const FEES = [
  { kind: 'protocol', mint: NATIVE_MINT, amount: 6_000n },
  { kind: 'platform', mint: NATIVE_MINT, amount: 4_000n }
]
const BUY = {
  kind: 'trade',
  venue: 'moonshot',
  pool: keyOf('curve'),
  user: keyOf('wallet'),
  inMint: NATIVE_MINT,
  outMint: keyOf('coin'),
  inDecimals: 9,
  outDecimals: 9,
  inAmount: 1_000_000n,
  outAmount: 400n,
  traderIn: 1_010_000n,
  traderOut: 400n,
  fees: FEES,
  exact: 'out'
}

testWithFixtures(t, 'every vector reads as its source states', async (t) => {
  for (const vector of readVectors(fixturesDirectory(), 'moonshot')) {
    t.match(compareVector(moonshot, vector), { found: String, differences: [] }, vector.name)
  }
})

testWithFixtures(
  t,
  'the recorded buy agrees with what the curve and the buyer gained and paid',
  async (t) => {
    let buys = 0
    for (const { entry, facts, trades, notes } of recordedVenue('moonshot', 'moonshot')) {
      t.same(notes, [], entry.signature)
      const [call] = facts.calls(PROGRAM)
      const [trade] = trades
      if (call === undefined || trade === undefined) throw new Error(entry.signature)
      const [, wallet, curve, curveTokens, dex, helio, mint] = call.accounts as [string, ...string[]]
      buys++
      t.equal(trades.length, 1)
      t.equal(trade.outAmount, -facts.tokenDifference(curveTokens!)!.amount)
      t.equal(trade.traderOut, facts.tokenDifference(wallet!)!.amount)
      t.equal(trade.inAmount, facts.lamportDifference(curve!))
      t.equal(
        trade.traderIn,
        trade.inAmount + facts.lamportDifference(dex!) + facts.lamportDifference(helio!),
        'with both fees'
      )
      t.equal(pubkeyToBase58(trade.outMint), mint)
    }
    t.equal(buys, 1)
  }
)

t.test('a buy is the curve side of it, with both fees beside it in the trader total', async (t) => {
  const { events, notes } = decoded([tradeCall(buy, 1, BOUGHT, [traded(0)])])
  t.same(notes, [])
  t.match(events, [BUY])
})

t.test('a buy without its log is read from the lamports that it paid', async (t) => {
  const { events, notes } = decoded([tradeCall(buy, 1, BOUGHT, [])], { logs: null })
  t.same(notes, [])
  t.match(events, [BUY])
})

t.test('a sell pays the collateral less both fees', async (t) => {
  const { events, notes } = decoded([tradeCall(sell, 0, SOLD, [traded(1)])])
  t.same(notes, [])
  t.match(events, [
    {
      inMint: keyOf('coin'),
      outMint: NATIVE_MINT,
      inAmount: 400n,
      traderIn: 400n,
      outAmount: 1_000_000n,
      traderOut: 990_000n,
      fees: FEES,
      exact: 'in'
    }
  ])
})

t.test('a sell without its log is held back, as no instruction states what the curve paid', async (t) => {
  for (const logs of [null, ['Log truncated']]) {
    const { events, notes } = decoded([tradeCall(sell, 0, SOLD, [])], { logs })
    t.same(events, [])
    t.match(notes, [{ kind: 'missing', reason: 'event-missing' }])
  }
})

t.test('an event that contradicts the transfers is held back', async (t) => {
  const contradictions = [
    tradeCall(buy, 1, BOUGHT, [traded(0, { amount: 401n })]),
    tradeCall(buy, 1, BOUGHT, [traded(0, { collateralAmount: 1n })]),
    tradeCall(buy, 1, BOUGHT, [traded(1)]),
    tradeCall(sell, 0, SOLD, [traded(1, { dexFee: 1_000_001n })])
  ]
  for (const call of contradictions) {
    const { events, notes } = decoded([call])
    t.same(events, [])
    t.match(notes, [{ kind: 'missing', reason: 'readings-contradict' }])
  }
})

t.test(
  'a buy and a sell of one curve in one transaction are two trades, each with its own event',
  async (t) => {
    const { events } = decoded([
      tradeCall(buy, 1, BOUGHT, [traded(0)]),
      tradeCall(sell, 0, SOLD, [traded(1)])
    ])
    t.match(events, [
      { ixIndex: 0, outAmount: 400n },
      { ixIndex: 1, inAmount: 400n }
    ])
  }
)

t.test('the event of an unknown instruction is a trade, and the instruction is counted', async (t) => {
  const call = {
    program: PROGRAM,
    accounts: ACCOUNTS,
    data: new Uint8Array(8),
    inner: SOLD,
    logged: [traded(1)]
  }
  const { events, notes } = decoded([call])
  t.match(events, [{ inMint: keyOf('coin'), inAmount: 400n, outAmount: 1_000_000n }])
  t.match(notes, [{ kind: 'unknown-instruction', discriminator: '0000000000000000' }])
})

t.test('a token mint is a launch and its curve, with the supply that was minted', async (t) => {
  const data = tokenMint.write({
    name: 'Coin',
    symbol: 'CN',
    uri: 'https://coin.example',
    decimals: 9,
    collateralCurrency: 0,
    amount: 900n,
    curveType: 1,
    migrationTarget: 0
  })
  const accounts = [
    'wallet',
    'backend',
    'curve',
    'coin',
    'metadata',
    'curve tokens',
    'config',
    'a',
    'b',
    'c',
    'd'
  ]
  const inner = [mintTo('coin', 'curve tokens', 'curve', 900n)]
  const { events, notes } = decoded([{ program: PROGRAM, accounts, data, inner }])
  t.same(notes, [], 'a body of the first version is no drift')
  t.match(events, [
    { kind: 'launch', name: 'Coin', symbol: 'CN', decimals: 9, supply: 900n, creator: keyOf('wallet') },
    { kind: 'curve', event: 'create', baseMint: keyOf('coin'), curve: keyOf('curve'), quoteMint: NATIVE_MINT }
  ])
})

t.test(
  'a migration is one when its event or its transfer says so, and none when it did nothing',
  async (t) => {
    const accounts = [
      'backend',
      'authority',
      'curve',
      'curve tokens',
      'authority tokens',
      'coin',
      'dex',
      'helio'
    ]
    const migrate = (inner: CallSpec[], logged: Uint8Array[]) =>
      decoded([
        { program: PROGRAM, accounts: [...accounts, 'config'], data: migrateFunds.write({}), inner, logged }
      ])
    const moved = [tokenTransfer('curve tokens', 'authority tokens', 'curve', 5n)]
    const stated = migrationEvent.write({
      tokensMigrated: 5n,
      tokensBurned: 1n,
      collateralMigrated: 7n,
      fee: 2n,
      label: 'migrate'
    })
    const expected = { kind: 'curve', event: 'migrate', baseMint: keyOf('coin'), destination: null }
    t.match(migrate(moved, [stated]).events, [{ ...expected, reserves: { realBase: 5n, realQuote: 7n } }])
    t.match(migrate(moved, []).events, [{ ...expected, reserves: null }])
    t.same(migrate([], []), { events: [], notes: [] })
  }
)

t.test('what every layout reads, it writes again', async (t) => layoutsReadWhatTheyWrite(t, moonshot))

t.test('no bytes, accounts or logs throw', async (t) => anyCallDecodes(t, moonshot))

t.test('whatever is cut off a call, nothing throws and no amount is made up', async (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(buy, sell, tokenMint, migrateFunds),
      fc.uint8Array({ maxLength: 60 }),
      fc.nat(12),
      fc.uint8Array({ maxLength: 160 }),
      (layout, tail, count, logged) => {
        const { events } = decoded([
          {
            program: PROGRAM,
            accounts: [...ACCOUNTS, 'x', 'y', 'z', 'w'].slice(0, count),
            data: Uint8Array.from([...layout.discriminator, ...tail]),
            logged: [Uint8Array.from([...tradeEvent.discriminator, ...logged])]
          }
        ])
        return events.every(({ kind }) => kind !== 'trade')
      }
    ),
    randomRuns(300, 1)
  )
  t.pass('no run threw or gave a trade')
})
