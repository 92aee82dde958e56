import type { AccountNode } from '../../src/accounts/ports.ts'
import type { HolderBlocks } from '../../src/holders/holder-blocks.ts'
import type { Ports } from '../../src/ports.ts'
import type { HolderMetrics } from '../../src/holders/metrics.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { Storage } from '../../storage/port.ts'
import type { DynamicSupervisor } from '../supervision/dynamic-supervisor.ts'

export interface HolderDeps extends Ports {
  readonly storage: Pick<Storage, 'documents' | 'holders' | 'isShared'>
  readonly node: Pick<AccountNode, 'programAccounts'>
  readonly blocks: HolderBlocks
  readonly feed: Pick<CommitFeed, 'head'>
  readonly metrics: HolderMetrics
  readonly logger: { info(text: string): void; warn(text: string): void }
  /** Supervises the readings of lists. */
  readonly readings: DynamicSupervisor
  readonly limits: HolderLimits
}

export interface HolderLimits {
  readonly mintsMax: number
  /** Token accounts of all lists together. */
  readonly accountsMax: number
  /** Token accounts of a list; absent for LIST_ACCOUNTS_MAX. */
  readonly listMax?: number
  /** Token accounts above which a list is large; absent for SMALL_LIST_ACCOUNTS_MAX. */
  readonly smallListMax?: number
  /** Milliseconds for which superseded versions stay. */
  readonly pinnedMs: number
}
