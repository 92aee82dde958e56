import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import {
  addLiquidityEvent,
  initializePoolEvent,
  liquidityChangeEvent,
  removeLiquidityEvent,
  swap2Event,
  swapEvent
} from '../../../src/chain/venues/meteora-damm-v2-events.ts'
import {
  CREATES,
  REMOVES,
  addLiquidity,
  swap,
  swap2
} from '../../../src/chain/venues/meteora-damm-v2-instructions.ts'
import { TOKEN_2022_PROGRAM } from '../../../src/chain/token-movement.ts'
import { meteoraDammV2 } from '../../../src/chain/venues/meteora-damm-v2.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  checkedTransfer,
  keyOf,
  tokenTransfer,
  type CallSpec
} from '../build-transaction.ts'
import { checkVaults, recordedVenue } from '../vault-check.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { selfCall } from './meteora-calls.ts'

const PROGRAM = meteoraDammV2.programs[0]!

testWithFixtures(t, 'every vector agrees', (t) => {
  const vectors = readVectors(fixturesDirectory(), 'meteora-damm-v2')
  t.equal(vectors.length, 1)
  for (const vector of vectors)
    t.strictSame(compareVector(meteoraDammV2, vector).differences, [], vector.name)
})

testWithFixtures(t, 'recorded transactions give each swap, add, removal and pool once', (t) => {
  const kindOf = (name: string): string | null => {
    if (name === 'swap' || name === 'swap2') return 'trade'
    if (/^(add|remove)_/.test(name)) return 'liquidity'
    return /^initialize_.*pool/.test(name) ? 'pool' : null
  }
  for (const { entry, events, notes, failed } of recordedVenue('meteora-damm-v2', 'meteora-damm-v2')) {
    const names = failed ? [] : entry.instructions['meteora-damm-v2']!.map(kindOf)
    t.strictSame(
      events.map(({ kind }) => kind),
      names.filter((kind) => kind !== null),
      entry.signature
    )
    t.strictSame(notes, [], entry.signature)
  }
})

testWithFixtures(t, 'amounts equal the balance differences of vaults that one call touched', (t) => {
  let checked = 0
  for (const { facts, trades, entry } of recordedVenue('meteora-damm-v2', 'meteora-damm-v2')) {
    const plain = trades.filter(({ fees }) => fees.every(({ kind }) => kind !== 'referral'))
    const result = checkVaults(facts, plain, PROGRAM, ({ accounts }) =>
      accounts.length === 14 ? [accounts[4]!, accounts[5]!] : null
    )
    t.strictSame(result.differences, [], entry.signature)
    checked += result.checked
  }
  t.ok(checked >= 3, `${checked} checked`)
})

testWithFixtures(t, 'a recorded referral fee is what the output vault lost beside the trade', (t) => {
  let checked = 0
  for (const { facts, trades, entry } of recordedVenue('meteora-damm-v2', 'meteora-damm-v2')) {
    for (const trade of trades) {
      const referral = trade.fees.find(({ kind }) => kind === 'referral')
      const call = facts.calls(PROGRAM).find(({ innerIxIndex }) => innerIxIndex === trade.innerIxIndex)!
      if (referral === undefined) continue
      const lost = [call.accounts[4]!, call.accounts[5]!].map((vault) => facts.tokenDifference(vault)!.amount)
      t.ok(lost.includes(-(trade.outAmount + referral.amount)), entry.signature)
      checked++
    }
  }
  t.ok(checked >= 2)
  t.end()
})

testWithFixtures(t, 'amounts are those that a source states', (t) => {
  const [recorded] = [...recordedVenue('meteora-damm-v2', 'meteora-damm-v2')].filter(({ entry }) =>
    entry.signature.startsWith('5QJamv41')
  )
  const stated = recorded!.entry.expected[0]!.values[0] as Record<string, string>
  t.match(recorded!.trades, [
    {
      traderIn: BigInt(stated['swap.included_transfer_fee_amount_in']!),
      outAmount: BigInt(stated['swap.included_transfer_fee_amount_out']!)
    }
  ])
  t.end()
})

const SWAP = ['authority', 'pool', 'user in', 'user out', 'vault a', 'vault b', 'mint a', 'mint b', 'user']
const SWAP_ACCOUNTS = [...SWAP, 'token', 'token', 'referral', 'events', PROGRAM]
const BALANCES = ['a', 'b'].map((name) => ({
  account: `vault ${name}`,
  mint: `mint ${name}`,
  owner: 'authority',
  decimals: name === 'a' ? 6 : 9
}))

const newer = {
  pool: keyOf('pool'),
  tradeDirection: 1,
  collectFeeMode: 0,
  hasReferral: true,
  params: { amount0: 100n, amount1: 0n, swapMode: 0 },
  swapResult: {
    includedFeeInputAmount: 90n,
    excludedFeeInputAmount: 90n,
    amountLeft: 0n,
    outputAmount: 40n,
    nextSqrtPrice: 1n,
    claimingFee: 4n,
    protocolFee: 1n,
    compoundingFee: 2n,
    referralFee: 3n
  },
  includedTransferFeeAmountIn: 100n,
  includedTransferFeeAmountOut: 40n,
  excludedTransferFeeAmountOut: 36n,
  currentTimestamp: 0n,
  reserveAAmount: 500n,
  reserveBAmount: 700n
}
const older = {
  pool: keyOf('pool'),
  tradeDirection: 1,
  hasReferral: false,
  params: { amountIn: 100n, minimumAmountOut: 0n },
  swapResult: {
    outputAmount: 40n,
    nextSqrtPrice: 1n,
    lpFee: 4n,
    protocolFee: 1n,
    partnerFee: 0n,
    referralFee: 0n
  },
  actualAmountIn: 90n,
  currentTimestamp: 0n
}
const PAID = checkedTransfer('user in', 'mint b', 'vault b', 'user', 100n, 9, { fee: 10n })
const GOT = checkedTransfer('vault a', 'mint a', 'user out', 'authority', 40n, 6, { fee: 4n })

function decode(call: Partial<CallSpec>) {
  return decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [
        {
          program: PROGRAM,
          accounts: SWAP_ACCOUNTS,
          data: swap2.write({ amount0: 100n, amount1: 0n, swapMode: 0 }),
          ...call
        }
      ],
      balances: BALANCES
    })
  )
}

const TRADE = {
  kind: 'trade',
  pool: keyOf('pool'),
  user: keyOf('user'),
  inMint: keyOf('mint b'),
  outMint: keyOf('mint a'),
  inDecimals: 9,
  outDecimals: 6,
  inAmount: 90n,
  traderIn: 100n,
  outAmount: 40n,
  traderOut: 36n
}

void t.test('a swap that states both events is one trade, with reserves and fees of the newer', async (t) => {
  const inner = [
    PAID,
    GOT,
    selfCall(PROGRAM, swapEvent.write(older)),
    selfCall(PROGRAM, swap2Event.write(newer))
  ]
  const { events, notes } = decode({ inner })
  t.strictSame(notes, [])
  t.match(events, [{ ...TRADE, exact: 'in', reserves: { in: 700n, out: 500n } }])
  const [trade] = events
  t.strictSame(trade?.kind === 'trade' && trade.fees, [
    { kind: 'lp', mint: keyOf('mint a'), amount: 6n },
    { kind: 'protocol', mint: keyOf('mint a'), amount: 1n },
    { kind: 'referral', mint: keyOf('mint a'), amount: 3n },
    { kind: 'transfer', mint: keyOf('mint b'), amount: 10n },
    { kind: 'transfer', mint: keyOf('mint a'), amount: 4n }
  ])
})

void t.test('the older event alone gives the trade, with fees only where their side is known', async (t) => {
  const { events, notes } = decode({
    data: swap.write({ amountIn: 100n, minimumAmountOut: 0n }),
    inner: [PAID, GOT, selfCall(PROGRAM, swapEvent.write(older))]
  })
  t.strictSame(notes, [])
  t.match(events, [{ ...TRADE, exact: 'in', reserves: null }])
})

void t.test('an event without its transfers states everything itself', async (t) => {
  const { events, notes } = decode({
    data: swap2.write({ amount0: 40n, amount1: 120n, swapMode: 2 }),
    inner: [selfCall(PROGRAM, swap2Event.write(newer))]
  })
  t.strictSame(notes, [])
  t.match(events, [{ ...TRADE, exact: 'out' }])
})

void t.test('the event settles a transfer fee that the record leaves open', async (t) => {
  const inner = [
    checkedTransfer('user in', 'mint b', 'vault b', 'user', 100n, 9, { program: TOKEN_2022_PROGRAM }),
    checkedTransfer('vault a', 'mint a', 'user out', 'authority', 40n, 6, { program: TOKEN_2022_PROGRAM }),
    selfCall(PROGRAM, swap2Event.write(newer))
  ]
  const { events, notes } = decode({ inner })
  t.strictSame(notes, [])
  t.match(events, [TRADE])
})

void t.test('a swap without an event is read from its transfers', async (t) => {
  const { events, notes } = decode({ inner: [PAID, GOT] })
  t.strictSame(notes, [])
  t.match(events, [{ ...TRADE, reserves: null }])
})

void t.test('a referral fee that reaches the trader is no part of the amount', async (t) => {
  const referral = tokenTransfer('vault a', 'user out', 'authority', 3n)
  const { events, notes } = decode({
    accounts: SWAP_ACCOUNTS.with(11, 'user out'),
    inner: [PAID, GOT, referral, selfCall(PROGRAM, swap2Event.write(newer))]
  })
  t.strictSame(notes, [])
  t.match(events, [TRADE])
})

void t.test(
  'a vault that was credited otherwise than stated is noted, and the transfer counts',
  async (t) => {
    const swapResult = { ...newer.swapResult, includedFeeInputAmount: 91n }
    const { events, notes } = decode({
      inner: [PAID, GOT, selfCall(PROGRAM, swap2Event.write({ ...newer, swapResult }))]
    })
    t.match(notes, [{ kind: 'disagreement' }])
    t.match(events, [TRADE])
  }
)

void t.test('an event that its transfers contradict is held back', async (t) => {
  const inner = [PAID, GOT, selfCall(PROGRAM, swap2Event.write({ ...newer, tradeDirection: 0 }))]
  const { events, notes } = decode({ inner })
  t.strictSame(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'readings-contradict' }])
})

void t.test('events of an unknown instruction are trades of their own places', async (t) => {
  const second = { ...newer, includedTransferFeeAmountIn: 200n, includedTransferFeeAmountOut: 80n }
  const { events } = decode({
    accounts: ['pool'],
    data: new Uint8Array(8),
    inner: [
      PAID,
      GOT,
      selfCall(PROGRAM, swap2Event.write(newer)),
      checkedTransfer('user in', 'mint b', 'vault b', 'user', 200n, 9),
      checkedTransfer('vault a', 'mint a', 'user out', 'authority', 80n, 6),
      selfCall(PROGRAM, swap2Event.write(second))
    ]
  })
  t.match(events, [
    { ...TRADE, innerIxIndex: null },
    { traderIn: 200n, outAmount: 80n, innerIxIndex: 5 }
  ])
})

const PARAMS = { liquidityDelta: 5n, tokenAAmountThreshold: 0n, tokenBAmountThreshold: 0n }
const ADD_ACCOUNTS = [
  'pool',
  'position',
  'user a',
  'user b',
  'vault a',
  'vault b',
  'mint a',
  'mint b',
  'nft',
  'user'
]
const REMOVE_ACCOUNTS = ['authority', ...ADD_ACCOUNTS]
const changed = {
  pool: keyOf('pool'),
  position: keyOf('position'),
  owner: keyOf('user'),
  tokenAAmount: 30n,
  tokenBAmount: 0n,
  transferFeeIncludedTokenAAmount: 33n,
  transferFeeIncludedTokenBAmount: 0n,
  reserveAAmount: 0n,
  reserveBAmount: 0n,
  liquidityDelta: 5n,
  tokenAAmountThreshold: 0n,
  tokenBAmountThreshold: 0n,
  changeType: 0
}
const old = { ...changed, params: PARAMS, totalAmountA: 33n, totalAmountB: 0n }
const LIQUIDITY = {
  kind: 'liquidity',
  pool: keyOf('pool'),
  user: keyOf('user'),
  position: keyOf('position'),
  baseAmount: 30n,
  quoteAmount: 0n
}

void t.test('adds and removals read alike from both versions of their events', async (t) => {
  const paid = checkedTransfer('user a', 'mint a', 'vault a', 'user', 33n, 6, { fee: 3n })
  const got = checkedTransfer('vault a', 'mint a', 'user a', 'authority', 33n, 6, { fee: 3n })
  const add = { accounts: ADD_ACCOUNTS, data: addLiquidity.write(PARAMS) }
  const remove = {
    accounts: REMOVE_ACCOUNTS,
    data: REMOVES[1].write({ tokenAAmountThreshold: 0n, tokenBAmountThreshold: 0n })
  }
  for (const event of [liquidityChangeEvent.write(changed), addLiquidityEvent.write(old)]) {
    const { events, notes } = decode({ ...add, inner: [paid, selfCall(PROGRAM, event)] })
    t.strictSame(notes, [])
    t.match(events, [{ ...LIQUIDITY, event: 'add', traderBase: 33n }])
  }
  for (const event of [
    liquidityChangeEvent.write({ ...changed, changeType: 1 }),
    removeLiquidityEvent.write({ ...old, tokenAAmount: 33n })
  ]) {
    const { events, notes } = decode({ ...remove, inner: [got, selfCall(PROGRAM, event)] })
    t.strictSame(notes, [])
    t.match(events, [{ ...LIQUIDITY, event: 'remove', baseAmount: 33n, traderBase: 30n }])
  }
})

void t.test('a pool starts with what its vaults received', async (t) => {
  const created = {
    pool: keyOf('pool'),
    tokenAMint: keyOf('mint a'),
    tokenBMint: keyOf('mint b'),
    creator: keyOf('user'),
    payer: keyOf('user'),
    alphaVault: keyOf('none'),
    poolFees: {
      cliffFeeNumerator: 2_500_000n,
      firstFactor: 0,
      secondFactor: 0n,
      thirdFactor: 0n,
      baseFeeMode: 0,
      compoundingFeeBps: 0,
      padding: 0,
      dynamicFee: null
    },
    sqrtMinPrice: 0n,
    sqrtMaxPrice: 0n,
    activationType: 0,
    collectFeeMode: 0,
    liquidity: 0n,
    sqrtPrice: 0n,
    activationPoint: 0n,
    tokenAFlag: 0,
    tokenBFlag: 0,
    tokenAAmount: 70n,
    tokenBAmount: 0n,
    totalAmountA: 70n,
    totalAmountB: 1n,
    poolType: 0
  }
  const accounts = ['user', 'nft', 'nft', 'user', 'config', 'authority', 'pool', 'position']
  const { events, notes } = decode({
    accounts: [...accounts, 'mint a', 'mint b', 'vault a', 'vault b'],
    data: CREATES[0].write({ liquidity: 1n, sqrtPrice: 1n, activationPoint: null }),
    inner: [
      tokenTransfer('user a', 'vault a', 'user', 70n),
      tokenTransfer('user b', 'vault b', 'user', 1n),
      selfCall(PROGRAM, initializePoolEvent.write(created))
    ]
  })
  t.strictSame(notes, [])
  t.match(events, [
    { kind: 'pool', event: 'create', pool: keyOf('pool'), feeBps: 25, initialBase: 70n, initialQuote: 1n }
  ])
})

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, meteoraDammV2))
void t.test('no bytes make it throw', async (t) => anyCallDecodes(t, meteoraDammV2))
