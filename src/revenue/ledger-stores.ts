import type { Storage } from '../../storage/port.ts'

/** The stores of ledgers: what an earlier version has stored, and histories, are documents. */
export type LedgerStores = Pick<Storage, 'documents' | 'ledger'>
