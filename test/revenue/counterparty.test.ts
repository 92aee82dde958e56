import t from 'tap'
import { lamportTransfer, tokenTransfer, type BalanceSpec } from '../chain/build-transaction.ts'
import { changedTransaction, changesFor, shown } from './changed-balances.ts'

const NAMES = ['alice', 'bob', 'carol', 'dave', 'gold']

/** A transaction in which owners' accounts of gold change by some amounts, in the order of keys. */
function goldMoves(moves: Readonly<Record<string, bigint>>) {
  const balances = Object.entries(moves).map(([owner, amount]): BalanceSpec => ({
    account: `${owner} gold`,
    mint: 'gold',
    owner,
    decimals: 6,
    before: 1000n,
    after: 1000n + amount
  }))
  return changedTransaction({ signers: ['payer'], calls: [], balances })
}

/** A transaction paid by Alice in which lamports change by some amounts, the fee aside. */
function lamportMoves(moves: Readonly<Record<string, number>>) {
  const lamports = Object.entries(moves).map(([name, amount]): [string, [number, number]] => [
    name,
    [90_000, 90_000 + amount - (name === 'alice' ? 5000 : 0)]
  ])
  const calls = lamports.map(([name]) => lamportTransfer('alice', name, 1n))
  return changedTransaction({ signers: ['alice'], calls, lamports: Object.fromEntries(lamports) })
}

for (const [outcome, moves, expected] of [
  ['the only other party is exact', { alice: -40n, bob: 40n }, 'transfer bob exact'],
  [
    'one with the opposite amount is exact beside others',
    { alice: -40n, bob: 70n, carol: 40n, dave: -70n },
    'transfer carol exact'
  ],
  [
    'two with the opposite amount leave the largest, inferred',
    { alice: -40n, bob: 40n, carol: 40n, dave: 60n },
    'transfer dave inferred'
  ],
  [
    'the largest opposite change is inferred',
    { alice: -40n, bob: 10n, carol: 30n, dave: -50n },
    'transfer carol inferred'
  ],
  [
    'of equal ones the first in the order of keys is inferred',
    { alice: -40n, dave: 20n, bob: 20n },
    'transfer dave inferred'
  ],
  [
    'a fee that the mint withholds leaves the receiver inferred',
    { alice: -40n, bob: 39n },
    'transfer bob inferred'
  ],
  ['an inflow has a payer', { dave: -60n, alice: 40n, carol: 20n }, 'transfer dave inferred'],
  [
    'the largest payer of an inflow is inferred',
    { bob: -10n, dave: -40n, carol: -30n, alice: 80n },
    'transfer dave inferred'
  ],
  ['changes of the same sign have no counterparty', { alice: 40n, bob: 40n }, 'other - none']
] as const) {
  t.test(`counterparty of a token change, ${outcome}`, async (t) => {
    const [entry] = shown(changesFor('alice', goldMoves(moves)), NAMES)
    t.match(entry, ` ${expected} @`)
  })
}

for (const [outcome, moves, expected] of [
  ['the payer is exact without the fee', { alice: -300, bob: 300 }, 'transfer bob exact'],
  [
    'several receivers leave the largest, inferred',
    { alice: -300, bob: 100, carol: 200 },
    'transfer carol inferred'
  ],
  ['an inflow below the fee counts as one', { alice: 300, bob: -300 }, 'transfer bob exact']
] as const) {
  t.test(`counterparty of a change of lamports, ${outcome}`, async (t) => {
    const [entry] = shown(changesFor('alice', lamportMoves(moves)), NAMES)
    t.match(entry, ` ${expected} @`)
  })
}

t.test('a payer who got back exactly the fee is a counterparty, and has no entry', async (t) => {
  const transaction = lamportMoves({ alice: 5000, bob: -5000 })
  t.strictSame(shown(changesFor('bob', transaction), NAMES), ['lamports -5000 transfer alice exact @1'])
  t.strictSame(changesFor('alice', transaction), [])
})

t.test('several accounts of an owner are one party', async (t) => {
  const account = (name: string, owner: string, before: bigint, after: bigint): BalanceSpec => ({
    account: name,
    mint: 'gold',
    owner,
    decimals: 6,
    before,
    after
  })
  const transaction = changedTransaction({
    signers: ['payer'],
    calls: [tokenTransfer('alice gold', 'bob 1', 'alice', 40n)],
    balances: [
      account('alice gold', 'alice', 40n, 0n),
      account('carol gold', 'carol', 0n, 15n),
      account('bob 1', 'bob', 0n, 50n),
      account('bob 2', 'bob', 25n, 0n),
      account('dave gold', 'dave', 10n, 10n)
    ]
  })
  t.strictSame(shown(changesFor('alice', transaction), NAMES), ['gold -40 transfer bob inferred @0'])
})

t.test('lamports of a token account count for its owner', async (t) => {
  const transaction = changedTransaction({
    signers: ['alice'],
    calls: [lamportTransfer('alice', 'bob', 100n), lamportTransfer('alice', 'bob gold', 200n)],
    balances: [{ account: 'bob gold', mint: 'gold', owner: 'bob', decimals: 6, before: 5n, after: 5n }],
    lamports: { alice: [90_000, 84_700], bob: [0, 100], 'bob gold': [2000, 2200] }
  })
  t.strictSame(shown(changesFor('alice', transaction), NAMES), ['lamports -5300 transfer bob exact @-'])
})
