import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import {
  liquidityIncreased,
  poolInitialized,
  traded
} from '../../../src/chain/venues/orca-whirlpool-events.ts'
import {
  decreaseLiquidity,
  increaseLiquidityByTokenAmountsV2,
  increaseLiquidityV2,
  initializePool,
  initializePoolV2,
  initializePoolWithAdaptiveFee,
  repositionLiquidityV2,
  swap,
  swapV2,
  twoHopSwap,
  twoHopSwapV2
} from '../../../src/chain/venues/orca-whirlpool-instructions.ts'
import { orcaWhirlpool } from '../../../src/chain/venues/orca-whirlpool.ts'
import type { AccountPositions, InstructionLayout } from '../../../src/chain/layout.ts'
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

const [PROGRAM] = orcaWhirlpool.programs as [string]

/** A pool of `mint x` and `mint y` has its vaults named `pool x` and `pool y`. */
const MINTS: Record<string, number> = { a: 6, b: 9, c: 2 }
const BALANCES: BalanceSpec[] = ['one a', 'one b', 'two b', 'two c', 'wallet a', 'wallet b', 'wallet c'].map(
  (account) => {
    const mint = account.slice(-1)
    return { account, mint, owner: account.split(' ')[0]!, decimals: MINTS[mint]! }
  }
)

/** Returns an account list with the named accounts in their positions and fillers elsewhere. */
function accountsOf(layout: InstructionLayout, named: Record<string, string>): string[] {
  const positions: AccountPositions = layout.accounts(99)!
  const list = Array.from({ length: 24 }, (_, position) => `filler ${position}`)
  for (const [name, position] of Object.entries(positions)) list[position] = named[name] ?? name
  return list
}

function decoded(calls: CallSpec[], more: Partial<Parameters<typeof buildTransaction>[0]> = {}) {
  return decodeTransaction(buildTransaction({ signers: ['wallet'], calls, balances: BALANCES, ...more }))
}

function event(pool: string, inputAmount: bigint, outputAmount: bigint, fees: object = {}): Uint8Array {
  return traded.write({
    whirlpool: keyOf(pool),
    aToB: true,
    preSqrtPrice: 1n,
    postSqrtPrice: 1n,
    inputAmount,
    outputAmount,
    inputTransferFee: 0n,
    outputTransferFee: 0n,
    lpFee: 0n,
    protocolFee: 0n,
    ...fees
  })
}

const SWAP_ARGS = {
  amount: 1n,
  otherAmountThreshold: 2n,
  sqrtPriceLimit: 3n,
  amountSpecifiedIsInput: true,
  aToB: true
}
const SWAP_ACCOUNTS = {
  tokenAuthority: 'wallet',
  whirlpool: 'one',
  tokenMintA: 'a',
  tokenMintB: 'b',
  tokenOwnerAccountA: 'wallet a',
  tokenVaultA: 'one a',
  tokenOwnerAccountB: 'wallet b',
  tokenVaultB: 'one b'
}

function swapCall(args: object, inner: CallSpec[], logged: Uint8Array[] = []): CallSpec {
  const data = swap.write({ ...SWAP_ARGS, ...args })
  return { program: PROGRAM, accounts: accountsOf(swap, SWAP_ACCOUNTS), data, inner, logged }
}

const A_TO_B = [
  tokenTransfer('wallet a', 'one a', 'wallet', 700n),
  tokenTransfer('one b', 'wallet b', 'one', 41n)
]

testWithFixtures(t, 'every vector reads as its source states, and lists accounts as it does', async (t) => {
  const vectors = readVectors(fixturesDirectory(), 'orca-whirlpool')
  for (const vector of vectors) {
    t.match(compareVector(orcaWhirlpool, vector), { found: String, differences: [] }, vector.name)
  }
  t.equal(vectors.length, 33)
})

testWithFixtures(t, 'recorded swaps agree with the balances of their vaults, without notes', async (t) => {
  let checked = 0
  for (const { entry, facts, failed, trades, notes } of recordedVenue('orca-whirlpool', 'orca-whirlpool')) {
    const { signature } = entry
    t.same(notes, [], signature)
    t.equal(trades.length, failed ? 0 : entry.instructions['orca-whirlpool']!.length, signature)
    const verdict = checkVaults(facts, trades, PROGRAM, ({ accounts }) =>
      accounts.length >= 15 ? [accounts[8]!, accounts[10]!] : [accounts[4]!, accounts[6]!]
    )
    t.same(verdict.differences, [], signature)
    checked += verdict.checked
  }
  t.ok(checked >= 30, `${checked} swaps were checked`)
})

testWithFixtures(t, 'recorded swaps agree with the hops that an aggregator states', async (t) => {
  t.same(statedHops('orca-whirlpool', 'orca-whirlpool', PROGRAM), { differences: [], hops: 10 })
})

t.test('a swap goes where the vaults say, with fees and exactness, logged or not', async (t) => {
  const expected = {
    kind: 'trade',
    pool: keyOf('one'),
    user: keyOf('wallet'),
    inMint: keyOf('a'),
    outMint: keyOf('b'),
    inAmount: 700n,
    outAmount: 41n,
    exact: 'in'
  }
  const logged = decoded([swapCall({}, A_TO_B, [event('one', 700n, 41n, { lpFee: 5n, protocolFee: 1n })])])
  t.same(logged.notes, [])
  t.match(logged.events, [
    {
      ...expected,
      fees: [
        { kind: 'lp', mint: keyOf('a'), amount: 5n },
        { kind: 'protocol', mint: keyOf('a'), amount: 1n }
      ]
    }
  ])
  for (const logs of [null, ['Log truncated']]) {
    const silent = decoded([swapCall({}, A_TO_B)], { logs })
    t.same(silent.notes, [])
    t.match(silent.events, [{ ...expected, fees: [] }])
  }
})

t.test('a swap for an exact output, from b to a, in the second version', async (t) => {
  const data = swapV2.write({
    ...SWAP_ARGS,
    amountSpecifiedIsInput: false,
    aToB: false,
    remainingAccountsInfo: null
  })
  const inner = [
    checkedTransfer('wallet b', 'b', 'one b', 'wallet', 9n, 9),
    checkedTransfer('one a', 'a', 'wallet a', 'one', 4n, 6)
  ]
  const { events } = decoded([{ program: PROGRAM, accounts: accountsOf(swapV2, SWAP_ACCOUNTS), data, inner }])
  t.match(events, [
    { inMint: keyOf('b'), inAmount: 9n, outMint: keyOf('a'), outAmount: 4n, inDecimals: 9, exact: 'out' }
  ])
})

t.test('transfers win over an event that differs, and the difference is noted', async (t) => {
  const { events, notes } = decoded([swapCall({}, A_TO_B, [event('one', 701n, 41n)])])
  t.match(events, [{ inAmount: 700n }])
  t.match(notes, [{ kind: 'disagreement' }])
})

t.test('a swap against its stated direction is held back', async (t) => {
  const { events, notes } = decoded([swapCall({ aToB: false }, A_TO_B)])
  t.same(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'no-movements' }])
})

t.test('a Token-2022 fee is in the totals: gross as paid, net as received', async (t) => {
  const data = swapV2.write({ ...SWAP_ARGS, remainingAccountsInfo: { slices: [] } })
  const call = (inner: CallSpec[], logged: Uint8Array[]): CallSpec => ({
    program: PROGRAM,
    accounts: accountsOf(swapV2, SWAP_ACCOUNTS),
    data,
    inner,
    logged
  })
  const expected = {
    inAmount: 690n,
    traderIn: 700n,
    outAmount: 41n,
    traderOut: 39n,
    fees: [
      { kind: 'transfer', mint: keyOf('a'), amount: 10n },
      { kind: 'transfer', mint: keyOf('b'), amount: 2n }
    ]
  }
  const stated = [
    checkedTransfer('wallet a', 'a', 'one a', 'wallet', 700n, 6, { fee: 10n }),
    checkedTransfer('one b', 'b', 'wallet b', 'one', 41n, 9, { fee: 2n })
  ]
  t.match(decoded([call(stated, [])]), { events: [expected], notes: [] })

  const program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
  const silent = [
    checkedTransfer('wallet a', 'a', 'one a', 'wallet', 700n, 6, { program }),
    checkedTransfer('one b', 'b', 'closed on the way', 'one', 41n, 9, { program })
  ]
  const closed = call(silent, [event('one', 700n, 41n, { inputTransferFee: 10n, outputTransferFee: 2n })])
  closed.accounts.forEach((account, i) => {
    if (account === 'wallet b') (closed.accounts as string[])[i] = 'closed on the way'
  })
  t.match(decoded([closed]), { events: [expected], notes: [] }, 'the event settles what balances do not show')
  const { events, notes } = decoded([{ ...closed, logged: [] }])
  t.same(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'transfer-fee-unknown' }])
})

const TWO_HOP = {
  amount: 1n,
  otherAmountThreshold: 2n,
  amountSpecifiedIsInput: true,
  aToBOne: true,
  aToBTwo: false,
  sqrtPriceLimitOne: 0n,
  sqrtPriceLimitTwo: 0n
}

// Pool two lists c before b: its second direction is b to a, that is b for c.
const TWO_HOP_ACCOUNTS = {
  tokenAuthority: 'wallet',
  whirlpoolOne: 'one',
  whirlpoolTwo: 'two',
  tokenOwnerAccountOneA: 'wallet a',
  tokenVaultOneA: 'one a',
  tokenOwnerAccountOneB: 'wallet b',
  tokenVaultOneB: 'one b',
  tokenOwnerAccountTwoA: 'wallet c',
  tokenVaultTwoA: 'two c',
  tokenOwnerAccountTwoB: 'wallet b',
  tokenVaultTwoB: 'two b'
}

t.test('a two-hop swap is two trades, the second at the transfer that paid it', async (t) => {
  const accounts = accountsOf(twoHopSwap, TWO_HOP_ACCOUNTS)
  const inner = [
    ...A_TO_B,
    tokenTransfer('wallet b', 'two b', 'wallet', 41n),
    tokenTransfer('two c', 'wallet c', 'two', 5n)
  ]
  const logged = [event('one', 700n, 41n, { lpFee: 3n }), event('two', 41n, 5n, { lpFee: 2n })]
  const { events, notes } = decoded([
    { program: PROGRAM, accounts, data: twoHopSwap.write(TWO_HOP), inner, logged }
  ])
  t.same(notes, [])
  t.match(events, [
    {
      pool: keyOf('one'),
      innerIxIndex: null,
      inAmount: 700n,
      outAmount: 41n,
      traderIn: 700n,
      traderOut: 41n,
      fees: [{ kind: 'lp', mint: keyOf('a'), amount: 3n }],
      route: { hop: 1, hops: 2 }
    },
    {
      pool: keyOf('two'),
      innerIxIndex: 2,
      inMint: keyOf('b'),
      outMint: keyOf('c'),
      inAmount: 41n,
      outAmount: 5n,
      traderIn: 41n,
      traderOut: 5n,
      fees: [{ kind: 'lp', mint: keyOf('b'), amount: 2n }],
      route: { hop: 2, hops: 2 }
    }
  ])
})

t.test('a two-hop swap paid from vault to vault leaves the trader out of its inner side', async (t) => {
  const accounts = accountsOf(twoHopSwap, TWO_HOP_ACCOUNTS)
  const inner = [
    tokenTransfer('wallet a', 'one a', 'wallet', 700n),
    tokenTransfer('one b', 'two b', 'one', 41n),
    tokenTransfer('two c', 'wallet c', 'two', 5n)
  ]
  const { events, notes } = decoded([{ program: PROGRAM, accounts, data: twoHopSwap.write(TWO_HOP), inner }])
  t.same(notes, [])
  t.match(events, [
    { pool: keyOf('one'), inAmount: 700n, outAmount: 41n, traderIn: 700n, traderOut: 0n },
    { pool: keyOf('two'), inAmount: 41n, outAmount: 5n, traderIn: 0n, traderOut: 5n }
  ])
})

t.test(
  'in the second version one transfer is the output of pool one and the input of pool two',
  async (t) => {
    const accounts = accountsOf(twoHopSwapV2, {
      whirlpoolOne: 'one',
      whirlpoolTwo: 'two',
      tokenOwnerAccountInput: 'wallet a',
      tokenVaultOneInput: 'one a',
      tokenVaultOneIntermediate: 'one b',
      tokenVaultTwoIntermediate: 'two b',
      tokenVaultTwoOutput: 'two c',
      tokenOwnerAccountOutput: 'wallet c',
      tokenAuthority: 'wallet'
    })
    const data = twoHopSwapV2.write({
      ...TWO_HOP,
      amountSpecifiedIsInput: false,
      remainingAccountsInfo: null
    })
    const inner = [
      checkedTransfer('wallet a', 'a', 'one a', 'wallet', 700n, 6),
      checkedTransfer('one b', 'b', 'two b', 'one', 41n, 9, { fee: 1n }),
      checkedTransfer('two c', 'c', 'wallet c', 'two', 5n, 2)
    ]
    const { events, notes } = decoded([{ program: PROGRAM, accounts, data, inner }])
    t.same(notes, [])
    t.match(events, [
      {
        pool: keyOf('one'),
        inAmount: 700n,
        outAmount: 41n,
        traderIn: 700n,
        traderOut: 0n,
        innerIxIndex: null,
        exact: 'out'
      },
      {
        pool: keyOf('two'),
        inMint: keyOf('b'),
        inAmount: 40n,
        traderIn: 0n,
        outAmount: 5n,
        traderOut: 5n,
        innerIxIndex: 1,
        user: keyOf('wallet')
      }
    ])
  }
)

const POSITION = {
  whirlpool: 'one',
  positionAuthority: 'wallet',
  position: 'position',
  tokenMintA: 'a',
  tokenMintB: 'b',
  tokenOwnerAccountA: 'wallet a',
  tokenOwnerAccountB: 'wallet b',
  tokenVaultA: 'one a',
  tokenVaultB: 'one b'
}
const inA = (amount: bigint) => tokenTransfer('wallet a', 'one a', 'wallet', amount)
const inB = (amount: bigint) => tokenTransfer('wallet b', 'one b', 'wallet', amount)
const outA = (amount: bigint) => tokenTransfer('one a', 'wallet a', 'one', amount)
const outB = (amount: bigint) => tokenTransfer('one b', 'wallet b', 'one', amount)

t.test('liquidity is what came into the vaults or left them, one-sided too', async (t) => {
  const limits = { minSqrtPrice: 0n, maxSqrtPrice: 0n, tokenMaxA: 9n, tokenMaxB: 9n }
  const cases = [
    [
      increaseLiquidityV2,
      increaseLiquidityV2.write({
        liquidityAmount: 1n,
        tokenMaxA: 9n,
        tokenMaxB: 9n,
        remainingAccountsInfo: null
      }),
      [inA(7n), inB(8n)],
      { event: 'add', baseAmount: 7n, quoteAmount: 8n }
    ],
    [
      increaseLiquidityByTokenAmountsV2,
      increaseLiquidityByTokenAmountsV2.write({ method: 0, ...limits, remainingAccountsInfo: null }),
      [inB(8n)],
      { event: 'add', baseAmount: 0n, quoteAmount: 8n }
    ],
    [
      decreaseLiquidity,
      decreaseLiquidity.write({ liquidityAmount: 1n, tokenMinA: 0n, tokenMinB: 0n }),
      [outA(3n)],
      { event: 'remove', baseAmount: 3n, quoteAmount: 0n }
    ]
  ] as const
  for (const [layout, data, inner, expected] of cases) {
    const { events, notes } = decoded([
      { program: PROGRAM, accounts: accountsOf(layout, POSITION), data, inner }
    ])
    t.same(notes, [], layout.name)
    const origin = {
      kind: 'liquidity',
      pool: keyOf('one'),
      position: keyOf('position'),
      baseMint: keyOf('a')
    }
    t.match(events, [{ ...origin, ...expected, quoteMint: keyOf('b') }], layout.name)
  }
})

t.test('an event that differs from the liquidity moved is noted', async (t) => {
  const stated = liquidityIncreased.write({
    whirlpool: keyOf('one'),
    position: keyOf('position'),
    tickLowerIndex: -1,
    tickUpperIndex: 1,
    liquidity: 1n,
    tokenAAmount: 7n,
    tokenBAmount: 9n,
    tokenATransferFee: 0n,
    tokenBTransferFee: 0n
  })
  const data = increaseLiquidityV2.write({
    liquidityAmount: 1n,
    tokenMaxA: 9n,
    tokenMaxB: 9n,
    remainingAccountsInfo: null
  })
  const accounts = accountsOf(increaseLiquidityV2, POSITION)
  const { events, notes } = decoded([
    { program: PROGRAM, accounts, data, inner: [inA(7n), inB(8n)], logged: [stated] }
  ])
  t.match(events, [{ baseAmount: 7n, quoteAmount: 8n }])
  t.match(notes, [{ kind: 'disagreement' }])
})

t.test('a repositioning adds what came in and removes what left', async (t) => {
  const data = repositionLiquidityV2.write({
    newTickLowerIndex: -1,
    newTickUpperIndex: 1,
    method: 0,
    newLiquidityAmount: 1n,
    existingRangeTokenMinA: 0n,
    existingRangeTokenMinB: 0n,
    newRangeTokenMaxA: 0n,
    newRangeTokenMaxB: 0n,
    remainingAccountsInfo: null
  })
  const accounts = accountsOf(repositionLiquidityV2, POSITION)
  const run = (inner: CallSpec[]) => decoded([{ program: PROGRAM, accounts, data, inner }])
  t.match(run([inA(7n), outB(8n)]), {
    events: [
      { event: 'remove', baseAmount: 0n, quoteAmount: 8n, innerIxIndex: null },
      { event: 'add', baseAmount: 7n, quoteAmount: 0n, innerIxIndex: 0 }
    ],
    notes: []
  })
  t.match(run([inA(7n)]).events, [{ event: 'add', baseAmount: 7n, innerIxIndex: null }])
  t.match(run([outA(7n), outB(1n)]).events, [{ event: 'remove', baseAmount: 7n, quoteAmount: 1n }])
  t.same(run([]), { events: [], notes: [] })
  const [paid, got] = [
    checkedTransfer('wallet a', 'a', 'one a', 'wallet', 7n, 6, { fee: 1n }),
    checkedTransfer('one b', 'b', 'wallet b', 'one', 8n, 9, { fee: 2n })
  ]
  t.match(run([paid, got]), {
    events: [
      { event: 'remove', baseAmount: 0n, traderBase: 0n, quoteAmount: 8n, traderQuote: 6n },
      { event: 'add', baseAmount: 6n, traderBase: 7n, quoteAmount: 0n, traderQuote: 0n }
    ],
    notes: []
  })
})

t.test('each way to open a pool gives its mints and vaults', async (t) => {
  const named = { whirlpool: 'one', funder: 'wallet', tokenMintA: 'a', tokenMintB: 'b', tokenVaultA: 'one a' }
  const creations = [
    [initializePool, initializePool.write({ whirlpoolBump: 1, tickSpacing: 64, initialSqrtPrice: 1n })],
    [initializePoolV2, initializePoolV2.write({ tickSpacing: 64, initialSqrtPrice: 1n })],
    [
      initializePoolWithAdaptiveFee,
      initializePoolWithAdaptiveFee.write({ initialSqrtPrice: 1n, tradeEnableTimestamp: null })
    ]
  ] as const
  for (const [layout, data] of creations) {
    const accounts = accountsOf(layout, { ...named, tokenVaultB: 'one b' })
    t.match(decoded([{ program: PROGRAM, accounts, data }]), {
      events: [
        {
          kind: 'pool',
          event: 'create',
          pool: keyOf('one'),
          user: keyOf('wallet'),
          baseMint: keyOf('a'),
          quoteMint: keyOf('b'),
          baseVault: keyOf('one a'),
          quoteVault: keyOf('one b')
        }
      ],
      notes: []
    })
  }
})

t.test(
  'events of an unknown instruction are a trade and a pool, and the instruction is counted',
  async (t) => {
    const pool = poolInitialized.write({
      whirlpool: keyOf('two'),
      whirlpoolsConfig: keyOf('config'),
      tokenMintA: keyOf('b'),
      tokenMintB: keyOf('c'),
      tickSpacing: 1,
      tokenProgramA: keyOf('p'),
      tokenProgramB: keyOf('p'),
      decimalsA: 9,
      decimalsB: 2,
      initialSqrtPrice: 1n
    })
    const call = {
      program: PROGRAM,
      accounts: ['one'],
      data: new Uint8Array(8),
      inner: A_TO_B,
      logged: [event('one', 700n, 41n), pool]
    }
    const { events, notes } = decoded([call])
    t.match(events, [
      { kind: 'pool', pool: keyOf('two'), baseMint: keyOf('b') },
      { kind: 'trade', pool: keyOf('one'), inMint: keyOf('a'), outMint: keyOf('b'), user: keyOf('wallet') }
    ])
    t.match(notes, [{ kind: 'unknown-instruction' }])
  }
)

t.test(
  'an administrator who restates the liquidity of a pool adds none and is no unknown call',
  async (t) => {
    const data = Buffer.from(`e581999d996a61a0${'07'.repeat(16)}`, 'hex')
    t.match(decoded([{ program: PROGRAM, accounts: ['config', 'one', 'authority'], data }]), {
      events: [],
      notes: []
    })
  }
)

t.test('what every layout reads, it writes again', async (t) => layoutsReadWhatTheyWrite(t, orcaWhirlpool))

t.test('no bytes, accounts or logs throw', async (t) => anyCallDecodes(t, orcaWhirlpool))
