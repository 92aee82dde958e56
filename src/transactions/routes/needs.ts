import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { FeeStatistics, TransactionServices } from '../ports.ts'

/** Needs of the routes of transactions. */
export interface TransactionNeeds extends Pick<HttpKernel, 'storage' | 'clock'> {
  /** Null if the process has no node to send transactions to. */
  readonly transactions: TransactionServices | null
  /** Empty in a process that does not get the fees of blocks. */
  readonly fees: FeeStatistics
}
