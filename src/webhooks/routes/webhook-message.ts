import { z } from 'zod'
import { text } from '../../kernel/http/schema.ts'
import { WEBHOOK_BATCH, type WebhookBatch } from '../bodies/webhook.ts'
import type { JsonSchema, JsonSchemas } from '../../kernel/http/json-schemas.ts'
import { EXAMPLE_LAUNCH, EXAMPLE_MINT, EXAMPLE_TRADE } from '../../stream/routes/stream-examples.ts'

/** Webhooks in the AsyncAPI document: a server of the client's own, to which this service posts batches. */

const WEBHOOK_ID = 196_744_173_809_221
const MESSAGE = 'webhookBatch'

const HEADERS = z.object({
  'X-MR-Webhook-Id': text('Id of the webhook'),
  'X-MR-Timestamp': text('Time of the attempt, in Unix milliseconds'),
  'X-MR-Signature': text(
    '`sha256=` and the hexadecimal HMAC-SHA256 of the timestamp, a dot and the body. The HMAC key is the secret as it was shown, including `whsec_`'
  ),
  'X-MR-Signature-Previous': text(
    'The signature with the previous secret, during the grace period of a rotation'
  ).optional(),
  'X-MR-Signature-Earlier': text(
    'The signatures with the secrets of earlier rotations whose grace periods have not ended, newest first, separated by a comma and a space'
  ).optional(),
  'X-MR-Attempt': text('Number of the attempt, from 1 to 3; absent from a test event').optional(),
  'webhook-id': text('Id of the message (Standard Webhooks): `msg_` and the id of the batch'),
  'webhook-timestamp': text('Time of the attempt, in Unix seconds'),
  'webhook-signature': text(
    '`v1,` and the base64 HMAC-SHA256 of id, timestamp and body, joined by dots. The HMAC key is the text of the secret after `whsec_`, decoded from base64. During the grace period of a rotation, several signatures separated by spaces: one for each secret that signs'
  )
})

const EXAMPLES: readonly WebhookBatch[] = [
  {
    webhook_id: WEBHOOK_ID,
    batch_id: '5f0c8a1e-7d57-4d0f-9a53-0f2b6c1f7f10',
    batch_ts: 1_730_000_000_500,
    cursor: EXAMPLE_LAUNCH.cursor,
    events: [
      { channel: `trades:${EXAMPLE_MINT}`, data: EXAMPLE_TRADE },
      { channel: 'launches', data: EXAMPLE_LAUNCH }
    ],
    dropped: 12,
    missed: { from_cursor: 314_000_000_000_000, to_cursor: 314_400_000_000_000 }
  },
  {
    webhook_id: WEBHOOK_ID,
    batch_id: '0d1d3c52-1e0e-4b39-8a53-2f7c3f0d9b4e',
    batch_ts: 1_730_000_000_500,
    events: [
      {
        channel: 'test',
        data: { event: 'test', webhook_id: WEBHOOK_ID, message: 'Test event', ts_ms: 1_730_000_000_500 }
      }
    ]
  }
]

export const RECEIVER: JsonSchema = {
  host: '{receiver}',
  protocol: 'https',
  description: 'The host of a webhook’s URL; it may also be `http`',
  variables: { receiver: { default: 'example.com', description: 'Host of the URL' } }
}

export const WEBHOOK_CHANNEL: JsonSchema = {
  address: null,
  title: 'A webhook',
  description:
    'The URL of a webhook, from `POST /v1/webhooks`. The receiver answers with 2xx within 10 seconds.',
  servers: [{ $ref: '#/servers/receiver' }],
  messages: { [MESSAGE]: { $ref: `#/components/messages/${MESSAGE}` } },
  bindings: { http: { bindingVersion: '0.3.0' } }
}

export const POST_BATCH: JsonSchema = {
  action: 'send',
  summary: 'Posts up to 64 events of the webhook’s channels, at least every 500 ms, one batch at a time',
  channel: { $ref: '#/channels/webhook' },
  messages: [{ $ref: `#/channels/webhook/messages/${MESSAGE}` }],
  bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } }
}

/** Returns the message of a batch, with its headers. */
export function webhookBatchMessage(schemas: JsonSchemas): JsonSchema {
  return {
    name: MESSAGE,
    title: 'Batch of events',
    summary: 'The body of a POST to a webhook; a retry has the id and the bytes of the first attempt',
    contentType: 'application/json',
    headers: schemas.ofOutput(HEADERS),
    payload: schemas.ofOutput(WEBHOOK_BATCH),
    examples: EXAMPLES.map((payload) => ({ payload }))
  }
}
