import type { LedgerBlocks } from '../../src/revenue/ledger-blocks.ts'
import type { LedgerFeed } from '../../src/revenue/ledger-feed.ts'
import type { CashList } from '../../src/market/cash.ts'
import type { Ports } from '../../src/ports.ts'
import type { LedgerMetrics } from '../../src/revenue/metrics.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { SymbolSources } from '../../src/data/mint-symbols.ts'
import type { BlockStore, Storage } from '../../storage/port.ts'

/** Whether this process is the one that writes the ledger. */
export interface LedgerLead {
  isHeld: boolean
  /** Fencing token of the process while it writes the ledger. */
  token?: number
}

export interface LedgerDeps extends Ports, Pick<SymbolSources, 'names'> {
  readonly storage: Pick<
    Storage,
    'documents' | 'ledger' | 'isShared' | 'pairs' | 'candles' | 'solPrices' | 'launches'
  > & {
    readonly blocks: Pick<BlockStore, 'at' | 'between'>
  }
  readonly cash: CashList
  readonly blocks: LedgerBlocks
  readonly feed: Pick<CommitFeed, 'head'>
  /** Publishes stored entries on the stream. */
  readonly stream: LedgerFeed
  readonly metrics: LedgerMetrics
  /** Whether this process writes the ledger; it then also reads its history. */
  readonly lead: LedgerLead
  readonly logger: { info(text: string): void; warn(text: string): void }
}
