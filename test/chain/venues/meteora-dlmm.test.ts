import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import {
  addLiquidityEvent,
  lbPairCreateEvent,
  rebalancingEvent,
  removeLiquidityEvent,
  swap2Event,
  swapEvent
} from '../../../src/chain/venues/meteora-dlmm-events.ts'
import {
  ADDS,
  CUSTOMIZABLE_PAIRS,
  EXACT_IN_SWAPS,
  EXACT_OUT_SWAPS,
  ONE_SIDED_ADDS,
  REMOVES,
  rebalanceLiquidity
} from '../../../src/chain/venues/meteora-dlmm-instructions.ts'
import { TOKEN_2022_PROGRAM } from '../../../src/chain/token-movement.ts'
import { meteoraDlmm } from '../../../src/chain/venues/meteora-dlmm.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  checkedTransfer,
  keyOf,
  tokenTransfer,
  type BalanceSpec,
  type CallSpec
} from '../build-transaction.ts'
import { checkVaults, recordedVenue, statedHops } from '../vault-check.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { selfCall, zeros } from './meteora-calls.ts'

const PROGRAM = meteoraDlmm.programs[0]!

testWithFixtures(t, 'every vector agrees', (t) => {
  const vectors = readVectors(fixturesDirectory(), 'meteora-dlmm')
  t.equal(vectors.length, 37)
  for (const vector of vectors) t.strictSame(compareVector(meteoraDlmm, vector).differences, [], vector.name)
})

testWithFixtures(t, 'recorded transactions give each swap, add, removal and pool once', (t) => {
  const kindOf = (name: string): string | null => {
    if (name.startsWith('swap')) return 'trade'
    if (/^(add|remove)_|^rebalance_/.test(name)) return 'liquidity'
    return /^initialize_.*lb_pair/.test(name) ? 'pool' : null
  }
  for (const { entry, events, notes, failed } of recordedVenue('meteora-dlmm', 'meteora-dlmm')) {
    const names = failed ? [] : entry.instructions['meteora-dlmm']!.map(kindOf)
    const expected = names.filter((kind) => kind !== null)
    t.strictSame(
      events.map(({ kind }) => kind),
      expected,
      entry.signature
    )
    t.strictSame(notes, [], entry.signature)
  }
})

testWithFixtures(t, 'amounts equal the balance differences of vaults that one call touched', (t) => {
  let checked = 0
  for (const { facts, trades, entry } of recordedVenue('meteora-dlmm', 'meteora-dlmm')) {
    // The host's share of the fee of an exact-out swap left the vault that received the input.
    const plain = trades.filter(({ fees }) => fees.every(({ kind }) => kind !== 'host'))
    const result = checkVaults(facts, plain, PROGRAM, ({ accounts }) =>
      accounts.length < 15 || accounts.length > 20 ? null : [accounts[2]!, accounts[3]!]
    )
    t.strictSame(result.differences, [], entry.signature)
    checked += result.checked
  }
  t.ok(checked >= 20, `${checked} checked`)
})

testWithFixtures(t, 'amounts are those that the sources state', (t) => {
  const { differences, hops } = statedHops('meteora-dlmm', 'meteora-dlmm', PROGRAM)
  t.strictSame(differences, [])
  t.ok(hops >= 5, `${hops} hops`)
  const [routed] = [...recordedVenue('meteora-dlmm', 'meteora-dlmm')].filter(({ entry }) =>
    entry.signature.startsWith('31ycbQtF')
  )
  const { FromTokenAmount, ToTokenAmount } = routed!.entry.expected[0]!.values[0] as Record<string, string>
  t.match(routed!.trades, [{ inAmount: BigInt(FromTokenAmount!), outAmount: BigInt(ToTokenAmount!) }])
  t.end()
})

const SWAP = [
  'pair',
  PROGRAM,
  'vault x',
  'vault y',
  'user in',
  'user out',
  'mint x',
  'mint y',
  'oracle',
  'host',
  'user'
]
const SWAP_ACCOUNTS = [...SWAP, 'token', 'token', 'events', PROGRAM]
const balance = (account: string, mint: string, more: Partial<BalanceSpec> = {}): BalanceSpec => ({
  account,
  mint,
  owner: 'pair',
  decimals: 6,
  ...more
})
const BALANCES = [balance('vault x', 'mint x'), balance('vault y', 'mint y', { decimals: 9 })]

const older = {
  lbPair: keyOf('pair'),
  from: keyOf('user'),
  startBinId: 1,
  endBinId: 2,
  amountIn: 100n,
  amountOut: 40n,
  swapForY: true,
  fee: 7n,
  protocolFee: 2n,
  feeBps: 1n,
  hostFee: 1n
}
const newer = {
  lbPair: keyOf('pair'),
  from: keyOf('user'),
  startBinId: 1,
  endBinId: 2,
  swapForY: true,
  feeBps: 1n,
  amountIn: 100n,
  amountLeft: 0n,
  amountOut: 40n,
  mmFee: 3n,
  protocolFee: 2n,
  limitOrderFee: 1n,
  hostFee: 1n,
  feesOnInput: false,
  feesOnTokenX: false
}
const PAID = tokenTransfer('user in', 'vault x', 'user', 100n)
const GOT = tokenTransfer('vault y', 'user out', 'pair', 40n)

function decode(call: Partial<CallSpec>, balances: readonly BalanceSpec[] = BALANCES, heights = true) {
  return decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [
        {
          program: PROGRAM,
          accounts: SWAP_ACCOUNTS,
          data: EXACT_IN_SWAPS[0].write({ amountIn: 100n, minAmountOut: 0n }),
          ...call
        }
      ],
      balances,
      heights
    })
  )
}

const TRADE = {
  kind: 'trade',
  pool: keyOf('pair'),
  user: keyOf('user'),
  inMint: keyOf('mint x'),
  outMint: keyOf('mint y'),
  inDecimals: 6,
  outDecimals: 9,
  inAmount: 100n,
  outAmount: 40n,
  traderIn: 100n,
  traderOut: 40n
}

void t.test('a swap that states both events is one trade, with the fees of the newer', async (t) => {
  const inner = [
    PAID,
    GOT,
    selfCall(PROGRAM, swapEvent.write(older)),
    selfCall(PROGRAM, swap2Event.write(newer))
  ]
  const { events, notes } = decode({ inner })
  t.strictSame(notes, [])
  t.equal(events.length, 1)
  t.match(events[0], {
    ...TRADE,
    exact: 'in',
    fees: [
      { kind: 'lp', mint: keyOf('mint y'), amount: 4n },
      { kind: 'protocol', mint: keyOf('mint y'), amount: 2n },
      { kind: 'host', mint: keyOf('mint y'), amount: 1n }
    ]
  })
})

void t.test('the older event alone takes its fees of the input', async (t) => {
  const { events, notes } = decode({ inner: [selfCall(PROGRAM, swapEvent.write(older)), PAID, GOT] })
  t.strictSame(notes, [])
  t.match(events, [
    {
      ...TRADE,
      fees: [
        { kind: 'lp', mint: keyOf('mint x'), amount: 4n },
        { kind: 'protocol', mint: keyOf('mint x'), amount: 2n },
        { kind: 'host', mint: keyOf('mint x'), amount: 1n }
      ]
    }
  ])
})

void t.test('a swap without an event, and without heights, is read from its transfers', async (t) => {
  const { events, notes } = decode({ inner: [PAID, GOT] }, BALANCES, false)
  t.strictSame(notes, [])
  t.match(events, [{ ...TRADE, fees: [] }])
})

void t.test(
  'an exact-out swap from y to x reads from what the vaults did, not from its arguments',
  async (t) => {
    const { events } = decode({
      data: EXACT_OUT_SWAPS[0].write({ maxInAmount: 999n, outAmount: 40n }),
      inner: [
        tokenTransfer('user in', 'vault y', 'user', 100n),
        tokenTransfer('vault x', 'user out', 'pair', 40n),
        selfCall(PROGRAM, swap2Event.write({ ...newer, swapForY: false, amountLeft: 899n }))
      ]
    })
    t.match(events, [
      { exact: 'out', inMint: keyOf('mint y'), outMint: keyOf('mint x'), inAmount: 100n, outAmount: 40n }
    ])
  }
)

void t.test('a host fee out of the output vault is no part of the amount, wherever it goes', async (t) => {
  const event = selfCall(PROGRAM, swap2Event.write(newer))
  for (const host of ['host', 'user out']) {
    const accounts = SWAP_ACCOUNTS.with(9, host)
    const { events, notes } = decode({
      accounts,
      inner: [PAID, GOT, tokenTransfer('vault y', host, 'pair', 1n), event]
    })
    t.strictSame(notes, [], host)
    t.match(events, [TRADE], host)
  }
})

void t.test('transfer fees part the fill from what the trader paid and got', async (t) => {
  const inner = [
    checkedTransfer('user in', 'mint x', 'vault x', 'user', 100n, 6, { fee: 10n }),
    checkedTransfer('vault y', 'mint y', 'user out', 'pair', 40n, 9, { fee: 4n }),
    selfCall(PROGRAM, swap2Event.write(newer))
  ]
  const { events, notes } = decode({ inner })
  t.strictSame(notes, [])
  t.match(events, [{ inAmount: 90n, traderIn: 100n, outAmount: 40n, traderOut: 36n }])
  const [trade] = events
  t.strictSame(trade?.kind === 'trade' && trade.fees.filter(({ kind }) => kind === 'transfer'), [
    { kind: 'transfer', mint: keyOf('mint x'), amount: 10n },
    { kind: 'transfer', mint: keyOf('mint y'), amount: 4n }
  ])
})

void t.test('a Token-2022 transfer whose fee nobody states is held back', async (t) => {
  const got = checkedTransfer('vault y', 'mint y', 'user out', 'pair', 40n, 9, {
    program: TOKEN_2022_PROGRAM
  })
  const { events, notes } = decode({ inner: [PAID, got, selfCall(PROGRAM, swap2Event.write(newer))] })
  t.strictSame(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'transfer-fee-unknown' }])
  const known = [...BALANCES, balance('user out', 'mint y', { before: 5n, after: 43n })]
  const inner = [PAID, got, selfCall(PROGRAM, swap2Event.write(newer))]
  t.match(decode({ inner }, known).events, [{ outAmount: 40n, traderOut: 38n }])
})

void t.test('an event that its transfers contradict is held back', async (t) => {
  for (const contradiction of [{ amountIn: 99n }, { amountOut: 41n }, { swapForY: false }]) {
    const inner = [PAID, GOT, selfCall(PROGRAM, swap2Event.write({ ...newer, ...contradiction }))]
    const { events, notes } = decode({ inner })
    t.strictSame(events, [])
    t.match(notes, [{ kind: 'missing', reason: 'readings-contradict' }])
  }
})

void t.test(
  'an event of an unknown instruction is still a trade, and the instruction is noted',
  async (t) => {
    const inner = [PAID, GOT, selfCall(PROGRAM, swap2Event.write(newer))]
    const { events, notes } = decode({ data: new Uint8Array(8), accounts: ['pair'], inner })
    t.match(events, [{ ...TRADE, exact: null }])
    t.match(notes, [{ kind: 'unknown-instruction' }])
    const twice = decode({ data: new Uint8Array(8), accounts: ['pair'], inner: [PAID, ...inner] })
    t.strictSame(twice.events, [])
    t.match(twice.notes[0], { kind: 'missing', reason: 'ambiguous-movements' })
  }
)

const TWO_SIDED = ['position', 'pair', PROGRAM, 'user x', 'user y', 'vault x', 'vault y', 'mint x', 'mint y']
const OLD_LIST = [...TWO_SIDED, 'bins', 'bins', 'user', 'token', 'token', 'events', PROGRAM]
const NEW_LIST = [...TWO_SIDED, 'user', 'token', 'token', 'memo', 'events', PROGRAM]
const changed = {
  lbPair: keyOf('pair'),
  from: keyOf('user'),
  position: keyOf('position'),
  amounts: [30n, 0n],
  activeBinId: 1
}
const LIQUIDITY = {
  kind: 'liquidity',
  pool: keyOf('pair'),
  user: keyOf('user'),
  position: keyOf('position'),
  baseMint: keyOf('mint x'),
  quoteMint: keyOf('mint y'),
  baseAmount: 30n,
  quoteAmount: 0n
}

void t.test('adds and removals of one token have a leg of zero, of none are no events', async (t) => {
  const add = ADDS[0].write({ liquidityParameter: { amountX: 50n, amountY: 50n, binLiquidityDist: [] } })
  const added = decode({
    accounts: OLD_LIST,
    data: add,
    inner: [
      tokenTransfer('user x', 'vault x', 'user', 30n),
      selfCall(PROGRAM, addLiquidityEvent.write(changed))
    ]
  })
  t.strictSame(added.notes, [])
  t.match(added.events, [{ ...LIQUIDITY, event: 'add' }])
  const remove = REMOVES[4].write({
    fromBinId: 0,
    toBinId: 1,
    bpsToRemove: 10_000,
    remainingAccountsInfo: { slices: [] }
  })
  const removed = decode({
    accounts: NEW_LIST,
    data: remove,
    inner: [
      tokenTransfer('vault x', 'user x', 'pair', 30n),
      selfCall(PROGRAM, removeLiquidityEvent.write(changed))
    ]
  })
  t.strictSame(removed.notes, [])
  t.match(removed.events, [{ ...LIQUIDITY, event: 'remove' }])
  const nothing = selfCall(PROGRAM, removeLiquidityEvent.write({ ...changed, amounts: [0n, 0n] }))
  t.strictSame(decode({ accounts: NEW_LIST, data: remove, inner: [nothing] }), { events: [], notes: [] })
})

void t.test('a rebalance that removes and adds is two events, in either form of its event', async (t) => {
  const rebalanced = {
    lbPair: keyOf('pair'),
    position: keyOf('position'),
    xWithdrawnAmount: 30n,
    xAddedAmount: 10n,
    yWithdrawnAmount: 0n,
    yAddedAmount: 5n,
    xFeeAmount: 2n,
    yFeeAmount: 0n,
    oldMinId: 0,
    oldMaxId: 1,
    newMinId: 0,
    newMaxId: 1,
    rewards: [0n, 0n]
  }
  const data = rebalanceLiquidity.write({
    params: {
      activeId: 0,
      maxActiveBinSlippage: 0,
      shouldClaimFee: true,
      shouldClaimReward: false,
      minWithdrawXAmount: 0n,
      maxDepositXAmount: 0n,
      minWithdrawYAmount: 0n,
      maxDepositYAmount: 0n,
      shrinkMode: 0,
      padding: new Array<number>(31).fill(0),
      removes: [],
      adds: []
    },
    remainingAccountsInfo: { slices: [] }
  })
  for (const more of [{}, { owner: keyOf('user'), activeBinId: 3 }]) {
    const { events, notes } = decode({
      accounts: NEW_LIST,
      data,
      inner: [
        tokenTransfer('vault x', 'user x', 'pair', 22n),
        tokenTransfer('user y', 'vault y', 'user', 5n),
        selfCall(PROGRAM, rebalancingEvent.write({ ...rebalanced, ...more }))
      ]
    })
    t.strictSame(notes, [])
    t.match(events, [
      { ...LIQUIDITY, event: 'remove', innerIxIndex: null },
      { ...LIQUIDITY, event: 'add', baseAmount: 10n, quoteAmount: 5n, innerIxIndex: 2 }
    ])
  }
})

void t.test('the fee of a rebalance is of the one transfer that settles it', async (t) => {
  const data = zeros(rebalanceLiquidity, 200)
  const settled = (amounts: object, transfer: CallSpec) => {
    const none = { xWithdrawnAmount: 0n, xAddedAmount: 0n, xFeeAmount: 0n }
    const y = { yWithdrawnAmount: 0n, yAddedAmount: 0n, yFeeAmount: 0n }
    const bins = { oldMinId: 0, oldMaxId: 1, newMinId: 0, newMaxId: 1, rewards: [0n, 0n] }
    const event = { lbPair: keyOf('pair'), position: keyOf('position'), ...none, ...y, ...bins, ...amounts }
    return decode({
      accounts: NEW_LIST,
      data,
      inner: [transfer, selfCall(PROGRAM, rebalancingEvent.write(event))]
    })
  }
  const paid = checkedTransfer('user x', 'mint x', 'vault x', 'user', 100n, 6, { fee: 2n })
  const received = checkedTransfer('vault x', 'mint x', 'user x', 'pair', 100n, 6, { fee: 2n })

  const added = settled({ xWithdrawnAmount: 30n, xAddedAmount: 130n }, paid)
  t.strictSame(added.notes, [])
  t.match(added.events, [
    { event: 'remove', baseAmount: 30n, traderBase: 30n },
    { event: 'add', baseAmount: 128n, traderBase: 130n }
  ])
  const removed = settled({ xWithdrawnAmount: 130n, xAddedAmount: 30n }, received)
  t.strictSame(removed.notes, [])
  t.match(removed.events, [
    { event: 'remove', baseAmount: 130n, traderBase: 128n },
    { event: 'add', baseAmount: 30n, traderBase: 30n }
  ])
  const claimed = settled({ xWithdrawnAmount: 90n, xFeeAmount: 10n }, received)
  t.strictSame(claimed.notes, [])
  t.match(claimed.events, [{ event: 'remove', baseAmount: 90n, traderBase: null }], 'the fee of two payments')
  const other = settled({ xAddedAmount: 95n }, paid)
  t.strictSame(other.events, [])
  t.match(other.notes, [{ kind: 'disagreement' }, { kind: 'missing', reason: 'transfer-fee-unknown' }])
})

void t.test('a one-sided add of a mint with a transfer fee is what the vault was credited', async (t) => {
  const { events, notes } = decode({
    accounts: ['position', 'pair', PROGRAM, 'user x', 'vault x', 'mint x', 'bins', 'bins', 'user', 'token'],
    data: zeros(ONE_SIDED_ADDS[1]),
    inner: [
      checkedTransfer('user x', 'mint x', 'vault x', 'user', 30n, 6, { fee: 3n }),
      selfCall(PROGRAM, addLiquidityEvent.write(changed))
    ]
  })
  t.strictSame(notes, [])
  t.match(events, [{ event: 'add', baseAmount: 27n, traderBase: 30n, quoteAmount: 0n, traderQuote: 0n }])
})

void t.test('a one-sided add names the token that was added, and no other', async (t) => {
  const { events, notes } = decode({
    accounts: ['position', 'pair', PROGRAM, 'user x', 'vault x', 'mint x', 'bins', 'bins', 'user', 'token'],
    data: ONE_SIDED_ADDS[1].write({
      liquidityParameter: { amount: 30n, activeId: 0, maxActiveBinSlippage: 0, binLiquidityDist: [] }
    }),
    inner: [
      tokenTransfer('user x', 'vault x', 'user', 30n),
      selfCall(PROGRAM, addLiquidityEvent.write(changed))
    ]
  })
  t.strictSame(notes, [])
  t.match(events, [
    {
      kind: 'liquidity',
      event: 'add',
      baseMint: keyOf('mint x'),
      quoteMint: null,
      baseAmount: 30n,
      quoteAmount: 0n,
      quoteDecimals: null
    }
  ])
})

void t.test('a pair states its base fee where its creation does', async (t) => {
  const { events, notes } = decode({
    accounts: ['pair', PROGRAM, 'mint x', 'mint y', 'vault x', 'vault y', 'oracle', 'user x', 'user'],
    data: CUSTOMIZABLE_PAIRS[0].write({
      params: {
        activeId: 0,
        binStep: 100,
        baseFactor: 10_000,
        activationType: 0,
        hasAlphaVault: false,
        activationPoint: null,
        creatorPoolOnOffControl: false,
        baseFeePowerFactor: 1,
        concreteFunctionType: 0,
        collectFeeMode: 0,
        padding: new Uint8Array(60)
      }
    }),
    inner: [
      selfCall(
        PROGRAM,
        lbPairCreateEvent.write({
          lbPair: keyOf('pair'),
          binStep: 100,
          tokenX: keyOf('mint x'),
          tokenY: keyOf('mint y')
        })
      )
    ]
  })
  t.strictSame(notes, [])
  t.match(events, [
    { kind: 'pool', event: 'create', pool: keyOf('pair'), baseVault: keyOf('vault x'), feeBps: 1_000 }
  ])
})

void t.test('a swap whose accounts end early is noted', async (t) => {
  const { events, notes } = decode({ accounts: SWAP.slice(0, 5), inner: [PAID, GOT] })
  t.strictSame(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'accounts-unknown' }])
})

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, meteoraDlmm))
void t.test('no bytes make it throw', async (t) => anyCallDecodes(t, meteoraDlmm))
