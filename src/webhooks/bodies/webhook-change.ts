import { z } from 'zod'
import { count, text, unixMs } from '../../kernel/http/schema.ts'

/** Fields shared by a webhook and its changes. The client's package includes this file, so it does not import the store. */

const ID_MAX = 2 ** 48 - 1
export const webhookId = z.int().min(1).max(ID_MAX).describe('Id of the webhook')
export const webhookUrl = text('URL that batches are posted to')
export const disabledReason = z.enum(['consecutive_failures', 'gone'])

/** Schema of a change of a webhook, on the stream's channel `webhooks`. */
export const WEBHOOK_CHANGE = z
  .object({
    event: z
      .enum(['created', 'enabled', 'deactivated', 'deleted', 'rotated', 'dropped'])
      .describe('The change; `rotated` means that the secret was rotated'),
    webhook_id: webhookId,
    url: webhookUrl,
    reason: disabledReason.optional().describe('With `deactivated`: `disabled_reason` of the webhook'),
    dropped: count('With `dropped`: number of events dropped since the previous message').min(1).optional(),
    ts_ms: unixMs('Time of the change', 'service'),
    cursor: count('Cursor of the newest published block; several changes can share a cursor')
  })
  .meta({ id: 'WebhookChange', description: 'A change of a webhook' })
