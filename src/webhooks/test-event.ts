import { randomUUID } from 'node:crypto'
import type { WebhookBatch } from './bodies/webhook.ts'
import type { Clock } from '../ports.ts'
import { outcomeError } from './post-error.ts'
import type { DeliveryAttempt, Webhook, WebhookSender, WebhookSigner } from './webhook.ts'

/**
 * Maximum milliseconds that a test event is queued while other POSTs of the tenant have all places. With the 10 s of its own
 * POST it ends before the 30 s of a request.
 */
const WAIT_MS = 15_000

export interface TestDeps {
  readonly signer: WebhookSigner
  readonly sender: WebhookSender
  readonly clock: Pick<Clock, 'now'>
}

/** Posts a test event once, even for a deactivated webhook. It does not count as a delivery. */
export async function sendTestEvent(
  webhook: Webhook,
  { signer, sender, clock }: TestDeps,
  signal: AbortSignal
): Promise<DeliveryAttempt> {
  const { id, tenant, url } = webhook
  const nowMs = clock.now()
  const batchId = randomUUID()
  const batch: WebhookBatch = {
    webhook_id: id,
    batch_id: batchId,
    batch_ts: nowMs,
    events: [
      { channel: 'test', data: { event: 'test', webhook_id: id, message: 'Test event', ts_ms: nowMs } }
    ]
  }
  const body = Buffer.from(JSON.stringify(batch))
  const headers = signer.headers(webhook, { id: batchId, body, nowMs })
  const outcome = await sender.post(tenant, { url, headers, body, waitMs: WAIT_MS }, signal)
  const isAnswered = outcome.kind === 'answered'
  return {
    batchId,
    attempt: 0,
    statusCode: isAnswered ? outcome.status : null,
    error: outcomeError(outcome),
    events: 1,
    dropped: 0,
    startedAtMs: nowMs,
    durationMs: outcome.durationMs,
    nextRetryAtMs: null
  }
}
