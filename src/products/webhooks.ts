import { WEBHOOK_SETTINGS } from '../config/settings/webhooks.ts'
import type { Product } from './product.ts'

/** Webhooks: signed batches of events by POST. Its setting is read and checked, and has no effect yet. */
export const WEBHOOKS: Product = { name: 'webhooks', roles: ['delivery'], settings: WEBHOOK_SETTINGS }
