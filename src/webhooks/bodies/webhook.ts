import { z } from 'zod'
import { moment } from '../../access/bodies/api-key.ts'
import { CLOCKS, count, listOf, text } from '../../kernel/http/schema.ts'
import {
  CURVE_EVENT,
  LAUNCH_EVENT,
  LIQUIDITY_EVENT,
  POOL_EVENT,
  PRICE_TICK,
  RETRACTION,
  TRADE_EVENT
} from '../../stream/bodies/stream-schema.ts'
import { disabledReason, webhookId as id, webhookUrl as url } from './webhook-change.ts'

const channels = z.array(z.string()).describe('Channels that it is subscribed to')
const createdAt = moment('Time of creation')

/** Schema of a webhook's fields, without its secret. */
export const webhookAnswer = z
  .object({
    id,
    url,
    channels,
    active: z.boolean().describe('Whether batches are sent; see `disabled_reason`'),
    created_at: createdAt,
    updated_at: moment('Time of the last change of the webhook itself'),
    disabled_at: moment('Time at which it was deactivated; null while it is active').nullable(),
    disabled_reason: disabledReason
      .nullable()
      .describe(
        'Reason of the deactivation: 20 deliveries failed in a row, or the receiver answered 410. Null while it is active'
      ),
    consecutive_failures: count('Deliveries that failed in a row; a delivery is a batch with its retries'),
    last_success_at: moment('Time of the last delivery that was answered with 2xx').nullable(),
    last_failure_at: moment('Time of the last failed attempt').nullable(),
    last_status: z
      .int()
      .nullable()
      .describe('HTTP status of the last attempt; null before the first attempt, and if no answer came'),
    last_error: text('Why the last attempt failed; null if it did not').nullable(),
    buffered: count('Events that wait for delivery')
      .nullable()
      .describe(
        'Events that wait for delivery. On a cluster, their number at the last attempt, or at most 36 s ago; null before the first'
      ),
    dropped_total: count('Events that were dropped since the webhook was created'),
    secret_hint: text('Last four characters of the secret')
  })
  .meta({ id: 'Webhook', description: 'A webhook without its secret' })

/** Schema of a new webhook, with its secret. */
export const createdWebhookAnswer = z
  .object({
    id,
    url,
    channels,
    secret: text('The secret that signs the batches. It is shown only here and after a rotation'),
    active: webhookAnswer.shape.active,
    created_at: createdAt,
    delivery_starts_within_seconds: count('Deliveries start within this number of seconds')
  })
  .meta({ id: 'CreatedWebhook', description: 'A new webhook with its secret' })

/** Schema of the list of a tenant's webhooks. */
export const webhookList = listOf(webhookAnswer).extend({
  limits: z.object({ max: count('Webhooks that a tenant may have') }).describe('Limits of the tenant')
})

export const deletedWebhookAnswer = z.object({ id, deleted: z.literal(true).describe('It is deleted') })

const WARNING = z.object({
  code: z
    .enum(['beyond_replay_horizon', 'cursor_ahead_of_head'])
    .describe(
      '`beyond_replay_horizon`: some events after `since` are no longer available. `cursor_ahead_of_head`: `since` is newer than any event; deliveries start with the first event after `since`, or after the newest block if `since` is far ahead'
    ),
  message: text('The warning in words'),
  horizon: count('With `beyond_replay_horizon`: deliveries start after this cursor').optional()
})
export type EnableWarning = z.infer<typeof WARNING>

/** Schema of an enabled webhook, with warnings about `since`. */
export const enabledWebhookAnswer = webhookAnswer
  .extend({
    warnings: z.array(WARNING).describe('Reasons why the webhook cannot deliver all events after `since`')
  })
  .meta({ id: 'EnabledWebhook', description: 'A webhook after it was enabled' })

/** Schema of the outcome of a test event. */
export const testAnswer = z.object({
  delivered: z.boolean().describe('Whether the receiver answered with 2xx'),
  status_code: z.int().nullable().describe('HTTP status of its answer; null if no answer came'),
  duration_ms: count('Milliseconds of the attempt'),
  error: text('Reason of the failure, such as `timeout` or `status_500`; null if it was delivered').nullable()
})

/** Schema of a rotated secret. */
export const rotatedSecretAnswer = z.object({
  secret: text('The new secret. It is shown only here'),
  previous_secret_expires_at: moment('Until this time, batches are signed with earlier secrets too')
})

const attemptAnswer = z
  .object({
    batch_id: text('Id of the batch, shared by all of its attempts'),
    attempt: count('Number of the attempt, from 1 to 3; 0 for a test event'),
    status_code: z.int().nullable().describe('HTTP status of the answer; null if no answer came'),
    error: text('Why the attempt failed; null if it did not').nullable(),
    events: count('Events of the batch'),
    dropped: count('Dropped events that the batch reported'),
    started_at: moment('Start of the attempt'),
    duration_ms: count('Milliseconds of the attempt'),
    next_retry_at: moment('Time of the next attempt; null if none follows').nullable()
  })
  .meta({ id: 'WebhookAttempt', description: 'One POST of a batch' })

/** Schema of the list of attempts. */
export const attemptList = listOf(attemptAnswer)

const TEST_EVENT = z
  .object({
    event: z.literal('test').describe('A test event'),
    webhook_id: id,
    message: z.literal('Test event').describe('Text for people'),
    ts_ms: z.int().describe(`Time of the test; ${CLOCKS.service}, Unix milliseconds`)
  })
  .meta({ id: 'TestEvent', description: 'The event of `POST /v1/webhooks/{id}/test`, on the channel `test`' })

/** Schema of the body that a receiver gets. */
export const WEBHOOK_BATCH = z
  .object({
    webhook_id: id,
    batch_id: text('Id of the batch; a retry has the id and the bytes of the first attempt'),
    batch_ts: z.int().describe(`Time of the batch; ${CLOCKS.service}, Unix milliseconds`),
    events: z
      .array(
        z.object({
          channel: text('Channel of the event; `test` for a test event'),
          data: z
            .union([
              TRADE_EVENT,
              PRICE_TICK,
              LIQUIDITY_EVENT,
              LAUNCH_EVENT,
              CURVE_EVENT,
              POOL_EVENT,
              RETRACTION,
              TEST_EVENT
            ])
            .describe('The event, as on the stream')
        })
      )
      .max(64)
      .describe('Events in cursor order'),
    cursor: count('Cursor of the last event; absent in a test event').optional(),
    dropped: count('Events that were dropped before this batch').min(1).optional(),
    missed: z
      .object({
        from_cursor: count('Cursor after which events are missing'),
        to_cursor: count('Cursor up to which events are missing')
      })
      .optional()
      .describe(
        'A range of events that are no longer available and were not counted, because it is older than the replay horizon'
      )
  })
  .meta({ id: 'WebhookBatch' })
export type WebhookBatch = z.input<typeof WEBHOOK_BATCH>
