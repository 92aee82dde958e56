import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { TOKEN_2022_PROGRAM } from '../../../src/chain/token-movement.ts'
import {
  createPersonalPositionEvent,
  decreaseLiquidityEvent,
  increaseLiquidityEvent,
  swapEvent,
  type SwapStated
} from '../../../src/chain/venues/raydium-clmm-events.ts'
import {
  createPool,
  decreaseLiquidityV2,
  increaseLiquidityV2,
  openPosition,
  openPositionWithToken22Nft,
  swap,
  swapRouterBaseIn,
  swapV2
} from '../../../src/chain/venues/raydium-clmm-instructions.ts'
import { raydiumClmm } from '../../../src/chain/venues/raydium-clmm.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  checkedTransfer,
  keyOf,
  tokenTransfer,
  type BalanceSpec,
  type CallSpec
} from '../build-transaction.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { decodedFixtures, eventsOf, statedTotals, vaultDifferences } from './raydium-fixtures.ts'

const VENUE = 'raydium-clmm'
const PROGRAM = raydiumClmm.programs[0]!

testWithFixtures(t, 'every vector agrees', (t) => {
  const vectors = readVectors(fixturesDirectory(), VENUE)
  t.ok(vectors.length > 0)
  for (const vector of vectors) t.strictSame(compareVector(raydiumClmm, vector).differences, [], vector.name)
})

testWithFixtures(t, 'recorded transactions decode without anything missing or in disagreement', (t) => {
  for (const fixture of decodedFixtures(VENUE)) {
    t.strictSame(
      fixture.decoded.notes.filter(({ venue }) => venue === VENUE),
      [],
      fixture.entry.signature
    )
    const known = fixture.entry.instructions[VENUE]!.filter((name) => name !== 'close_position')
    t.equal(fixture.decoded.events.filter(({ venue }) => venue === VENUE).length, known.length)
  }
})

testWithFixtures(t, 'amounts equal the balance differences of vaults that one instruction touched', (t) => {
  let compared = 0
  for (const fixture of decodedFixtures(VENUE)) {
    if (!fixture.entry.kind.includes('swap')) continue
    const trades = eventsOf(fixture, VENUE, 'trade')
    for (const { pool, differences } of vaultDifferences(fixture, PROGRAM, () => ({
      pool: 2,
      vaults: [5, 6]
    }))) {
      const trade = trades.find((candidate) => pubkeyToBase58(candidate.pool) === pool)!
      t.strictSame([trade.inAmount, -trade.outAmount], differences, fixture.entry.signature)
      compared++
    }
  }
  t.ok(compared >= 15, `${compared} trades compared`)
})

testWithFixtures(t, 'trades are those that the sources of the recorded transactions state', (t) => {
  const fixtures = decodedFixtures(VENUE)
  const lone = fixtures.filter(({ decoded }) => decoded.events.length === 1)
  let compared = 0
  for (const fixture of lone) {
    for (const total of statedTotals(fixture)) {
      t.match(eventsOf(fixture, VENUE, 'trade')[0], total)
      compared++
    }
  }
  t.ok(compared > 0)
  const trades = (start: string) =>
    eventsOf(
      fixtures.find(({ entry }) => entry.signature.startsWith(start))!,
      VENUE,
      'trade'
    )
  t.equal(trades('DHFysLFq')[0]!.inAmount, 400_000_000n)
  t.equal(trades('k2eGRDNq')[0]!.inAmount, 2_390_000_000n)
  t.equal(trades('5XYf7V6r')[1]!.outAmount, 10_000_000_000n)
  t.equal(trades('2bhr1FWq')[0]!.outAmount, 74_619n)
})

testWithFixtures(
  t,
  'a decrease is its liquidity without the fees that left with it, which only its event tells',
  (t) => {
    const fixture = decodedFixtures(VENUE).find(({ entry }) => entry.kind.includes('liquidity-remove'))!
    t.match(eventsOf(fixture, VENUE, 'liquidity'), [
      { event: 'remove', baseAmount: 0n, quoteAmount: 1_076_965n }
    ])
    const withoutLogs = decodeTransaction({ ...fixture.transaction, logs: null })
    t.strictSame(withoutLogs.events, [])
    t.match(withoutLogs.notes, [{ kind: 'missing', reason: 'event-missing' }])
    t.end()
  }
)

testWithFixtures(t, 'recorded swaps read the same without their logs', (t) => {
  for (const { decoded, transaction, entry } of decodedFixtures(VENUE)) {
    if (entry.kind.includes('liquidity-remove')) continue
    const { events } = decodeTransaction({ ...transaction, logs: null })
    const amounts = (all: typeof events) =>
      all.flatMap((event) =>
        event.kind === 'trade' && event.venue === VENUE
          ? [[event.inAmount, event.outAmount, event.traderIn, event.traderOut]]
          : []
      )
    t.strictSame(amounts(events), amounts(decoded.events), entry.signature)
  }
  t.end()
})

const ARGUMENTS = { amount: 110n, otherAmountThreshold: 1n, sqrtPriceLimitX64: 0n, isBaseInput: true }

const stated = (pool: string, more: Partial<SwapStated>): SwapStated => ({
  poolState: keyOf(pool),
  sender: keyOf('user'),
  tokenAccount0: keyOf('user 0'),
  tokenAccount1: keyOf('user 1'),
  amount0: 100n,
  transferFee0: 0n,
  amount1: 50n,
  transferFee1: 0n,
  zeroForOne: true,
  sqrtPriceX64: 1n << 64n,
  liquidity: 1n,
  tick: -5,
  ...more
})

function vault(account: string, mint: string, more: Partial<BalanceSpec> = {}): BalanceSpec {
  return { account, mint, owner: 'pool', decimals: 6, ...more }
}
const BALANCES = [vault('vault 0', 'mint 0'), vault('vault 1', 'mint 1', { decimals: 9 })]
const SINGLE = [
  'user',
  'config',
  'pool',
  'user 0',
  'user 1',
  'vault 0',
  'vault 1',
  'observation',
  'token program'
]
const TRANSFERS = [
  tokenTransfer('user 0', 'vault 0', 'user', 100n),
  tokenTransfer('vault 1', 'user 1', 'pool', 50n)
]

function decode(call: Partial<CallSpec>, balances: readonly BalanceSpec[] = BALANCES) {
  return decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [{ program: PROGRAM, accounts: SINGLE, data: new Uint8Array(0), ...call }],
      balances
    })
  )
}

void t.test('an exact-out swap with the newer event states the trading fees', async (t) => {
  const { events, notes } = decode({
    data: swap.write({ ...ARGUMENTS, isBaseInput: false }),
    inner: TRANSFERS,
    logged: [swapEvent.write(stated('pool', { tradeFee0: 3n, tradeFee1: 0n }))]
  })
  t.strictSame(notes, [])
  t.match(events, [
    {
      kind: 'trade',
      pool: keyOf('pool'),
      inMint: keyOf('mint 0'),
      outMint: keyOf('mint 1'),
      inDecimals: 6,
      outDecimals: 9,
      inAmount: 100n,
      outAmount: 50n,
      exact: 'out',
      fees: [{ kind: 'trading', mint: keyOf('mint 0'), amount: 3n }]
    }
  ])
})

void t.test('transfer fees on both sides part the fill from what the trader paid and got', async (t) => {
  const inner = [
    checkedTransfer('user 0', 'mint 0', 'vault 0', 'user', 110n, 6, { fee: 10n }),
    checkedTransfer('vault 1', 'mint 1', 'user 1', 'pool', 50n, 9, { fee: 5n })
  ]
  const event = stated('pool', { amount0: 100n, transferFee0: 10n, amount1: 45n, transferFee1: 5n })
  const { events, notes } = decode({ data: swapV2.write(ARGUMENTS), inner, logged: [swapEvent.write(event)] })
  t.strictSame(notes, [])
  t.match(events, [{ inAmount: 100n, outAmount: 50n, traderIn: 110n, traderOut: 45n }])
  t.strictSame(
    events.flatMap((trade) =>
      trade.kind === 'trade' ? trade.fees.map(({ kind, amount }) => [kind, amount]) : []
    ),
    [
      ['transfer', 10n],
      ['transfer', 5n]
    ]
  )
})

void t.test(
  'the event settles a transfer fee that balances leave open, and without it the trade is missing',
  async (t) => {
    const program = TOKEN_2022_PROGRAM
    const inner = [
      checkedTransfer('user 0', 'mint 0', 'vault 0', 'user', 110n, 6, { program }),
      checkedTransfer('vault 1', 'mint 1', 'user 1', 'pool', 50n, 9, { program })
    ]
    const event = stated('pool', { amount0: 100n, transferFee0: 10n, amount1: 45n, transferFee1: 5n })
    const data = swapV2.write(ARGUMENTS)
    const known = decode({ data, inner, logged: [swapEvent.write(event)] })
    t.strictSame(known.notes, [])
    t.match(known.events, [{ inAmount: 100n, outAmount: 50n, traderIn: 110n, traderOut: 45n }])
    const open = decode({ data, inner })
    t.strictSame(open.events, [])
    t.match(open.notes, [{ kind: 'missing', reason: 'transfer-fee-unknown' }])
  }
)

const ROUTE = ['user', 'user a', 'mint a', 'token program', 'token-2022', 'memo']
const HOP_1 = [
  'config',
  'pool 1',
  'user b',
  'a vault',
  'b vault 1',
  'mint b',
  'observation 1',
  'ticks',
  'ticks 2'
]
const HOP_2 = ['config', 'pool 2', 'user c', 'b vault 2', 'c vault', 'mint c', 'observation 2', 'ticks 3']
const ROUTED = [
  vault('a vault', 'mint a'),
  vault('b vault 1', 'mint b'),
  vault('b vault 2', 'mint b'),
  vault('c vault', 'mint c')
]
const ROUTE_TRANSFERS = [
  tokenTransfer('user a', 'a vault', 'user', 100n),
  tokenTransfer('b vault 1', 'user b', 'pool', 50n),
  tokenTransfer('user b', 'b vault 2', 'user', 50n),
  tokenTransfer('c vault', 'user c', 'pool', 7n)
]
const ROUTE_EVENTS = [
  swapEvent.write(stated('pool 1', {})),
  swapEvent.write(stated('pool 2', { zeroForOne: false, amount0: 7n, amount1: 50n }))
]

void t.test('a routed swap is one trade per hop, with and without its log', async (t) => {
  for (const logged of [ROUTE_EVENTS, []]) {
    const { events, notes } = decode(
      {
        accounts: [...ROUTE, ...HOP_1, ...HOP_2],
        data: swapRouterBaseIn.write({ amountIn: 100n, amountOutMinimum: 1n }),
        inner: ROUTE_TRANSFERS,
        logged
      },
      ROUTED
    )
    t.strictSame(notes, [])
    t.match(events, [
      {
        pool: keyOf('pool 1'),
        inMint: keyOf('mint a'),
        outMint: keyOf('mint b'),
        inAmount: 100n,
        outAmount: 50n,
        innerIxIndex: null,
        route: { hop: 1, hops: 2 }
      },
      {
        pool: keyOf('pool 2'),
        inMint: keyOf('mint b'),
        outMint: keyOf('mint c'),
        inAmount: 50n,
        outAmount: 7n,
        innerIxIndex: 2,
        route: { hop: 2, hops: 2 }
      }
    ])
  }
})

void t.test('an event of an instruction that is not known is still a trade', async (t) => {
  const { events, notes } = decode({
    data: Uint8Array.fromHex('0102030405060708'),
    inner: TRANSFERS,
    logged: [swapEvent.write(stated('pool', {}))]
  })
  t.match(notes, [{ kind: 'unknown-instruction' }])
  t.match(events, [{ kind: 'trade', pool: keyOf('pool'), inAmount: 100n, outAmount: 50n, exact: null }])
})

void t.test('a fork with the same discriminators is another program', async (t) => {
  const { events, notes } = decode({
    program: 'HpNfyc2Saw7RKkQd8nEL4khUcuPhQ7WwY1B2qjx8jxFq',
    data: swap.write(ARGUMENTS),
    inner: TRANSFERS
  })
  t.strictSame([events, notes], [[], []])
})

const RANGE = {
  tickLowerIndex: -10,
  tickUpperIndex: 10,
  tickArrayLowerStartIndex: -60,
  tickArrayUpperStartIndex: 0,
  liquidity: 5n,
  amount0Max: 100n,
  amount1Max: 100n
}
const DEPOSITS = [
  tokenTransfer('user 0', 'vault 0', 'user', 30n),
  tokenTransfer('user 1', 'vault 1', 'user', 40n)
]
const OPENED = {
  poolState: keyOf('pool'),
  minter: keyOf('user'),
  nftOwner: keyOf('user'),
  tickLowerIndex: -10,
  tickUpperIndex: 10,
  liquidity: 5n,
  depositAmount0: 30n,
  depositAmount1: 40n,
  depositAmount0TransferFee: 0n,
  depositAmount1TransferFee: 0n
}

/** Returns an account list with the given names in their positions. */
function listed(count: number, named: Readonly<Record<number, string>>): string[] {
  return Array.from({ length: count }, (_, i) => named[i] ?? `other ${i}`)
}

void t.test('opening a position adds its liquidity; opened empty it is no event', async (t) => {
  const variants: readonly [Uint8Array, string[]][] = [
    [
      openPosition.write(RANGE),
      listed(19, { 0: 'user', 5: 'pool', 9: 'position', 12: 'vault 0', 13: 'vault 1' })
    ],
    [
      openPositionWithToken22Nft.write({ ...RANGE, withMetadata: true, baseFlag: null }),
      listed(20, { 0: 'user', 4: 'pool', 8: 'position', 11: 'vault 0', 12: 'vault 1' })
    ]
  ]
  for (const [data, accounts] of variants) {
    for (const logged of [[createPersonalPositionEvent.write(OPENED)], []]) {
      const { events, notes } = decode({ data, accounts, inner: DEPOSITS, logged })
      t.strictSame(notes, [])
      t.match(events, [
        {
          kind: 'liquidity',
          event: 'add',
          pool: keyOf('pool'),
          position: keyOf('position'),
          baseAmount: 30n,
          quoteAmount: 40n
        }
      ])
    }
    t.strictSame(decode({ data, accounts }), { events: [], notes: [] })
  }
})

void t.test(
  'one-sided liquidity has a leg of 0, and an event that contradicts the transfers holds it back',
  async (t) => {
    const accounts = listed(15, { 0: 'user', 2: 'pool', 4: 'position', 9: 'vault 0', 10: 'vault 1' })
    const data = increaseLiquidityV2.write({ liquidity: 5n, amount0Max: 100n, amount1Max: 100n })
    const logged = (amount1: bigint) => [
      increaseLiquidityEvent.write({
        positionNftMint: keyOf('nft'),
        liquidity: 5n,
        amount0: 0n,
        amount1,
        amount0TransferFee: 0n,
        amount1TransferFee: 0n
      })
    ]
    const agreeing = decode({ data, accounts, inner: DEPOSITS.slice(1), logged: logged(40n) })
    t.match(agreeing.events, [{ event: 'add', baseAmount: 0n, quoteAmount: 40n }])
    const contradicting = decode({ data, accounts, inner: DEPOSITS.slice(1), logged: logged(41n) })
    t.strictSame(contradicting.events, [])
    t.match(contradicting.notes, [{ kind: 'missing', reason: 'readings-contradict' }])
  }
)

void t.test('a decrease by nothing is a claim of fees', async (t) => {
  const accounts = listed(16, { 0: 'user', 2: 'position', 3: 'pool', 5: 'vault 0', 6: 'vault 1' })
  const inner = [
    tokenTransfer('vault 0', 'user 0', 'pool', 3n),
    tokenTransfer('vault 1', 'user 1', 'pool', 4n)
  ]
  const data = decreaseLiquidityV2.write({ liquidity: 0n, amount0Min: 0n, amount1Min: 0n })
  const claimed = decreaseLiquidityEvent.write({
    positionNftMint: keyOf('nft'),
    liquidity: 0n,
    decreaseAmount0: 0n,
    decreaseAmount1: 0n,
    feeAmount0: 3n,
    feeAmount1: 4n,
    rewardAmounts: [0n, 0n, 0n],
    transferFee0: 0n,
    transferFee1: 0n
  })
  for (const logged of [[claimed], []]) {
    t.strictSame(decode({ data, accounts, inner, logged }), { events: [], notes: [] })
  }
})

void t.test('a pool is created by its first accounts', async (t) => {
  const { events, notes } = decode({
    accounts: ['user', 'config', 'pool', 'mint 0', 'mint 1', 'vault 0', 'vault 1', ...SINGLE.slice(7)],
    data: createPool.write({ sqrtPriceX64: 1n, openTime: 0n })
  })
  t.strictSame(notes, [])
  t.match(events, [
    {
      kind: 'pool',
      event: 'create',
      pool: keyOf('pool'),
      baseMint: keyOf('mint 0'),
      quoteMint: keyOf('mint 1'),
      baseVault: keyOf('vault 0'),
      quoteVault: keyOf('vault 1')
    }
  ])
})

void t.test('a limit order that is placed or settled is no event', async (t) => {
  for (const discriminator of ['9d20dab7471d1293', 'cd4e74215c691a60', '4c7c800fd55725fa']) {
    t.strictSame(decode({ data: Uint8Array.fromHex(discriminator), inner: TRANSFERS }), {
      events: [],
      notes: []
    })
  }
})

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, raydiumClmm))
void t.test('any call decodes without throwing', async (t) => anyCallDecodes(t, raydiumClmm))
