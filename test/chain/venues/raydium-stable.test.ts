import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { raydiumStable } from '../../../src/chain/venues/raydium-stable.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import {
  buildTransaction,
  burn,
  keyOf,
  littleEndian,
  mintTo,
  tokenTransfer,
  type CallSpec
} from '../build-transaction.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { compareVector, readVectors } from '../vectors.ts'

const PROGRAM = raydiumStable.programs[0]!
const BALANCES = ['coin', 'pc'].map((side) => ({
  account: `${side} vault`,
  mint: side,
  owner: 'authority',
  decimals: 6
}))
const MARKET = ['program', 'market', 'bids', 'asks', 'queue', 'market coin', 'market pc', 'signer']
const TRADER = ['user pc', 'user coin', 'user']
const HEAD = ['token program', 'amm', 'authority', 'orders']

function decode(call: Partial<CallSpec>) {
  return decodeTransaction(
    buildTransaction({
      signers: ['user'],
      calls: [{ program: PROGRAM, accounts: [], data: new Uint8Array(0), ...call }],
      balances: BALANCES
    })
  )
}

function words(tag: number, ...values: bigint[]): Uint8Array {
  return Uint8Array.from([tag, ...values.flatMap((value) => [...littleEndian(value, 8)])])
}

testWithFixtures(t, 'every vector agrees', (t) => {
  const vectors = readVectors(fixturesDirectory(), 'raydium-stable')
  t.ok(vectors.length > 0)
  for (const vector of vectors)
    t.strictSame(compareVector(raydiumStable, vector).differences, [], vector.name)
})

void t.test('a swap is found wherever the account list has its vaults', async (t) => {
  const lists = [
    [...HEAD, 'coin vault', 'pc vault', 'model data', ...MARKET, ...TRADER],
    [...HEAD, 'targets', 'coin vault', 'pc vault', ...MARKET, ...TRADER]
  ]
  for (const accounts of lists) {
    for (const [tag, exact] of [
      [9, 'in'],
      [11, 'out']
    ] as const) {
      const { events, notes } = decode({
        accounts,
        data: words(tag, 10n, 9n),
        inner: [
          tokenTransfer('market coin', 'coin vault', 'signer', 3n),
          tokenTransfer('user pc', 'pc vault', 'user', 10n),
          tokenTransfer('coin vault', 'user coin', 'authority', 9n)
        ]
      })
      t.strictSame(notes, [])
      t.match(events, [
        {
          kind: 'trade',
          pool: keyOf('amm'),
          user: keyOf('user'),
          inMint: keyOf('pc'),
          outMint: keyOf('coin'),
          inAmount: 10n,
          outAmount: 9n,
          exact
        }
      ])
    }
  }
})

void t.test('liquidity is what crossed the vaults', async (t) => {
  const accounts = [...HEAD, 'targets', 'lp mint', 'coin vault', 'pc vault', 'model data', ...MARKET]
  const added = decode({
    accounts,
    data: words(3, 1n, 1n, 0n),
    inner: [
      tokenTransfer('user coin', 'coin vault', 'user', 5n),
      tokenTransfer('user pc', 'pc vault', 'user', 6n),
      mintTo('lp mint', 'user lp', 'authority', 7n)
    ]
  })
  t.strictSame(added.notes, [])
  t.match(added.events, [
    { event: 'add', baseAmount: 5n, quoteAmount: 6n, lpAmount: 7n, user: keyOf('user') }
  ])
  const removed = decode({
    accounts,
    data: words(4, 7n),
    inner: [
      tokenTransfer('market pc', 'pc vault', 'signer', 4n),
      tokenTransfer('coin vault', 'user coin', 'authority', 5n),
      tokenTransfer('pc vault', 'user pc', 'authority', 6n),
      burn('user lp', 'lp mint', 'user', 7n)
    ]
  })
  t.match(removed.events, [{ event: 'remove', baseAmount: 5n, quoteAmount: 6n, lpAmount: 7n }])
})

void t.test('a pool is created; its preparation is no event', async (t) => {
  const { events } = decode({
    accounts: [...HEAD, 'lp mint', 'coin', 'pc', 'coin vault', 'pc vault', 'targets', 'model data'],
    data: Uint8Array.from([0, 1, ...littleEndian(0n, 8)])
  })
  t.match(events, [{ kind: 'pool', event: 'create', baseMint: keyOf('coin'), quoteMint: keyOf('pc') }])
  t.strictSame(decode({ data: Uint8Array.of(10, 1) }), { events: [], notes: [] })
})

void t.test('a swap that moved nothing is missing with a reason', async (t) => {
  const { events, notes } = decode({ accounts: [...HEAD, ...MARKET, ...TRADER], data: words(9, 1n, 1n) })
  t.strictSame(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'no-movements' }])
})

void t.test('layouts read what they write', async (t) => layoutsReadWhatTheyWrite(t, raydiumStable))
void t.test('any call decodes without throwing', async (t) => anyCallDecodes(t, raydiumStable))
