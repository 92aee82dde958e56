import { hashOfKeyBytes } from '../chain/account-hash.ts'
import { pubkeyMapKey, PubkeyTable, pubkeyToBase58, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import type { Block, Transaction } from '../chain/transaction.ts'

/** An account that a program may have changed in a block. */
export interface TouchedAccount {
  readonly address: Pubkey
  /** Whether it had no lamports before the transaction, and had some after it. */
  readonly isNew: boolean
}

/**
 * Returns, for each program, the writable accounts of the successful transactions that called it: it can change only
 * these. Most of them belong to other programs.
 *
 * @returns By `pubkeyMapKey` of the program; each account once. The addresses are copies.
 */
export function touchedBy(
  programs: readonly Pubkey[],
  { transactions }: Pick<Block, 'transactions'>
): ReadonlyMap<string, readonly TouchedAccount[]> {
  const table = new PubkeyTable(programs.map((each) => [pubkeyToBase58(each), pubkeyMapKey(each)] as const))
  const touched = new Map(programs.map((each) => [pubkeyMapKey(each), new Map<number, TouchedAccount>()]))
  for (const transaction of transactions)
    if (!transaction.failed)
      for (const program of calledBy(transaction, table)) addTouched(transaction, touched.get(program)!)
  return new Map([...touched].map(([program, accounts]) => [program, [...accounts.values()]]))
}

function calledBy({ keys, instructions }: Transaction, table: PubkeyTable<string>): ReadonlySet<string> {
  const called = new Set<string>()
  const looked = new Set<number>()
  for (const { program } of instructions) {
    if (looked.has(program)) continue
    looked.add(program)
    const found = keys.lookup(program, table)
    if (found !== undefined) called.add(found)
  }
  return called
}

/** Adds the writable accounts of a transaction, by hash. An account whose hash is taken gets the next free number. */
function addTouched(
  { keys, preBalances, postBalances }: Transaction,
  accounts: Map<number, TouchedAccount>
): void {
  for (let i = 0; i < keys.length; i++) {
    if (!keys.isWritable(i)) continue
    const key = keys.bytes(i)
    let hash = hashOfKeyBytes(key)
    let known = accounts.get(hash)
    while (known !== undefined && !samePubkey(known.address, key)) known = accounts.get(++hash)
    const isNew = preBalances[i] === 0 && postBalances[i]! > 0
    // A copy: the key may be a view of a block of megabytes.
    if (known === undefined) accounts.set(hash, { address: new Uint8Array(key), isNew })
    else if (isNew) accounts.set(hash, { address: known.address, isNew })
  }
}
