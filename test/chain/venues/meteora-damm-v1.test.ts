import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import {
  ADDS,
  INITIALIZES,
  REMOVES,
  initializeCustomizable,
  initializePermissionedPool,
  initializeWithFeeTier,
  swap,
  swapEvent
} from '../../../src/chain/venues/meteora-damm-v1-layouts.ts'
import { meteoraDammV1 } from '../../../src/chain/venues/meteora-damm-v1.ts'
import { testWithFixtures } from '../../fixtures.ts'
import { burn, buildTransaction, keyOf, mintTo, tokenTransfer, type CallSpec } from '../build-transaction.ts'
import { recordedVenue } from '../vault-check.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'

const PROGRAM = meteoraDammV1.programs[0]!
const VAULT_PROGRAM = '24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi'

testWithFixtures(t, 'recorded swaps decode without anything missing or in disagreement', (t) => {
  for (const { entry, events, notes, failed } of recordedVenue('meteora-damm-v1', 'meteora-damm-v1')) {
    t.strictSame(notes, [], entry.signature)
    const swaps = failed ? [] : entry.instructions['meteora-damm-v1']!
    t.strictSame(
      events.map(({ kind }) => kind),
      swaps.map(() => 'trade'),
      entry.signature
    )
  }
})

testWithFixtures(
  t,
  'amounts equal what the shared vaults and the protocol fee account gained and lost',
  (t) => {
    let checked = 0
    for (const { facts, trades, entry } of recordedVenue('meteora-damm-v1', 'meteora-damm-v1')) {
      for (const trade of trades) {
        const call = facts.calls(PROGRAM).find(({ innerIxIndex }) => innerIxIndex === trade.innerIxIndex)!
        const gained = [5, 6, 11].map((position) => facts.tokenDifference(call.accounts[position]!)!.amount)
        const taken = gained.filter((amount) => amount > 0n).reduce((sum, amount) => sum + amount, 0n)
        t.equal(trade.inAmount, taken, entry.signature)
        t.equal(
          -trade.outAmount,
          gained.find((amount) => amount < 0n),
          entry.signature
        )
        checked++
      }
    }
    t.ok(checked >= 7, `${checked} checked`)
    t.end()
  }
)

testWithFixtures(t, 'amounts are those that the sources state', (t) => {
  let hops = 0
  for (const { entry, trades } of recordedVenue('meteora-damm-v1', 'meteora-damm-v1')) {
    const stated = entry.expected.flatMap(({ values }) =>
      (values as { data?: Record<string, string> }[]).filter(({ data }) => data?.amm === PROGRAM)
    )
    for (const { data } of stated) {
      const found = trades.some(
        ({ inAmount, outAmount }) =>
          inAmount === BigInt(data!.inputAmount!) && outAmount === BigInt(data!.outputAmount!)
      )
      t.ok(found, entry.signature)
      hops++
    }
  }
  t.ok(hops >= 3, `${hops} hops`)
  t.end()
})

const SWAP_ACCOUNTS = [
  'pool',
  'user source',
  'user destination',
  'a',
  'b',
  'a tokens',
  'b tokens',
  'a shares',
  'b shares',
  'pool a',
  'pool b',
  'protocol fee',
  'user',
  VAULT_PROGRAM,
  'token'
]
const BALANCES = ['a', 'b'].map((name) => ({
  account: `${name} tokens`,
  mint: `mint ${name}`,
  decimals: name === 'a' ? 6 : 9
}))

/** A call of the vault program: tokens one way, shares the other. */
const vaultCall = (...inner: CallSpec[]): CallSpec => ({
  program: VAULT_PROGRAM,
  accounts: [],
  data: new Uint8Array(8),
  inner
})
const FEE = tokenTransfer('user source', 'protocol fee', 'user', 10n)
const DEPOSIT = vaultCall(
  tokenTransfer('user source', 'a tokens', 'user', 990n),
  mintTo('a shares', 'pool a', 'a', 330n)
)
const WITHDRAWAL = vaultCall(
  burn('pool b', 'b shares', 'pool', 400n),
  tokenTransfer('b tokens', 'user destination', 'b', 400n)
)

function decode(call: Partial<CallSpec>, logs?: null) {
  return decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [
        {
          program: PROGRAM,
          accounts: SWAP_ACCOUNTS,
          data: swap.write({ inAmount: 1_000n, minimumOutAmount: 1n }),
          ...call
        }
      ],
      balances: BALANCES,
      ...(logs !== undefined && { logs })
    })
  )
}

const TRADE = {
  kind: 'trade',
  pool: keyOf('pool'),
  user: keyOf('user'),
  inMint: keyOf('mint a'),
  outMint: keyOf('mint b'),
  inDecimals: 6,
  outDecimals: 9,
  inAmount: 1_000n,
  traderIn: 1_000n,
  outAmount: 400n,
  traderOut: 400n,
  exact: 'in'
}
const stated = { inAmount: 1_000n, outAmount: 400n, tradeFee: 40n, protocolFee: 8n, hostFee: 2n }

void t.test('a protocol fee that is moved aside belongs to the input', async (t) => {
  const { events, notes } = decode({ inner: [FEE, DEPOSIT, WITHDRAWAL], logged: [swapEvent.write(stated)] })
  t.strictSame(notes, [])
  t.match(events, [
    {
      ...TRADE,
      fees: [
        { kind: 'lp', mint: keyOf('mint a'), amount: 40n },
        { kind: 'protocol', mint: keyOf('mint a'), amount: 8n },
        { kind: 'host', mint: keyOf('mint a'), amount: 2n }
      ]
    }
  ])
})

void t.test('without a log the fee that was moved is the one that is known', async (t) => {
  const { events, notes } = decode({ inner: [FEE, DEPOSIT, WITHDRAWAL] }, null)
  t.strictSame(notes, [])
  t.match(events, [{ ...TRADE, fees: [{ kind: 'protocol', mint: keyOf('mint a'), amount: 10n }] }])
})

void t.test('the event may be off by the value of two shares, and not by more', async (t) => {
  const inner = [FEE, DEPOSIT, WITHDRAWAL]
  const near = decode({ inner, logged: [swapEvent.write({ ...stated, inAmount: 992n })] })
  t.strictSame(near.notes, [])
  for (const off of [{ inAmount: 991n }, { outAmount: 405n }]) {
    const far = decode({ inner, logged: [swapEvent.write({ ...stated, ...off })] })
    t.match(far.notes, [{ kind: 'disagreement' }])
    t.match(far.events, [TRADE])
  }
})

void t.test('a swap that moved nothing, or names too few accounts, is noted', async (t) => {
  t.match(decode({}).notes, [{ kind: 'missing', reason: 'no-movements' }])
  t.match(decode({ accounts: ['pool'] }).notes, [{ kind: 'missing', reason: 'accounts-unknown' }])
})

const LIQUIDITY_ACCOUNTS = [
  'pool',
  'lp',
  'user lp',
  'pool a',
  'pool b',
  'a',
  'b',
  'a shares',
  'b shares',
  'a tokens',
  'b tokens',
  'user a',
  'user b',
  'user'
]
const LIQUIDITY = {
  kind: 'liquidity',
  pool: keyOf('pool'),
  user: keyOf('user'),
  baseMint: keyOf('mint a'),
  quoteMint: keyOf('mint b')
}
const AMOUNTS = { tokenAAmount: 30n, tokenBAmount: 7n }

void t.test('adds, balanced or not, are what the vaults received', async (t) => {
  const inner = [
    vaultCall(tokenTransfer('user a', 'a tokens', 'user', 30n), mintTo('a shares', 'pool a', 'a', 30n)),
    vaultCall(tokenTransfer('user b', 'b tokens', 'user', 7n), mintTo('b shares', 'pool b', 'b', 7n)),
    mintTo('lp', 'user lp', 'pool', 12n)
  ]
  for (const data of [
    ADDS[0].write({ poolTokenAmount: 12n, maximumTokenAAmount: 99n, maximumTokenBAmount: 99n }),
    ADDS[1].write({ minimumPoolTokenAmount: 1n, ...AMOUNTS }),
    ADDS[2].write(AMOUNTS)
  ]) {
    const { events, notes } = decode({ accounts: LIQUIDITY_ACCOUNTS, data, inner })
    t.strictSame(notes, [])
    t.match(events, [{ ...LIQUIDITY, event: 'add', baseAmount: 30n, quoteAmount: 7n, lpAmount: 12n }])
  }
})

void t.test('an add in which a vault gave more than it received is held back', async (t) => {
  const { events, notes } = decode({
    accounts: LIQUIDITY_ACCOUNTS,
    data: ADDS[2].write(AMOUNTS),
    inner: [
      vaultCall(tokenTransfer('a tokens', 'user a', 'a', 30n)),
      vaultCall(tokenTransfer('user b', 'b tokens', 'user', 7n))
    ]
  })
  t.strictSame(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'readings-contradict' }])
})

void t.test('a removal of one side has a leg of zero', async (t) => {
  const { events, notes } = decode({
    accounts: [...LIQUIDITY_ACCOUNTS.slice(0, 11), 'user b', 'user'],
    data: REMOVES[1].write({ poolTokenAmount: 12n, minimumOutAmount: 1n }),
    inner: [
      burn('user lp', 'lp', 'user', 12n),
      vaultCall(tokenTransfer('b tokens', 'user b', 'b', 7n), burn('pool b', 'b shares', 'pool', 7n))
    ]
  })
  t.strictSame(notes, [])
  t.match(events, [{ ...LIQUIDITY, event: 'remove', baseAmount: 0n, quoteAmount: 7n, lpAmount: 12n }])
})

void t.test(
  'pools state mints, vaults, what they start with, and the fee where it is an argument',
  async (t) => {
    const created = ['pool', 'lp', 'mint a', 'mint b', 'a', 'b', 'a tokens', 'b tokens']
    const withoutConfig = [...created, ...Array.from({ length: 9 }, (_, i) => `other ${i}`), 'user']
    const withConfig = withoutConfig.toSpliced(1, 0, 'config')
    const inner = [
      vaultCall(tokenTransfer('user a', 'a tokens', 'user', 30n)),
      vaultCall(tokenTransfer('user b', 'b tokens', 'user', 7n))
    ]
    const stable = {
      amp: 100n,
      tokenMultiplier: { tokenAMultiplier: 1n, tokenBMultiplier: 1n, precisionFactor: 6 },
      depeg: { baseVirtualPrice: 0n, baseCacheUpdated: 0n, depegType: 0 },
      lastAmpUpdatedTimestamp: 0n
    }
    const custom = {
      ...AMOUNTS,
      tradeFeeNumerator: 250,
      activationPoint: null,
      hasAlphaVault: false,
      activationType: 0,
      padding: new Array<number>(90).fill(0)
    }
    for (const { accounts, data, feeBps } of [
      { accounts: withoutConfig, data: INITIALIZES[0].write({ curveType: null, ...AMOUNTS }), feeBps: null },
      {
        accounts: withoutConfig,
        data: initializeWithFeeTier.write({ curveType: stable, tradeFeeBps: 15n, ...AMOUNTS }),
        feeBps: 15
      },
      { accounts: withoutConfig, data: initializeCustomizable.write(custom), feeBps: 25 },
      { accounts: withConfig, data: INITIALIZES[3].write(AMOUNTS), feeBps: null },
      { accounts: withConfig, data: INITIALIZES[4].write({ ...AMOUNTS, activationPoint: 5n }), feeBps: null }
    ]) {
      const { events, notes } = decode({ accounts, data, inner })
      t.strictSame(notes, [])
      t.match(events, [
        {
          kind: 'pool',
          event: 'create',
          pool: keyOf('pool'),
          user: keyOf('user'),
          baseMint: keyOf('mint a'),
          quoteMint: keyOf('mint b'),
          baseVault: keyOf('a tokens'),
          quoteVault: keyOf('b tokens'),
          initialBase: 30n,
          initialQuote: 7n,
          feeBps
        }
      ])
    }
    const permissioned = decode({
      accounts: [...created.slice(0, 4), ...Array.from({ length: 11 }, (_, i) => `other ${i}`), 'user'],
      data: initializePermissionedPool.write({ curveType: null })
    })
    t.match(permissioned.events, [{ kind: 'pool', event: 'create', baseVault: null, initialBase: null }])
  }
)

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, meteoraDammV1))
void t.test('no bytes make it throw', async (t) => anyCallDecodes(t, meteoraDammV1))
