import type { PubkeyTable } from '../chain/pubkey.ts'
import type { Block } from '../chain/transaction.ts'
import type { LedgerChange } from './ledger-entry.ts'

export function ledgerChanges(
  _block: Pick<Block, 'transactions'>,
  _watched: PubkeyTable<string>
): Map<string, LedgerChange[]> {
  return new Map()
}
