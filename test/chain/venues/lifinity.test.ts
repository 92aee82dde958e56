import t from 'tap'
import fc from 'fast-check'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { lifinity } from '../../../src/chain/venues/lifinity.ts'
import {
  burn,
  buildTransaction,
  keyOf,
  littleEndian,
  mintTo,
  tokenTransfer,
  type CallSpec
} from '../build-transaction.ts'
import { fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import { checkVaults, recordedVenue, statedHops } from '../vault-check.ts'
import { compareVector, readVectors } from '../vectors.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { randomRuns } from '../../random-runs.ts'

const [V1, V2] = lifinity.programs as [string, string]

function data(discriminator: string, ...values: bigint[]): Uint8Array {
  return Uint8Array.from([
    ...Uint8Array.fromHex(discriminator),
    ...values.flatMap((value) => [...littleEndian(value, 8)])
  ])
}

const BALANCES = [
  { account: 'vault a', mint: 'mint a', decimals: 6 },
  { account: 'vault b', mint: 'mint b', decimals: 9 },
  { account: 'user a', mint: 'mint a', owner: 'wallet', decimals: 6 },
  { account: 'user b', mint: 'mint b', owner: 'wallet', decimals: 9 }
]

function swapCall(program: string, inner: readonly CallSpec[]): CallSpec {
  const accounts = ['authority', 'amm', 'wallet', 'user a', 'user b', 'vault a', 'vault b', 'lp', 'fees']
  return {
    program,
    accounts: [...accounts, 'token', 'o1', 'o2', 'o3'],
    data: data('f8c69e91e17587c8', 700n, 1n),
    inner
  }
}

function decoded(calls: readonly CallSpec[], heights = true) {
  return decodeTransaction(buildTransaction({ signers: ['wallet'], calls, balances: BALANCES, heights }))
}

testWithFixtures(t, 'every vector reads as its source states', async (t) => {
  for (const vector of readVectors(fixturesDirectory(), 'lifinity-v2')) {
    t.match(compareVector(lifinity, vector), { found: String, differences: [] }, vector.name)
  }
})

testWithFixtures(t, 'recorded swaps agree with the balances of their vaults, without notes', async (t) => {
  let checked = 0
  for (const { entry, facts, failed, trades, notes } of recordedVenue('lifinity-v2', 'lifinity')) {
    const { signature } = entry
    t.same(notes, [], signature)
    t.equal(trades.length, failed ? 0 : entry.instructions['lifinity-v2']!.length, signature)
    const verdict = checkVaults(facts, trades, V2, ({ accounts }) => [accounts[5]!, accounts[6]!])
    t.same(verdict.differences, [], signature)
    checked += verdict.checked
  }
  t.ok(checked >= 6, `${checked} swaps were checked`)
})

testWithFixtures(t, 'recorded swaps agree with what the aggregator states', async (t) => {
  const checked = statedHops('lifinity-v2', 'lifinity', V2)
  t.same(checked, { differences: [], hops: 2 })
})

t.test(
  'a swap is what the vaults took and gave, in both versions, with a mint to the fee account between',
  async (t) => {
    for (const program of [V1, V2]) {
      const { events, notes } = decoded([
        swapCall(program, [
          tokenTransfer('user a', 'vault a', 'wallet', 700n),
          mintTo('lp', 'fees', 'authority', 3n),
          tokenTransfer('vault b', 'user b', 'authority', 41n)
        ])
      ])
      t.same(notes, [])
      t.match(events, [
        {
          kind: 'trade',
          venue: 'lifinity',
          program: keyOf(program),
          pool: keyOf('amm'),
          user: keyOf('wallet'),
          inMint: keyOf('mint a'),
          outMint: keyOf('mint b'),
          inAmount: 700n,
          outAmount: 41n,
          exact: 'in'
        }
      ])
    }
  }
)

t.test('a swap without stack heights is read when it is the only one', async (t) => {
  const call = swapCall(V2, [
    tokenTransfer('user a', 'vault a', 'wallet', 700n),
    tokenTransfer('vault b', 'user b', 'authority', 41n)
  ])
  t.equal(
    decoded([{ program: 'router', accounts: [], data: new Uint8Array(), inner: [call] }], false).events
      .length,
    1
  )
})

t.test('a swap whose payment is missing is noted, not guessed', async (t) => {
  const { events, notes } = decoded([swapCall(V2, [tokenTransfer('vault b', 'user b', 'authority', 41n)])])
  t.same(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'no-movements' }])
})

t.test('a deposit and a withdrawal are liquidity, with the pool tokens minted and burned', async (t) => {
  const accounts = ['amm', 'authority', 'wallet']
  const deposit = {
    program: V2,
    accounts: [...accounts, 'user a', 'user b', 'vault a', 'vault b', 'lp', 'user lp', 'token'],
    data: data('205f453c4b4fcdee', 5n, 9n, 9n),
    inner: [
      tokenTransfer('user a', 'vault a', 'wallet', 7n),
      tokenTransfer('user b', 'vault b', 'wallet', 8n),
      mintTo('lp', 'user lp', 'authority', 5n)
    ]
  }
  const withdrawal = {
    program: V2,
    accounts: [...accounts, 'user lp', 'vault a', 'vault b', 'lp', 'user a', 'user b', 'token'],
    data: data('bdfe9caed209a4d8', 5n, 0n, 0n),
    inner: [
      burn('user lp', 'lp', 'wallet', 5n),
      tokenTransfer('vault a', 'user a', 'authority', 6n),
      tokenTransfer('vault b', 'user b', 'authority', 7n)
    ]
  }
  const { events, notes } = decoded([deposit, withdrawal])
  t.same(notes, [])
  t.match(events, [
    {
      kind: 'liquidity',
      event: 'add',
      baseAmount: 7n,
      quoteAmount: 8n,
      lpAmount: 5n,
      baseMint: keyOf('mint a')
    },
    { kind: 'liquidity', event: 'remove', baseAmount: 6n, quoteAmount: 7n, lpAmount: 5n, pool: keyOf('amm') }
  ])
})

t.test('what every layout reads, it writes again', async (t) => layoutsReadWhatTheyWrite(t, lifinity))

t.test('no bytes, accounts or logs throw', async (t) => anyCallDecodes(t, lifinity))

t.test('hostile bytes and short account lists never throw', async (t) => {
  const discriminators = ['f8c69e91e17587c8', '205f453c4b4fcdee', 'bdfe9caed209a4d8']
  fc.assert(
    fc.property(
      fc.constantFrom(...discriminators),
      fc.uint8Array({ maxLength: 40 }),
      fc.nat(12),
      (discriminator, tail, count) => {
        const call = {
          program: V1,
          accounts: swapCall(V1, []).accounts.slice(0, count),
          data: Uint8Array.from([...Uint8Array.fromHex(discriminator), ...tail]),
          inner: [tokenTransfer('user a', 'vault a', 'wallet', 7n)]
        }
        return decoded([call]).events.every(({ kind }) => kind !== 'trade')
      }
    ),
    randomRuns(300, 1)
  )
  t.pass('no run threw or gave a trade from half of one')
})
