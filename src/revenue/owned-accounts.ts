import { pubkeyToBase58 } from '../chain/pubkey.ts'
import type { TokenBalance, Transaction } from '../chain/transaction.ts'

/** Lists the token accounts of a transaction that an address owns before or after it, base58. */
export function ownedAccounts(transaction: Transaction, address: string): ReadonlySet<string> {
  const { keys, preTokenBalances, postTokenBalances } = transaction
  const found = new Set<string>()
  for (const balance of [...preTokenBalances, ...postTokenBalances])
    if (ownerOf(balance) === address) found.add(pubkeyToBase58(keys.bytes(balance.account)))
  return found
}

function ownerOf({ owner, ownerBase58 }: TokenBalance): string | null {
  if (ownerBase58 !== undefined) return ownerBase58
  return owner === null ? null : pubkeyToBase58(owner)
}
