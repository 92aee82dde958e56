import type { TransactionMetrics } from '../../src/transactions/metrics.ts'
import type { Clock } from '../../src/ports.ts'
import type { BlockSightings, TransactionNode } from '../../src/transactions/ports.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import type { ChangeLog } from './change-log.ts'
import type { TransactionSenderDeps } from './transaction-sender.ts'

export interface TrackerDeps extends TransactionSenderDeps {
  readonly node: TransactionNode
  readonly sightings: BlockSightings
  readonly documents: DocumentStore
  /** Milliseconds that a submission is kept from its end; null for ever. */
  readonly retentionMs: number | null
  /** Whether other processes have the store. */
  readonly isShared: boolean
  readonly clock: Clock
  readonly metrics: TransactionMetrics
  /** The log of changes that are published to tenants. */
  readonly changes: Pick<ChangeLog, 'append'>
  readonly report: (fault: unknown) => void
}
