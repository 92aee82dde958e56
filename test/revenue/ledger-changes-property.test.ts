import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { ByteKeys } from '../chain/byte-keys.ts'
import type { TokenBalance, Transaction } from '../../src/chain/transaction.ts'
import { deltaOf, type LedgerChange } from '../../src/revenue/ledger-entry.ts'
import { buildTransaction, keyOf } from '../chain/build-transaction.ts'
import { randomRuns } from '../random-runs.ts'
import { changesOfAll, ledgerTotals, statedTotals } from './balance-totals.ts'
import { base58Of } from './changed-balances.ts'

const WALLETS = ['wallet 0', 'wallet 1', 'wallet 2', 'wallet 3']
const ACCOUNTS = ['account 0', 'account 1', 'account 2', 'account 3', 'account 4']

/** A token balance on one side of a transaction; accounts may own accounts, themselves too. */
const holding = fc.record({
  owner: fc.constantFrom(...WALLETS, ACCOUNTS[0]!),
  mint: fc.constantFrom('mint 0', 'mint 1', 'So11111111111111111111111111111111111111112'),
  amount: fc.bigInt(0n, 3n)
})
const account = fc
  .record({
    before: fc.option(holding, { freq: 4 }),
    after: fc.option(holding, { freq: 4 }),
    isKept: fc.nat(2).map((n) => n > 0),
    isOwned: fc.nat(8).map((n) => n > 0)
  })
  .map(({ before, after, isKept, isOwned }) =>
    // Most accounts retain their owner and mint.
    ({
      before,
      after: isKept && before !== null && after !== null ? { ...before, amount: after.amount } : after,
      isOwned
    })
  )
const transaction = fc
  .record({
    failed: fc.nat(5).map((n) => n === 0),
    order: fc.shuffledSubarray([...WALLETS, ...ACCOUNTS], { minLength: 9 }),
    lamports: fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { minLength: 9, maxLength: 9 }),
    feeLamports: fc.bigInt(0n, 2n),
    accounts: fc.array(account, { minLength: 5, maxLength: 5 }),
    isReversed: fc.boolean()
  })
  .map(({ failed, order, lamports, feeLamports, accounts, isReversed }): Transaction => {
    const side = (of: 'before' | 'after'): TokenBalance[] =>
      accounts.flatMap((each, n) => {
        const held = each[of]
        if (held === null) return []
        const owner = each.isOwned ? keyOf(held.owner) : null
        const mint = keyOf(held.mint)
        return [{ account: order.indexOf(ACCOUNTS[n]!), mint, owner, amount: held.amount, decimals: 6 }]
      })
    return {
      ...buildTransaction({ signers: order, calls: [] }),
      failed,
      feeLamports,
      keys: new ByteKeys(Buffer.concat(order.map(keyOf))),
      preBalances: lamports.map(([before]) => before),
      postBalances: lamports.map(([before, after], key) => (failed && key > 0 ? before : after)),
      preTokenBalances: side('before'),
      postTokenBalances: isReversed ? side('after').reverse() : side('after')
    }
  })

/** Asserts that an exact wallet gained or lost the opposite of an entry. */
function assertExact(change: LedgerChange, changes: ReadonlyMap<string, readonly LedgerChange[]>): void {
  const { counterparty, confidence, txIndex, mint } = change
  if (confidence !== 'exact' || change.isNative || mint.startsWith('So1')) return
  if (!WALLETS.some((name) => base58Of(name) === counterparty)) return
  const theirs = (changes.get(counterparty!) ?? []).filter(
    (each) => each.txIndex === txIndex && each.mint === mint && !each.isNative
  )
  assert.equal(
    theirs.reduce((sum, each) => sum + deltaOf(each), 0n),
    -deltaOf(change)
  )
}

t.test(
  'entries add up to the balances, are in order, change something, and are exact where they say so',
  async (t) => {
    let exact = 0
    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 4 }), (transactions) => {
        const changes = changesOfAll(transactions)
        assert.deepEqual(ledgerTotals(changes).shown, statedTotals(transactions).shown)
        for (const [address, list] of changes) {
          const places = list.map(({ txIndex, index }) => txIndex * 1000 + index)
          assert.deepEqual(
            places,
            [...new Set(places)].sort((a, b) => a - b)
          )
          for (const change of list) {
            assert.notEqual(change.pre, change.post)
            assert.notEqual(change.counterparty, address)
            if (change.isNative) assert.deepEqual([change.index, change.account], [0, address])
            assert.equal(change.counterparty === null, change.confidence === 'none')
            if (!address.startsWith(base58Of(ACCOUNTS[0]!)) && change.account !== address)
              assertExact(change, changes)
            if (change.confidence === 'exact') exact++
          }
        }
      }),
      randomRuns(2000)
    )
    t.ok(exact > 100)
  }
)
