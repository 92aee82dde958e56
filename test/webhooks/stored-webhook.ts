import { WEBHOOK, type Webhook } from '../../src/webhooks/webhook.ts'

/** Returns an active webhook without deliveries so far. */
export const sampleWebhook = (changes: Partial<Webhook> = {}): Webhook => ({
  tenant: 'acme',
  id: 7,
  slot: 0,
  url: 'http://receiver.example/',
  channels: [],
  secrets: [],
  secretHint: 'abcd',
  active: true,
  disabledAtMs: null,
  disabledReason: null,
  createdAtMs: 0,
  updatedAtMs: 0,
  activation: 1,
  since: null,
  failuresAtStart: 0,
  ...changes
})

/** Writes a webhook as the store does, and reads it again. */
export function storedAndRead(webhook: Pick<Webhook, 'tenant' | 'id' | 'secrets'>): Webhook {
  const whole = sampleWebhook({ url: 'https://example.com/', channels: ['launches'], ...webhook })
  return WEBHOOK.schema.parse(JSON.parse(JSON.stringify(WEBHOOK.schema.encode(whole))))
}
