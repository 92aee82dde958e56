import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { TOKEN_2022_PROGRAM } from '../../../src/chain/token-movement.ts'
import {
  cpmmInitialize,
  cpmmInitializeWithPermission,
  deposit,
  lpChangeEvent,
  swapBaseInput,
  swapBaseOutput,
  swapEvent,
  withdraw,
  type SwapStated
} from '../../../src/chain/venues/raydium-cpmm-layouts.ts'
import { raydiumCpmm } from '../../../src/chain/venues/raydium-cpmm.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  burn,
  checkedTransfer,
  keyOf,
  mintTo,
  tokenTransfer,
  type CallSpec
} from '../build-transaction.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { decodedFixtures, eventsOf, statedSwaps, vaultDifferences } from './raydium-fixtures.ts'

const VENUE = 'raydium-cpmm'
const PROGRAM = raydiumCpmm.programs[0]!

testWithFixtures(t, 'every vector agrees', (t) => {
  const vectors = readVectors(fixturesDirectory(), VENUE)
  t.ok(vectors.length > 0)
  for (const vector of vectors) t.strictSame(compareVector(raydiumCpmm, vector).differences, [], vector.name)
})

testWithFixtures(t, 'recorded swaps equal the balance differences of their vaults, and lack nothing', (t) => {
  let compared = 0
  for (const fixture of decodedFixtures(VENUE)) {
    t.strictSame(
      fixture.decoded.notes.filter(({ venue }) => venue === VENUE),
      []
    )
    const trades = eventsOf(fixture, VENUE, 'trade')
    t.equal(trades.length, fixture.entry.instructions[VENUE]!.length)
    for (const { pool, differences } of vaultDifferences(fixture, PROGRAM, () => ({
      pool: 3,
      vaults: [6, 7]
    }))) {
      const trade = trades.find((candidate) => pubkeyToBase58(candidate.pool) === pool)!
      t.strictSame([trade.inAmount, -trade.outAmount], differences, fixture.entry.signature)
      compared++
    }
    for (const swap of statedSwaps(fixture, PROGRAM)) {
      // The router rounds the transfer fee down; balances and the venue's event show it rounded up.
      const trade = trades[0]!
      const rounding = trade.outAmount > trade.traderOut ? 1n : 0n
      t.strictSame([trade.traderIn, trade.traderOut + rounding], [swap.inAmount, swap.outAmount])
    }
  }
  t.ok(compared >= 3)
  t.end()
})

testWithFixtures(t, 'recorded transfer fees part the fill from what the trader paid and got', (t) => {
  const trades = new Map(
    decodedFixtures(VENUE).map((fixture) => [
      fixture.entry.signature.slice(0, 8),
      eventsOf(fixture, VENUE, 'trade')[0]
    ])
  )
  t.match(trades.get('2bhr1FWq'), { traderIn: 358_800n, inAmount: 344_448n, outAmount: 15_742n })
  t.match(trades.get('GCeRpjvf'), {
    inAmount: 13_377_864_233_688n,
    outAmount: 6_559_652_940n,
    traderOut: 6_428_459_881n
  })
  t.end()
})

const ACCOUNTS = [
  'user',
  'authority',
  'config',
  'pool',
  'user 0',
  'user 1',
  'vault 0',
  'vault 1',
  'program 0',
  'program 1',
  'mint 0',
  'mint 1',
  'observation'
]
const BALANCES = ['0', '1'].map((side) => ({
  account: `vault ${side}`,
  mint: `mint ${side}`,
  owner: 'authority',
  decimals: 6
}))
const TRANSFERS = [
  tokenTransfer('user 0', 'vault 0', 'user', 100n),
  tokenTransfer('vault 1', 'user 1', 'authority', 50n)
]
const STATED: SwapStated = {
  poolId: keyOf('pool'),
  inputVaultBefore: 1000n,
  outputVaultBefore: 1000n,
  inputAmount: 100n,
  outputAmount: 50n,
  inputTransferFee: 0n,
  outputTransferFee: 0n,
  baseInput: true
}
const WITH_FEES = {
  inputMint: keyOf('mint 0'),
  outputMint: keyOf('mint 1'),
  tradeFee: 4n,
  creatorFee: 2n,
  creatorFeeOnInput: false
}

function decode(call: Partial<CallSpec>) {
  return decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [{ program: PROGRAM, accounts: ACCOUNTS, data: new Uint8Array(0), ...call }],
      balances: BALANCES
    })
  )
}

const EXACT_OUT = swapBaseOutput.write({ maxAmountIn: 999n, amountOut: 50n })

void t.test('both lengths of the event go with the trade; the longer states fees', async (t) => {
  const sizes: number[] = []
  for (const [value, fees] of [
    [STATED, []],
    [
      { ...STATED, ...WITH_FEES },
      [
        { kind: 'trading', mint: keyOf('mint 0'), amount: 4n },
        { kind: 'creator', mint: keyOf('mint 1'), amount: 2n }
      ]
    ]
  ] as const) {
    const event = swapEvent.write(value)
    sizes.push(event.length - 8)
    const { events, notes } = decode({ data: EXACT_OUT, inner: TRANSFERS, logged: [event] })
    t.strictSame(notes, [])
    t.match(events, [{ kind: 'trade', inAmount: 100n, outAmount: 50n, traderIn: 100n, exact: 'out' }])
    t.strictSame(
      events.flatMap((trade) => (trade.kind === 'trade' ? trade.fees : [])),
      fees
    )
  }
  t.strictSame(sizes, [81, 162])
})

void t.test('an event longer than known is read, and noted as drift', async (t) => {
  const event = Uint8Array.from([...swapEvent.write({ ...STATED, ...WITH_FEES }), 1, 2])
  const { events, notes } = decode({ data: EXACT_OUT, inner: TRANSFERS, logged: [event] })
  t.match(events, [{ kind: 'trade', inAmount: 100n }])
  t.match(notes, [{ kind: 'drift', layout: 'SwapEvent', bytes: 2 }])
})

void t.test('the event settles transfer fees that balances leave open', async (t) => {
  const program = TOKEN_2022_PROGRAM
  const inner = [
    checkedTransfer('user 0', 'mint 0', 'vault 0', 'user', 110n, 6, { program }),
    checkedTransfer('vault 1', 'mint 1', 'user 1', 'authority', 50n, 6, { program })
  ]
  const event = swapEvent.write({ ...STATED, inputTransferFee: 10n, outputTransferFee: 5n })
  const data = swapBaseInput.write({ amountIn: 110n, minimumAmountOut: 0n })
  const { events, notes } = decode({ data, inner, logged: [event] })
  t.strictSame(notes, [])
  t.match(events, [{ inAmount: 100n, outAmount: 50n, traderIn: 110n, traderOut: 45n, exact: 'in' }])
})

void t.test(
  'an account that was opened and closed on the way tells the fee by what it passed on',
  async (t) => {
    const program = TOKEN_2022_PROGRAM
    const { events, notes } = decodeTransaction(
      buildTransaction({
        signers: ['user'],
        calls: [
          { program, accounts: ['temporary', 'mint 1'], data: Uint8Array.from([18, ...keyOf('user')]) },
          {
            program: PROGRAM,
            accounts: ACCOUNTS.with(5, 'temporary'),
            data: EXACT_OUT,
            inner: [
              TRANSFERS[0]!,
              checkedTransfer('vault 1', 'mint 1', 'temporary', 'authority', 50n, 6, { program })
            ]
          },
          checkedTransfer('temporary', 'mint 1', 'elsewhere', 'user', 45n, 6, { program })
        ],
        balances: BALANCES
      })
    )
    t.strictSame(notes, [])
    t.match(events, [{ inAmount: 100n, outAmount: 50n, traderIn: 100n, traderOut: 45n }])
  }
)

void t.test('an event that disagrees is noted, and the transfers count', async (t) => {
  const event = swapEvent.write({ ...STATED, outputAmount: 51n })
  const { events, notes } = decode({ data: EXACT_OUT, inner: TRANSFERS, logged: [event] })
  t.match(events, [{ inAmount: 100n, outAmount: 50n }])
  t.match(notes, [{ kind: 'disagreement' }])
})

void t.test('an event of an instruction that is not known is still a trade', async (t) => {
  const { events, notes } = decode({
    data: Uint8Array.fromHex('0102030405060708'),
    accounts: [],
    inner: TRANSFERS,
    logged: [swapEvent.write(STATED)]
  })
  t.match(notes, [{ kind: 'unknown-instruction' }])
  t.match(events, [{ kind: 'trade', pool: keyOf('pool'), inAmount: 100n, outAmount: 50n }])
})

const PROVIDER = [
  'user',
  'authority',
  'pool',
  'user lp',
  'user 0',
  'user 1',
  'vault 0',
  'vault 1',
  'token program',
  'token-2022',
  'mint 0',
  'mint 1',
  'lp mint'
]

void t.test('deposits and withdrawals state both sides and the shares', async (t) => {
  const change = {
    poolId: keyOf('pool'),
    lpAmountBefore: 1n,
    token0VaultBefore: 1n,
    token1VaultBefore: 1n,
    token0Amount: 30n,
    token1Amount: 40n,
    token0TransferFee: 0n,
    token1TransferFee: 0n
  }
  const added = decode({
    accounts: PROVIDER,
    data: deposit.write({ lpTokenAmount: 9n, maximumToken0Amount: 99n, maximumToken1Amount: 99n }),
    inner: [
      tokenTransfer('user 0', 'vault 0', 'user', 30n),
      tokenTransfer('user 1', 'vault 1', 'user', 40n),
      mintTo('lp mint', 'user lp', 'authority', 9n)
    ],
    logged: [lpChangeEvent.write({ ...change, changeType: 0 })]
  })
  t.strictSame(added.notes, [])
  t.match(added.events, [{ event: 'add', baseAmount: 30n, quoteAmount: 40n, lpAmount: 9n, position: null }])
  const removed = decode({
    accounts: [...PROVIDER, 'memo'],
    data: withdraw.write({ lpTokenAmount: 9n, minimumToken0Amount: 0n, minimumToken1Amount: 0n }),
    inner: [
      burn('user lp', 'lp mint', 'user', 9n),
      checkedTransfer('vault 0', 'mint 0', 'user 0', 'authority', 33n, 6, { fee: 3n }),
      tokenTransfer('vault 1', 'user 1', 'authority', 40n)
    ],
    logged: [lpChangeEvent.write({ ...change, token0TransferFee: 3n, changeType: 1 })]
  })
  t.strictSame(removed.notes, [])
  t.match(removed.events, [{ event: 'remove', baseAmount: 33n, quoteAmount: 40n, lpAmount: 9n }])
})

void t.test('a pool is created with what its vaults were first credited', async (t) => {
  const inner = [
    tokenTransfer('creator 0', 'vault 0', 'user', 500n),
    tokenTransfer('creator 1', 'vault 1', 'user', 700n)
  ]
  const amounts = { initAmount0: 500n, initAmount1: 700n, openTime: 0n }
  const head = ['user', 'config', 'authority', 'pool', 'mint 0', 'mint 1', 'lp mint']
  const tail = ['creator 0', 'creator 1', 'creator lp', 'vault 0', 'vault 1', 'fee', 'observation']
  const variants: readonly [Uint8Array, string[]][] = [
    [cpmmInitialize.write(amounts), [...head, ...tail]],
    [cpmmInitializeWithPermission.write({ ...amounts, creatorFeeOn: 1 }), ['payer', ...head, ...tail]]
  ]
  for (const [data, accounts] of variants) {
    const { events, notes } = decode({ data, accounts, inner })
    t.strictSame(notes, [])
    t.match(events, [
      {
        kind: 'pool',
        event: 'create',
        pool: keyOf('pool'),
        user: keyOf('user'),
        baseMint: keyOf('mint 0'),
        quoteVault: keyOf('vault 1'),
        initialBase: 500n,
        initialQuote: 700n
      }
    ])
  }
})

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, raydiumCpmm))
void t.test('any call decodes without throwing', async (t) => anyCallDecodes(t, raydiumCpmm))
