import type { Block } from '../chain/transaction.ts'
import type { LedgerHole } from './ledger-progress.ts'

/** Lists the kinds of balance changes that a block does not state. Inner instructions do not count. */
export function holesIn({ transactions, rewards, leftOut = 0 }: Block): readonly LedgerHole[] {
  let lacksBalances = false
  let lacksTokens = false
  for (const { unstated, failed } of transactions) {
    if (unstated === undefined) continue
    if (unstated.includes('balances')) lacksBalances = true
    // A failed transaction changes no tokens.
    if (!failed && unstated.includes('token-balances')) lacksTokens = true
  }
  return [
    ...(rewards === undefined ? (['rewards-absent'] as const) : []),
    ...(lacksBalances ? (['balances-absent'] as const) : []),
    ...(lacksTokens ? (['token-balances-absent'] as const) : []),
    ...(leftOut > 0 ? (['transactions-unreadable'] as const) : [])
  ]
}
