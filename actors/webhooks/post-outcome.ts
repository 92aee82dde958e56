import type { WebhookEvent } from '../../machines/webhook.machine.ts'
import { outcomeError } from '../../src/webhooks/post-error.ts'
import type { PostLabel } from '../../src/webhooks/metrics.ts'
import type {
  BatchIntent,
  DeliveryAttempt,
  PostOutcome,
  WebhookProgress
} from '../../src/webhooks/webhook.ts'

/** Tells whether a POST was not made, for a reason that is not the receiver's. */
export const isOwnFault = (outcome: PostOutcome): boolean =>
  outcome.kind === 'failed' && (outcome.error === 'aborted' || outcome.error === 'too_many_posts')

/** Returns the class of an outcome. */
export function labelOf(outcome: PostOutcome): PostLabel {
  if (outcome.kind === 'failed') return 'failed'
  if (outcome.status === 410) return 'gone'
  const hundreds = Math.floor(outcome.status / 100)
  return hundreds === 2 ? '2xx' : hundreds === 3 ? '3xx' : hundreds === 4 ? '4xx' : '5xx'
}

/** Returns the machine event of an outcome. */
export function eventOf(outcome: PostOutcome, label: PostLabel): WebhookEvent {
  if (label === '2xx') return { type: 'post.accepted' }
  if (label === 'gone') return { type: 'post.gone' }
  return { type: 'post.failed', retryAfterMs: outcome.kind === 'answered' ? outcome.retryAfterMs : null }
}

/** Returns the fields of the progress that show an outcome. */
export function statusOf(outcome: PostOutcome, label: PostLabel, nowMs: number): Partial<WebhookProgress> {
  const lastStatus = outcome.kind === 'answered' ? outcome.status : null
  if (label === '2xx') return { lastSuccessAtMs: nowMs, lastStatus, lastError: null }
  return { lastFailureAtMs: nowMs, lastStatus, lastError: outcomeError(outcome) }
}

/** An attempt of a batch that has ended. */
interface EndedAttempt {
  readonly intent: BatchIntent
  readonly attempt: number
  readonly startedAtMs: number
  readonly retryAtMs: number | null
}

/** Returns an attempt as the list of deliveries shows it. */
export function attemptOf(
  { intent, attempt, startedAtMs, retryAtMs }: EndedAttempt,
  outcome: PostOutcome
): DeliveryAttempt {
  return {
    batchId: intent.batchId,
    attempt,
    statusCode: outcome.kind === 'answered' ? outcome.status : null,
    error: outcomeError(outcome),
    events: intent.events,
    dropped: intent.dropped,
    startedAtMs,
    durationMs: outcome.durationMs,
    nextRetryAtMs: retryAtMs
  }
}
