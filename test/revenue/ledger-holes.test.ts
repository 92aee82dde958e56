import t from 'tap'
import { holesIn } from '../../src/revenue/ledger-holes.ts'
import { plusHoles } from '../../src/revenue/ledger-progress.ts'
import { buildTransaction, tokenTransfer } from '../chain/build-transaction.ts'

const transaction = buildTransaction({ signers: ['a'], calls: [tokenTransfer('b', 'c', 'a', 1n)] })
const block = { slot: 5, blockTime: 9, parentSlot: 4, transactions: [transaction], votes: 0 }

t.test('a block lacks what it does not state of that which changes balances', async (t) => {
  t.strictSame(holesIn({ ...block, rewards: [] }), [])
  t.strictSame(holesIn(block), ['rewards-absent'])
  t.strictSame(holesIn({ ...block, rewards: [], leftOut: 1 }), ['transactions-unreadable'])
  const lacking = (...unstated: NonNullable<typeof transaction.unstated>) => ({ ...transaction, unstated })
  const holesOf = (...transactions: (typeof transaction)[]) =>
    holesIn({ ...block, transactions, rewards: [] })
  t.strictSame(holesOf(transaction, lacking('balances')), ['balances-absent'])
  t.strictSame(holesOf(lacking('token-balances')), ['token-balances-absent'])
  t.strictSame(holesOf(lacking('inner-instructions')), [], 'balances are whole')
  t.strictSame(holesOf({ ...lacking('token-balances'), failed: true }), [], 'it changes no tokens')
})

t.test('holes of one reason are one range with a count, in which a repeated block counts once', async (t) => {
  const first = plusHoles([], 5, ['rewards-absent'])
  t.strictSame(first, [{ reason: 'rewards-absent', from: 5, to: 5, blocks: 1 }])
  t.equal(plusHoles(first, 6, []), first)
  t.strictSame(plusHoles(first, 5, ['rewards-absent']), first)
  const both = plusHoles(plusHoles(first, 9, ['rewards-absent', 'balances-absent']), 7, ['rewards-absent'])
  t.strictSame(both, [
    { reason: 'balances-absent', from: 9, to: 9, blocks: 1 },
    { reason: 'rewards-absent', from: 5, to: 9, blocks: 2 }
  ])
  const old = [{ reason: 'rewards-absent', from: 0, to: 9, blocks: null }] as const
  t.strictSame(plusHoles(old, 12, ['rewards-absent']), [{ ...old[0], to: 12 }])
})
