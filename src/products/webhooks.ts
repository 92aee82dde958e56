import { WEBHOOK_SETTINGS } from '../config/settings/webhooks.ts'
import { webhookRoutes } from '../http/routes/webhooks.ts'
import type { Product } from './product.ts'

/** Webhooks: signed batches of events by POST. Gateways serve the API, delivery processes send. */
export const WEBHOOKS: Product = {
  name: 'webhooks',
  roles: ['gateway', 'delivery'],
  settings: WEBHOOK_SETTINGS,
  routes: [webhookRoutes]
}
