import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { PubkeyTable } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import { ledgerChanges } from '../../src/revenue/ledger-changes.ts'
import {
  keyOf,
  lamportTransfer,
  tokenTransfer,
  type BalanceSpec,
  type CallSpec
} from '../chain/build-transaction.ts'
import { base58Of, changedTransaction, changesFor, shown, watching } from './changed-balances.ts'

const NAMES = ['alice', 'bob', 'carol', 'alice gold', 'alice gold 2', 'bob gold', 'gold']
const gold = (account: string, owner: string | undefined, before: bigint, after: bigint): BalanceSpec => ({
  account,
  mint: 'gold',
  ...(owner === undefined ? {} : { owner }),
  decimals: 6,
  before,
  after
})
const TOKENS = tokenTransfer('alice gold', 'bob gold', 'alice', 40n)
const PAID = changedTransaction({
  signers: ['payer'],
  calls: [TOKENS],
  balances: [gold('alice gold', 'alice', 100n, 60n), gold('bob gold', 'bob', 5n, 45n)]
})

t.test('a block changes nothing for an empty table', async (t) => {
  t.equal(ledgerChanges({ transactions: [PAID] }, new PubkeyTable<string>([])).size, 0)
})

t.test(
  'a change of a token account is an entry of its owner, with the facts of the transaction',
  async (t) => {
    t.strictSame(changesFor('alice', PAID), [
      {
        signature: encodeBase58(new Uint8Array(64)),
        txIndex: 0,
        index: 0,
        account: base58Of('alice gold'),
        mint: base58Of('gold'),
        isNative: false,
        decimals: 6,
        pre: 100n,
        post: 60n,
        kind: 'transfer',
        counterparty: base58Of('bob'),
        confidence: 'exact',
        feeLamports: 5000n,
        feePayer: base58Of('payer'),
        ixIndex: 0
      }
    ])
  }
)

t.test('a change of lamports is an entry of the account, in the mint of wrapped SOL', async (t) => {
  const transaction = changedTransaction({
    signers: ['payer', 'alice'],
    calls: [lamportTransfer('alice', 'bob', 300n)],
    lamports: { payer: [9000, 4000], alice: [1000, 700], bob: [0, 300] }
  })
  t.match(changesFor('alice', transaction), [
    { account: base58Of('alice'), mint: WSOL, isNative: true, decimals: 9, pre: 1000n, post: 700n }
  ])
  t.equal(changesFor('alice', transaction).length, 1)
})

t.test(
  'entries are in the order of the block, lamports before tokens, tokens in the order of keys',
  async (t) => {
    const spec = {
      signers: ['alice'],
      calls: [
        lamportTransfer('alice', 'bob', 10n),
        TOKENS,
        tokenTransfer('alice gold 2', 'bob gold', 'alice', 1n)
      ],
      balances: [
        gold('alice gold 2', 'alice', 8n, 7n),
        gold('alice gold', 'alice', 100n, 60n),
        gold('bob gold', 'bob', 0n, 41n)
      ],
      lamports: { alice: [9000, 3990], bob: [0, 10] } as const
    }
    const first = changedTransaction(spec)
    const quiet = changedTransaction({ signers: ['carol'], calls: [], lamports: { carol: [9000, 4000] } })
    const last = { ...changedTransaction(spec), index: 17 }
    t.strictSame(
      changesFor('alice', first, quiet, last).map(({ txIndex, index, account }) => [txIndex, index, account]),
      [0, 17].flatMap((txIndex) =>
        ['alice', 'alice gold', 'alice gold 2'].map((name, index) => [txIndex, index, base58Of(name)])
      )
    )
    t.match(changesFor('carol', first, quiet, last), [{ txIndex: 1, index: 0 }])
  }
)

t.test(
  'a token account that owns others has entries of itself and of them, in the order of keys',
  async (t) => {
    const transaction = changedTransaction({
      signers: ['payer'],
      calls: [tokenTransfer('bob gold', 'alice gold', 'alice gold', 1n)],
      balances: [gold('alice gold', 'alice', 5n, 8n), gold('bob gold', 'alice gold', 8n, 7n)]
    })
    t.strictSame(
      changesFor('alice gold', transaction).map(({ account }) => account),
      [base58Of('bob gold'), base58Of('alice gold')]
    )
  }
)

t.test('balances that stay equal give no entry', async (t) => {
  const transaction = changedTransaction({
    signers: ['payer'],
    calls: [TOKENS],
    balances: [gold('alice gold', 'alice', 100n, 100n)],
    lamports: { payer: [9000, 4000] }
  })
  t.strictSame(changesFor('alice', transaction), [])
  t.strictSame(changesFor('alice gold', transaction), [])
})

t.test('a record without lamports gives entries of tokens alone', async (t) => {
  const bare = { ...PAID, preBalances: [], postBalances: [] }
  t.strictSame(shown(changesFor('alice', bare), NAMES), ['gold -40 transfer bob exact @0'])
  t.strictSame(changesFor('payer', bare), [])
})

t.test('a failed transaction changes only the lamports of its payer', async (t) => {
  const failed = changedTransaction({
    signers: ['alice'],
    failed: true,
    calls: [TOKENS],
    balances: [gold('alice gold', 'alice', 100n, 60n)],
    lamports: { alice: [9000, 4000] }
  })
  t.strictSame(shown(changesFor('alice', failed), NAMES), ['lamports -5000 fee - none @-'])
})

t.test(
  'an account that passes to another owner ends at 0 for one and begins at 0 for the other',
  async (t) => {
    const built = changedTransaction({
      signers: ['payer'],
      calls: [{ program: 'token', accounts: ['alice gold', 'alice'], data: new Uint8Array(0) }],
      balances: [gold('alice gold', 'alice', 30n, 50n)]
    })
    const [after] = built.postTokenBalances
    const passed = { ...built, postTokenBalances: [{ ...after!, owner: keyOf('bob') }] }
    t.match(changesFor('alice', passed), [{ pre: 30n, post: 0n, account: base58Of('alice gold') }])
    t.match(changesFor('bob', passed), [{ pre: 0n, post: 50n, account: base58Of('alice gold') }])
    t.match(changesFor('alice gold', passed), [{ pre: 30n, post: 50n, index: 0 }])
    t.equal(changesFor('alice gold', passed).length, 1)
    const unchanged = { ...passed, postTokenBalances: [{ ...after!, amount: 30n, owner: keyOf('bob') }] }
    t.strictSame(shown(changesFor('bob', unchanged), NAMES), ['gold 30 transfer alice exact @0'])
    t.strictSame(changesFor('alice gold', unchanged), [])
  }
)

t.test('an account that was closed and opened for another mint has an entry of each', async (t) => {
  const built = changedTransaction({
    signers: ['payer'],
    calls: [TOKENS],
    balances: [gold('alice gold', 'alice', 30n, 30n)]
  })
  const [after] = built.postTokenBalances
  const reopened = { ...built, postTokenBalances: [{ ...after!, mint: keyOf('silver') }] }
  for (const name of ['alice', 'alice gold'])
    t.match(
      changesFor(name, reopened),
      [
        { mint: base58Of('gold'), pre: 30n, post: 0n, index: 0 },
        { mint: base58Of('silver'), pre: 0n, post: 30n, index: 1 }
      ],
      name
    )
})

t.test('a watched token account has entries of its own beside those of its owner', async (t) => {
  const found = ledgerChanges({ transactions: [PAID] }, watching(['alice', 'alice gold']))
  t.strictSame([...found.keys()].sort(), [base58Of('alice'), base58Of('alice gold')].sort())
  for (const changes of found.values())
    t.match(changes, [{ account: base58Of('alice gold'), pre: 100n, post: 60n }])
})

t.test('a watched token account has its owner as counterparty', async (t) => {
  const transaction = changedTransaction({
    signers: ['payer'],
    calls: [TOKENS],
    balances: [gold('alice gold', 'alice', 100n, 60n), gold('bob gold', 'alice', 5n, 45n)]
  })
  t.strictSame(shown(changesFor('bob gold', transaction), NAMES), ['gold 40 transfer alice exact @0'])
  t.strictSame(shown(changesFor('alice', transaction), NAMES), [
    'gold -40 other - none @0',
    'gold 40 other - none @0'
  ])
})

t.test('a balance without an owner is an entry of its account alone', async (t) => {
  const transaction = changedTransaction({
    signers: ['payer'],
    calls: [TOKENS],
    balances: [gold('alice gold', undefined, 100n, 60n), gold('bob gold', 'bob', 5n, 45n)]
  })
  t.strictSame(changesFor('alice', transaction), [])
  t.strictSame(shown(changesFor('alice gold', transaction), NAMES), ['gold -40 transfer bob exact @0'])
  t.strictSame(shown(changesFor('bob', transaction), NAMES), ['gold 40 transfer alice gold exact @0'])
  const [before] = transaction.preTokenBalances
  const stated = { ...transaction, preTokenBalances: [{ ...before!, owner: keyOf('alice') }] }
  t.strictSame(changesFor('alice', stated), [], 'nor if only the balance before states it')
  const [after] = transaction.postTokenBalances
  const later = { ...transaction, postTokenBalances: [{ ...after!, owner: keyOf('alice') }] }
  t.strictSame(changesFor('alice', later), [], 'nor if only the balance after does')
})

t.test('texts and bytes of balances give the same entries', async (t) => {
  const texts = (balances: typeof PAID.preTokenBalances) =>
    balances.map((each) => ({
      ...each,
      mintBase58: base58Of('gold'),
      ownerBase58: encodeBase58(each.owner!),
      amountText: String(each.amount)
    }))
  const written = {
    ...PAID,
    preTokenBalances: texts(PAID.preTokenBalances),
    postTokenBalances: texts(PAID.postTokenBalances.toReversed())
  }
  for (const name of ['alice', 'bob', 'alice gold'])
    t.strictSame(changesFor(name, written), changesFor(name, PAID), name)
})

/** A call of another program that names accounts, with inner calls. */
const call = (accounts: readonly string[], inner: readonly CallSpec[] = []): CallSpec => ({
  program: 'program',
  accounts,
  data: new Uint8Array(0),
  inner
})

t.test(
  'the instruction is the only outer one that names the account, itself or in an inner one',
  async (t) => {
    const at = (calls: readonly CallSpec[]): number | null => {
      const balances = [gold('alice gold', 'alice', 100n, 60n), gold('bob gold', 'bob', 5n, 45n)]
      return changesFor('alice', changedTransaction({ signers: ['payer'], calls, balances }))[0]!.ixIndex
    }
    t.equal(at([call(['carol']), TOKENS]), 1)
    t.equal(at([call(['carol']), call(['bob'], [TOKENS, TOKENS])]), 1)
    t.equal(at([TOKENS, call(['alice gold'])]), null, 'two name it')
    t.equal(at([call(['bob gold'])]), null, 'none names it')
  }
)

t.test('rewards of a watched address are entries before or after those of the transactions', async (t) => {
  const paid = changedTransaction({
    signers: ['payer'],
    calls: [lamportTransfer('payer', 'alice', 1n)],
    lamports: { payer: [9000, 3999], alice: [110, 111] }
  })
  const reward = { address: base58Of('alice'), lamports: 10n, postLamports: 110n }
  const rewards = [
    { ...reward, type: 'voting' as const },
    { address: base58Of('bob'), lamports: 3n, postLamports: 3n, type: 'fee' as const },
    { ...reward, lamports: 7n, postLamports: 118n, type: 'fee' as const },
    { ...reward, lamports: -1n, postLamports: 117n, type: 'rent' as const },
    { ...reward, lamports: 0n, type: 'staking' as const }
  ]
  const found = ledgerChanges({ transactions: [paid], rewards }, watching(['alice'])).get(base58Of('alice'))!
  t.strictSame(
    found.map(({ kind, pre, post, txIndex, index }) => `${kind} ${pre} ${post} ${txIndex} ${index}`),
    [
      'reward 100 110 -1 0',
      'transfer 110 111 0 0',
      'reward 111 118 4294967296 0',
      'rent 118 117 4294967296 1'
    ]
  )
  t.match(found[0], { signature: null, feePayer: null, feeLamports: 0n, counterparty: null, ixIndex: null })
})
