import type { AccountServices } from '../../accounts/services.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { CashList } from '../../market/cash.ts'

/** Needs of the routes of holder lists. */
export interface HolderNeeds extends Pick<HttpKernel, 'storage' | 'clock' | 'feed'> {
  /** Null if the process has no node to read accounts from. */
  readonly accounts: AccountServices | null
  readonly cash: CashList
  /** Announces a request for the holders of a token. */
  readonly holdersRequested?: () => void
}
