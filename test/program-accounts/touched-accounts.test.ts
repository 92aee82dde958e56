import t from 'tap'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { ByteKeys } from '../chain/byte-keys.ts'
import { touchedBy } from '../../src/program-accounts/touched-accounts.ts'

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const PROGRAM = key(9)
const OTHER = key(8)

/** A transaction of five accounts, of which the first three are writable and the last two are programs. */
function transaction(called: readonly number[], more: Partial<Transaction> = {}): Transaction {
  const keys = Buffer.concat([key(1), key(2), key(3), OTHER, PROGRAM])
  const locks = { signatures: 1, readonlySigned: 0, readonlyUnsigned: 2, statics: 5, loadedWritable: 0 }
  return {
    failed: false,
    keys: new ByteKeys(keys, locks),
    instructions: called.map((program) => ({ program })),
    preBalances: [5, 0, 7, 1, 1],
    postBalances: [4, 3, 7, 1, 1],
    ...more
  } as Transaction
}

const shown = (transactions: Transaction[], programs = [PROGRAM]) =>
  touchedBy(programs, { transactions })
    .get(pubkeyMapKey(PROGRAM))!
    .map(({ address, isNew }) => `${address[0]}${isNew ? ' new' : ''}`)

t.test(
  'writable accounts of a transaction that called the program are touched, new ones marked',
  async (t) => {
    t.strictSame(shown([transaction([3, 4])]), ['1', '2 new', '3'])
  }
)

t.test('a transaction that names the program and does not call it touches nothing', async (t) => {
  t.strictSame(shown([transaction([3])]), [])
})

t.test('a transaction that failed touches nothing', async (t) => {
  t.strictSame(shown([transaction([4], { failed: true })]), [])
})

t.test('each account is there once, and stays new', async (t) => {
  const later = transaction([4], { preBalances: [4, 3, 7, 1, 1] })
  t.strictSame(shown([transaction([4]), later], [PROGRAM, OTHER]), ['1', '2 new', '3'])
})
