import { WEBHOOK, type Webhook } from '../../src/webhooks/webhook.ts'

/** Writes a webhook as the store does, and reads it again. */
export function storedAndRead(webhook: Pick<Webhook, 'tenant' | 'id' | 'secrets'>): Webhook {
  const whole: Webhook = {
    slot: 0,
    url: 'https://example.com/',
    channels: ['launches'],
    secretHint: 'abc=',
    active: true,
    disabledAtMs: null,
    disabledReason: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    activation: 1,
    since: null,
    failuresAtStart: 0,
    ...webhook
  }
  return WEBHOOK.schema.parse(JSON.parse(JSON.stringify(WEBHOOK.schema.encode(whole))))
}
