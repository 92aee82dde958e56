import { WEBHOOK_SETTINGS } from '../config/settings/webhooks.ts'
import type { Product } from './product.ts'

/** Webhooks: signed batches of events by POST. */
export const WEBHOOKS: Product = { name: 'webhooks', roles: ['delivery'], settings: WEBHOOK_SETTINGS }
