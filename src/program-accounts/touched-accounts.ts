import { pubkeyMapKey, PubkeyTable, pubkeyToBase58, type Pubkey } from '../chain/pubkey.ts'
import type { Block, Transaction } from '../chain/transaction.ts'

/** An account that a program may have changed in a block. */
export interface TouchedAccount {
  readonly address: Pubkey
  /** Whether it had no lamports before the transaction, and had some after it. */
  readonly isNew: boolean
}

/**
 * Returns, for each program, the writable accounts of the transactions that called it and succeeded: only these can be
 * changed by it. Most of them belong to other programs.
 *
 * @returns By `pubkeyMapKey` of the program; each account once. The addresses are copies.
 */
export function touchedBy(
  programs: readonly Pubkey[],
  { transactions }: Pick<Block, 'transactions'>
): ReadonlyMap<string, readonly TouchedAccount[]> {
  const table = new PubkeyTable(programs.map((each) => [pubkeyToBase58(each), pubkeyMapKey(each)] as const))
  const touched = new Map(programs.map((each) => [pubkeyMapKey(each), new Map<string, TouchedAccount>()]))
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

function addTouched(
  { keys, preBalances, postBalances }: Transaction,
  accounts: Map<string, TouchedAccount>
): void {
  for (let i = 0; i < keys.length; i++) {
    if (!keys.isWritable(i)) continue
    const key = pubkeyMapKey(keys.bytes(i))
    const isNew = preBalances[i] === 0 && postBalances[i]! > 0
    // Copies: a key may be a piece of a block of megabytes.
    if (isNew || !accounts.has(key)) accounts.set(key, { address: Uint8Array.from(keys.bytes(i)), isNew })
  }
}
