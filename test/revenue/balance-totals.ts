import { pubkeyToBase58, PubkeyTable } from '../../src/chain/pubkey.ts'
import type { TokenBalance, Transaction } from '../../src/chain/transaction.ts'
import { ledgerChanges } from '../../src/revenue/ledger-changes.ts'
import { deltaOf, type LedgerChange } from '../../src/revenue/ledger-entry.ts'

/** Returns every address that transactions name: their keys, and the owners of token accounts. */
function addressesOf(transactions: readonly Transaction[]): ReadonlySet<string> {
  const addresses = new Set<string>()
  for (const { keys, preTokenBalances, postTokenBalances } of transactions) {
    for (let index = 0; index < keys.length; index++) addresses.add(pubkeyToBase58(keys.bytes(index)))
    for (const { owner } of [...preTokenBalances, ...postTokenBalances])
      if (owner !== null) addresses.add(pubkeyToBase58(owner))
  }
  return addresses
}

/** Returns the changes of every address that transactions name, all watched. */
export function changesOfAll(
  transactions: readonly Transaction[]
): ReadonlyMap<string, readonly LedgerChange[]> {
  const table = new PubkeyTable([...addressesOf(transactions)].map((each) => [each, each] as const))
  return ledgerChanges({ transactions }, table)
}

/** Sums by a text. */
export class Totals {
  readonly sums = new Map<string, bigint>()

  add(name: string, amount: bigint): void {
    this.sums.set(name, (this.sums.get(name) ?? 0n) + amount)
  }

  /** The sums other than 0, ordered. */
  get shown(): readonly string[] {
    const rows = [...this.sums].filter(([, sum]) => sum !== 0n)
    return rows.map(([name, sum]) => `${name} ${sum}`).sort()
  }
}

const side = (
  balances: readonly TokenBalance[],
  sign: bigint,
  add: (balance: TokenBalance, amount: bigint) => void
) => balances.forEach((balance) => add(balance, sign * balance.amount))

/** Returns the sums by address and account that balances state, computed without the ledger. */
export function statedTotals(transactions: readonly Transaction[]): Totals {
  const totals = new Totals()
  for (const { failed, keys, preBalances, postBalances, ...tokens } of transactions) {
    const key = (index: number): string => pubkeyToBase58(keys.bytes(index))
    postBalances.forEach((after, index) =>
      totals.add(`${key(index)} lamports`, BigInt(after) - BigInt(preBalances[index]!))
    )
    if (failed) continue
    const add = ({ account, mint, owner }: TokenBalance, amount: bigint): void => {
      const [address, where] = [key(account), `${key(account)} ${pubkeyToBase58(mint)}`]
      totals.add(`${address} ${where}`, amount)
      if (owner !== null && pubkeyToBase58(owner) !== address)
        totals.add(`${pubkeyToBase58(owner)} ${where}`, amount)
    }
    side(tokens.preTokenBalances, -1n, add)
    side(tokens.postTokenBalances, 1n, add)
  }
  return totals
}

/** Returns the sums by address and account of entries. */
export function ledgerTotals(changes: ReadonlyMap<string, readonly LedgerChange[]>): Totals {
  const totals = new Totals()
  for (const [address, list] of changes)
    for (const change of list)
      totals.add(
        change.isNative ? `${address} lamports` : `${address} ${change.account} ${change.mint}`,
        deltaOf(change)
      )
  return totals
}
