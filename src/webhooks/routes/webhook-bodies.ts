import type { z } from 'zod'
import { momentText } from '../../access/bodies/api-key.ts'
import type { attemptList, createdWebhookAnswer, webhookAnswer } from '../bodies/webhook.ts'
import { failuresOf, type ShownWebhook, type WebhookState } from '../registry.ts'
import type { DeliveryAttempt } from '../webhook.ts'

/** Seconds within which deliveries begin (src/docs/webhooks.md). */
const STARTS_WITHIN_SECONDS = 15

/** Renders a webhook for its tenant: everything but the secret. */
export function webhookBody(state: WebhookState, buffered: number | null): z.infer<typeof webhookAnswer> {
  const { webhook, progress } = state
  return {
    id: webhook.id,
    url: webhook.url,
    channels: webhook.channels,
    active: webhook.active,
    created_at: momentText(webhook.createdAtMs),
    updated_at: momentText(webhook.updatedAtMs),
    disabled_at: momentOrNull(webhook.disabledAtMs),
    disabled_reason: webhook.disabledReason,
    consecutive_failures: failuresOf(state),
    last_success_at: momentOrNull(progress?.lastSuccessAtMs ?? null),
    last_failure_at: momentOrNull(progress?.lastFailureAtMs ?? null),
    last_status: progress?.lastStatus ?? null,
    last_error: progress?.lastError ?? null,
    buffered: buffered ?? progress?.buffered ?? null,
    dropped_total: progress?.droppedTotal ?? 0,
    secret_hint: webhook.secretHint
  }
}

/** Renders a new webhook with its secret. */
export function createdWebhookBody({
  webhook: { id, url, channels, active, createdAtMs },
  secret
}: ShownWebhook): z.infer<typeof createdWebhookAnswer> {
  return {
    id,
    url,
    channels,
    secret,
    active,
    created_at: momentText(createdAtMs),
    delivery_starts_within_seconds: STARTS_WITHIN_SECONDS
  }
}

/** Renders one POST of a batch. */
export function attemptBody(attempt: DeliveryAttempt): z.infer<typeof attemptList>['data'][number] {
  return {
    batch_id: attempt.batchId,
    attempt: attempt.attempt,
    status_code: attempt.statusCode,
    error: attempt.error,
    events: attempt.events,
    dropped: attempt.dropped,
    started_at: momentText(attempt.startedAtMs),
    duration_ms: Math.round(attempt.durationMs),
    next_retry_at: momentOrNull(attempt.nextRetryAtMs)
  }
}

function momentOrNull(unixMs: number | null): string | null {
  return unixMs === null ? null : momentText(unixMs)
}
