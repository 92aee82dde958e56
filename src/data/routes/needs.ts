import type { AccountServices } from '../../accounts/services.ts'
import type { ServedArchive } from '../../archive/served-archive.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { SourceKind } from '../../kernel/config/config.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { CashList } from '../../market/cash.ts'
import type { TransactionServices } from '../../transactions/ports.ts'
import type { MarketIndex } from '../market-index.ts'
import type { MintWindows } from '../mint-windows.ts'
import type { NameIndex } from '../name-index.ts'
import type { RankingHandle } from '../ranking-handle.ts'

/** Needs of the routes of the Data API. */
export interface DataNeeds extends Pick<HttpKernel, 'storage' | 'clock' | 'feed'> {
  /** The imported archive; absent if none is served. */
  readonly archive?: ServedArchive | undefined
  readonly ranking: RankingHandle
  /** Names and rankings of all mints, of this process or of another one. */
  readonly index: MarketIndex
  /** Symbols and names of tokens. */
  readonly names: NameIndex
  /** Rolling windows of mints. */
  readonly mintWindows: MintWindows
  readonly cash: CashList
  /** Indexed venues. */
  readonly venues: readonly VenueId[]
  /** The kind of source that this process reads; null if it reads none. */
  readonly sourceKind: SourceKind | null
  /** Null if the process has no node to read accounts from. */
  readonly accounts: AccountServices | null
  /** Null if the process has no node to read transactions from. */
  readonly transactions: TransactionServices | null
}
