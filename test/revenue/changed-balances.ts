import { pubkeyMapKey, pubkeyToBase58, PubkeyTable } from '../../src/chain/pubkey.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { ledgerChanges } from '../../src/revenue/ledger-changes.ts'
import type { LedgerChange } from '../../src/revenue/ledger-entry.ts'
import { buildTransaction, keyOf, type TransactionSpec } from '../chain/build-transaction.ts'

/** A built transaction with lamports: before and after it, by the names of accounts that its calls name. */
export interface ChangedSpec extends TransactionSpec {
  readonly lamports?: Readonly<Record<string, readonly [before: number, after: number]>>
}

export const base58Of = (name: string): string => pubkeyToBase58(keyOf(name))

/** Builds a transaction; its fee is 5,000 lamports. */
export function changedTransaction({ lamports = {}, ...spec }: ChangedSpec): Transaction {
  const built = buildTransaction(spec)
  const sides = new Map(Object.entries(lamports).map(([name, each]) => [pubkeyMapKey(keyOf(name)), each]))
  const balances = Array.from(
    { length: built.keys.length },
    (_, index) => sides.get(pubkeyMapKey(built.keys.bytes(index))) ?? [7, 7]
  )
  return {
    ...built,
    preBalances: balances.map(([before]) => before),
    postBalances: balances.map(([, after]) => after)
  }
}

/** Returns the table of some watched names. */
export function watching(names: readonly string[]): PubkeyTable<string> {
  return new PubkeyTable(names.map((name) => [base58Of(name), base58Of(name)] as const))
}

/** Returns the changes of one watched name in a block of some transactions. */
export function changesFor(name: string, ...transactions: readonly Transaction[]): readonly LedgerChange[] {
  return ledgerChanges({ transactions }, watching([name])).get(base58Of(name)) ?? []
}

/** Shows changes as `lamports|MINT DELTA KIND COUNTERPARTY|- CONFIDENCE @IX|-`, with the given names for addresses. */
export function shown(changes: readonly LedgerChange[], names: readonly string[]): readonly string[] {
  const nameOf = new Map(names.map((name) => [base58Of(name), name]))
  return changes.map(({ mint, isNative, pre, post, kind, counterparty, confidence, ixIndex }) => {
    const what = isNative ? 'lamports' : (nameOf.get(mint) ?? mint)
    const other = counterparty === null ? '-' : (nameOf.get(counterparty) ?? counterparty)
    return `${what} ${post - pre} ${kind} ${other} ${confidence} @${ixIndex ?? '-'}`
  })
}
