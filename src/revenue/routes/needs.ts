import type { NameIndex } from '../../data/name-index.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { CashList } from '../../market/cash.ts'

/** Needs of the routes of the ledger. */
export interface RevenueNeeds extends Pick<HttpKernel, 'storage' | 'clock'> {
  /** Symbols and names of tokens. */
  readonly names: NameIndex
  readonly cash: CashList
  /** Announces that a tenant has changed its watched addresses. */
  readonly watchedChanged?: () => void
}
