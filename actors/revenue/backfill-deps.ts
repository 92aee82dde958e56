import type { CashList } from '../../src/market/cash.ts'
import type { Ports } from '../../src/ports.ts'
import type { HistoryNode } from '../../src/revenue/history-node.ts'
import type { BackfillMetrics } from '../../src/revenue/metrics.ts'
import type { Storage } from '../../storage/port.ts'
import type { LedgerLead } from './ledger-deps.ts'

export interface BackfillDeps extends Ports {
  readonly storage: Pick<Storage, 'documents' | 'ledger' | 'isShared' | 'pairs' | 'candles' | 'solPrices'>
  readonly cash: CashList
  readonly node: HistoryNode
  /** Tells whether a node is configured and known. */
  readonly hasNode: () => boolean
  readonly lead: LedgerLead
  readonly metrics: BackfillMetrics
  readonly logger: { info(text: string): void; warn(text: string): void }
}
