import type { Clock, Random } from '../../src/ports.ts'
import type { StreamHub } from '../../src/stream/hub.ts'
import type { WebhookMetrics } from '../../src/webhooks/metrics.ts'
import type { WebhookChanges } from '../../src/webhooks/changes.ts'
import type { WebhookSender, WebhookSigner } from '../../src/webhooks/webhook.ts'
import type { PastReader } from './past-reader.ts'
import type { WorkSlices } from './turn-slices.ts'

/** Everything that the deliveries of a process share. */
export interface DeliveryDeps {
  readonly hub: StreamHub
  readonly past: Pick<PastReader, 'read'>
  /** The last cursor before the replayable range. */
  readonly horizon: () => number
  readonly sender: WebhookSender
  readonly signer: WebhookSigner
  /** Spreads the beginnings of batches and POSTs over turns of the event loop. */
  readonly slices: WorkSlices
  readonly clock: Clock
  readonly random: Random
  readonly newBatchId: () => string
  readonly metrics: Omit<WebhookMetrics, 'show'>
  readonly changes: Pick<WebhookChanges, 'publish' | 'dropped'>
}
