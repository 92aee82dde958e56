import { receivers, type Receivers } from '../../actors/webhooks/receivers.ts'
import { child } from '../../actors/supervision/unit.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { WEBHOOK_SETTINGS } from '../config/settings/webhooks.ts'
import type { WebhookParts } from '../http/deps.ts'
import { webhookRoutes } from '../http/routes/webhooks.ts'
import { listAttempts, storeAttempts } from '../webhooks/attempts.ts'
import { webhookSecretKey } from '../webhooks/secret-key-file.ts'
import { UrlGuard } from '../webhooks/url-guard.ts'
import type { Product } from './product.ts'

/** Webhooks: signed batches of events by POST. Gateways serve the API, delivery processes send. */
export const WEBHOOKS: Product = {
  name: 'webhooks',
  roles: ['gateway', 'delivery'],
  settings: WEBHOOK_SETTINGS,
  units: ({ config, ports: { clock } }) => {
    const guard = new UrlGuard({ allowPrivate: config.allowPrivateWebhooks })
    return [child('receivers', receivers({ guard, secretKey: () => webhookSecretKey(config), clock }))]
  },
  routes: [webhookRoutes]
}

/** Returns what the API needs of webhooks. */
export function webhookParts({ guard, secrets, sender }: Receivers, documents: DocumentStore): WebhookParts {
  return {
    guard,
    secrets,
    signer: secrets,
    sender,
    attempts: {
      list: (webhook, page) => listAttempts(documents, webhook, page),
      add: (tenant, id, attempts) => storeAttempts(documents, tenant, id, attempts)
    },
    deliveries: { changed: () => undefined, buffered: () => null }
  }
}
