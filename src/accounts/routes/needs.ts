import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { CashList } from '../../market/cash.ts'
import type { AccountServices } from '../services.ts'

/** Needs of the routes of accounts. */
export interface AccountNeeds extends Pick<HttpKernel, 'storage' | 'clock' | 'feed'> {
  /** Null if the process has no node to read accounts from. */
  readonly accounts: AccountServices | null
  readonly cash: CashList
}
