import type { Storage } from '../../storage/port.ts'

/** The stores of ledgers: what an earlier version has stored, and staged rows of histories, are documents. */
export type LedgerStores = Pick<Storage, 'documents' | 'ledger'>
