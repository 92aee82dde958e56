import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import { raydiumAmmV4, swapBaseInLog } from '../../../src/chain/venues/raydium-amm-v4.ts'
import { fixtureBlock, fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  burn,
  keyOf,
  littleEndian,
  tokenTransfer,
  type CallSpec,
  type TransactionSpec
} from '../build-transaction.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { decodedFixtures, eventsOf, statedSwaps, statedTotals, vaultDifferences } from './raydium-fixtures.ts'

const VENUE = 'raydium-amm-v4'
const PROGRAM = raydiumAmmV4.programs[0]!

testWithFixtures(t, 'every vector agrees', (t) => {
  const vectors = readVectors(fixturesDirectory(), VENUE)
  t.ok(vectors.length > 0)
  for (const vector of vectors) {
    t.strictSame(compareVector(raydiumAmmV4, vector, { log_type: null }).differences, [], vector.name)
  }
})

testWithFixtures(t, 'recorded transactions decode without anything missing or in disagreement', (t) => {
  for (const fixture of decodedFixtures(VENUE)) {
    const notes = fixture.decoded.notes.filter(({ venue }) => venue === VENUE)
    t.strictSame(notes, [], fixture.entry.signature)
    const count = fixture.entry.instructions[VENUE]?.length
    t.equal(fixture.decoded.events.filter(({ venue }) => venue === VENUE).length, count)
  }
})

testWithFixtures(t, 'amounts equal the balance differences of vaults that one instruction touched', (t) => {
  let compared = 0
  for (const fixture of decodedFixtures(VENUE)) {
    const stated = vaultDifferences(fixture, PROGRAM, (count) => {
      if (count === 8) return { pool: 1, vaults: [3, 4] }
      if (count === 18) return { pool: 1, vaults: [5, 6] }
      return count === 17 ? { pool: 1, vaults: [4, 5] } : null
    })
    const trades = eventsOf(fixture, VENUE, 'trade')
    for (const { pool, differences } of stated) {
      const trade = trades.find((candidate) => pubkeyToBase58(candidate.pool) === pool)
      t.ok(trade, `${fixture.entry.signature} trades on ${pool}`)
      if (trade === undefined) continue
      const expected = differences[0] > 0n ? differences : [differences[1], differences[0]]
      t.strictSame([trade.inAmount, -trade.outAmount], expected, fixture.entry.signature)
      compared++
    }
  }
  t.ok(compared > 40, `${compared} trades compared`)
})

testWithFixtures(t, 'trades are those that the sources of the recorded transactions state', (t) => {
  let compared = 0
  for (const fixture of decodedFixtures(VENUE)) {
    const trades = eventsOf(fixture, VENUE, 'trade')
    for (const swap of statedSwaps(fixture, PROGRAM)) {
      const trade = trades.find(
        ({ inAmount, outAmount }) => inAmount === swap.inAmount && outAmount === swap.outAmount
      )
      t.ok(trade, `${fixture.entry.signature}: ${swap.inAmount} for ${swap.outAmount}`)
      if (trade === undefined) continue
      t.equal(pubkeyToBase58(trade.inMint), swap.inMint)
      t.equal(pubkeyToBase58(trade.outMint), swap.outMint)
      compared++
    }
    if (fixture.decoded.events.length !== 1) continue
    for (const total of statedTotals(fixture)) {
      t.match(trades[0], total, fixture.entry.signature)
      compared++
    }
  }
  t.ok(compared > 10, `${compared} trades compared`)
})

testWithFixtures(t, 'every trade of a whole block agrees with the line that its pool logged', (t) => {
  let trades = 0
  for (const recorded of fixtureBlock().transactions) {
    const outcome = readRpcTransaction(recorded)
    if (outcome.kind !== 'transaction') continue
    const { events, notes } = decodeTransaction(outcome.transaction)
    trades += events.filter(({ kind, venue }) => kind === 'trade' && venue === VENUE).length
    t.strictSame(
      notes.filter(({ venue }) => venue === VENUE),
      []
    )
  }
  t.ok(trades >= 23, `${trades} trades`)
})

testWithFixtures(t, 'a pool states its first deposit, liquidity its shares', (t) => {
  const fixtures = new Map(
    decodedFixtures(VENUE).map((fixture) => [fixture.entry.signature.slice(0, 8), fixture])
  )
  const removed = eventsOf(fixtures.get('66cbwhMB')!, VENUE, 'liquidity')[0]
  t.match(removed, {
    event: 'remove',
    baseAmount: 590358717042758n,
    quoteAmount: 2457502n,
    lpAmount: 37887331922n
  })
  const added = eventsOf(fixtures.get('pXPLUDJP')!, VENUE, 'liquidity')[0]
  t.match(added, {
    event: 'add',
    baseAmount: 214323699689057n,
    quoteAmount: 1000000n,
    lpAmount: 14561191343n
  })
  t.end()
})

const BALANCES = [
  { account: 'coin vault', mint: 'coin', owner: 'authority', decimals: 9 },
  { account: 'pc vault', mint: 'pc', owner: 'authority', decimals: 6 }
]

function swap(accounts: readonly string[], data: string, inner: readonly CallSpec[], more = {}): CallSpec {
  return { program: PROGRAM, accounts, data: Uint8Array.fromHex(data), inner, ...more }
}

const TRANSFERS = [
  tokenTransfer('user pc', 'pc vault', 'user', 10n),
  tokenTransfer('coin vault', 'user coin', 'authority', 100n)
]
const TRADER = ['user pc', 'user coin', 'user']
const ARGUMENTS = '0a000000000000006400000000000000'

void t.test('all account lists of a swap name the same trade', async (t) => {
  const market = Array.from({ length: 8 }, (_, i) => `market ${i}`)
  const head = ['token program', 'amm', 'authority']
  const lists: readonly [string, readonly string[], string][] = [
    ['09', [...head, 'orders', 'targets', 'coin vault', 'pc vault', ...market, ...TRADER], 'in'],
    ['09', [...head, 'orders', 'coin vault', 'pc vault', ...market, ...TRADER], 'in'],
    ['0b', [...head, 'orders', 'coin vault', 'pc vault', ...market, ...TRADER], 'out'],
    ['10', [...head, 'coin vault', 'pc vault', ...TRADER], 'in'],
    ['11', [...head, 'coin vault', 'pc vault', ...TRADER], 'out']
  ]
  for (const [tag, accounts, exact] of lists) {
    const { events, notes } = decodeTransaction(
      buildTransaction({
        signers: ['user'],
        calls: [swap(accounts, tag + ARGUMENTS, TRANSFERS)],
        balances: BALANCES
      })
    )
    t.strictSame(notes, [])
    t.match(events, [
      {
        kind: 'trade',
        pool: keyOf('amm'),
        user: keyOf('user'),
        inMint: keyOf('pc'),
        outMint: keyOf('coin'),
        inAmount: 10n,
        outAmount: 100n,
        traderIn: 10n,
        traderOut: 100n,
        exact
      }
    ])
  }
})

const POOL_ONLY = ['token program', 'amm', 'authority', 'coin vault', 'pc vault', ...TRADER]

void t.test('tokens that a market settles into a vault are no part of the trade', async (t) => {
  const { events } = decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [
        swap(POOL_ONLY, `10${ARGUMENTS}`, [
          {
            program: 'market program',
            accounts: [],
            data: new Uint8Array(1),
            inner: [tokenTransfer('market coin', 'coin vault', 'signer', 77n)]
          },
          ...TRANSFERS
        ])
      ],
      balances: BALANCES
    })
  )
  t.match(events, [{ inAmount: 10n, outAmount: 100n }])
})

void t.test('a log line that says something else is noted, and the transfers count', async (t) => {
  const line = swapBaseInLog.write({
    amountIn: 10n,
    minimumOut: 0n,
    direction: 1n,
    userSource: 10n,
    poolCoin: 1n,
    poolPc: 1n,
    outAmount: 99n
  })
  const { events, notes } = decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [
        swap(POOL_ONLY, `10${ARGUMENTS}`, TRANSFERS, {
          lines: [`Program log: ray_log: ${line.toBase64()}`]
        })
      ],
      balances: BALANCES
    })
  )
  t.match(events, [{ inAmount: 10n, outAmount: 100n }])
  t.match(notes, [{ kind: 'disagreement', venue: VENUE }])
})

void t.test('a relayed trade belongs to the signer that owns its accounts', async (t) => {
  const { events } = decodeTransaction(
    buildTransaction({
      signers: ['relayer', 'owner of the tokens'],
      calls: [swap([...POOL_ONLY.slice(0, 7), 'delegate'], `10${ARGUMENTS}`, TRANSFERS)],
      balances: [
        ...BALANCES,
        { account: 'user pc', mint: 'pc', owner: 'owner of the tokens', decimals: 6, before: 10n, after: 0n }
      ]
    })
  )
  t.match(events, [{ user: keyOf('owner of the tokens') }])
})

void t.test(
  'a swap or a deposit that moved nothing, or whose accounts are cut off, is missing with a reason',
  async (t) => {
    const cases: readonly [TransactionSpec['calls'], string][] = [
      [[swap(POOL_ONLY, `10${ARGUMENTS}`, [])], 'no-movements'],
      [[swap([...POOL_ONLY, 'more', 'and more', 'the rest'], `03${ARGUMENTS}`, [])], 'no-movements'],
      [[swap(POOL_ONLY.slice(0, 6), `10${ARGUMENTS}`, TRANSFERS)], 'accounts-unknown']
    ]
    for (const [calls, reason] of cases) {
      const { events, notes } = decodeTransaction(
        buildTransaction({ signers: ['user'], calls, balances: BALANCES })
      )
      t.strictSame(events, [])
      t.match(notes, [{ kind: 'missing', reason }])
    }
  }
)

void t.test('a withdrawal counts what left the vaults, not what the market settled into them', async (t) => {
  const accounts = [
    'token program',
    'amm',
    'authority',
    'orders',
    'targets',
    'lp mint',
    'coin vault',
    'pc vault'
  ]
  const rest = Array.from({ length: 8 }, (_, i) => `other ${i}`)
  const { events, notes } = decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [
        {
          program: PROGRAM,
          accounts: [...accounts, ...rest, 'user', 'queue', 'bids', 'asks'],
          data: Uint8Array.from([4, ...littleEndian(5n, 8)]),
          inner: [
            tokenTransfer('market coin', 'coin vault', 'signer', 50n),
            tokenTransfer('coin vault', 'user coin', 'authority', 30n),
            tokenTransfer('pc vault', 'user pc', 'authority', 7n),
            burn('user lp', 'lp mint', 'user', 5n)
          ]
        }
      ],
      balances: BALANCES
    })
  )
  t.strictSame(notes, [])
  t.match(events, [
    {
      kind: 'liquidity',
      event: 'remove',
      baseAmount: 30n,
      quoteAmount: 7n,
      lpAmount: 5n,
      user: keyOf('user')
    }
  ])
})

void t.test('a crank, a setting and a fee claim are known and no events', async (t) => {
  for (const tag of [0x02, 0x05, 0x06, 0x07, 0x08, 0x0a, 0x0c, 0x0d, 0x0e, 0x0f]) {
    const { events, notes } = decodeTransaction(
      buildTransaction({
        signers: ['user'],
        calls: [{ program: PROGRAM, accounts: POOL_ONLY, data: Uint8Array.of(tag), inner: TRANSFERS }],
        balances: BALANCES
      })
    )
    t.strictSame([events, notes], [[], []], `tag ${tag}`)
  }
})

void t.test('an unknown instruction is counted', async (t) => {
  const { notes } = decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [{ program: PROGRAM, accounts: [], data: Uint8Array.of(99) }]
    })
  )
  t.match(notes, [{ kind: 'unknown-instruction', discriminator: '63' }])
})

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, raydiumAmmV4))
void t.test('any call decodes without throwing', async (t) => anyCallDecodes(t, raydiumAmmV4))
