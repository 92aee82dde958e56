import type { WebhookChanges } from './changes.ts'
import type { DeliveryLog, UrlGuard, WebhookDeliveries, WebhookSecrets } from './ports.ts'
import type { WebhookSender, WebhookSigner } from './webhook.ts'

/** The services of webhooks that the HTTP side uses. */
export interface WebhookServices {
  readonly guard: UrlGuard
  readonly secrets: WebhookSecrets
  readonly signer: WebhookSigner
  readonly sender: WebhookSender
  readonly attempts: DeliveryLog
  readonly deliveries: WebhookDeliveries
  readonly changes: Pick<WebhookChanges, 'publish'>
}
