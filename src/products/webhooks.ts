import { outgoing } from '../../actors/webhooks/outgoing.ts'
import { webhooks, type WebhooksNeeds } from '../../actors/webhooks/webhooks.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import { child } from '../../actors/supervision/unit.ts'
import { WEBHOOK_SETTINGS } from '../config/settings/webhooks.ts'
import type { WebhookParts } from '../http/deps.ts'
import { webhookRoutes } from '../http/routes/webhooks.ts'
import { listAttempts, storeAttempts } from '../webhooks/attempts.ts'
import { WebhookChanges } from '../webhooks/changes.ts'
import { webhookSecretKey } from '../webhooks/secret-key-file.ts'
import { beside, coordinationOf, type Product, type ServiceParts, type Spine } from './product.ts'

/** Maximum milliseconds of a drain of deliveries, which waits for POSTs in flight and the last writes. */
const DRAIN_MS = 5_000

/** Webhooks: signed batches of events by POST. Gateways serve the API and send test events, delivery processes deliver. */
export const WEBHOOKS: Product = {
  name: 'webhooks',
  roles: ['gateway', 'delivery'],
  settings: WEBHOOK_SETTINGS,
  units: ({ config, ports: { clock }, handles }) => {
    const run = outgoing({
      clock,
      allowPrivate: config.allowPrivateWebhooks,
      secretKey: () => webhookSecretKey(config)
    })
    return [beside('receivers', child('outgoing', giving(handles.outgoing, run)))]
  },
  routes: [webhookRoutes],
  channels: ['webhooks']
}

/**
 * Deliveries to webhooks. They have their own supervisor: their faults restart no other unit, and they drain after
 * the edge.
 */
export const DELIVERY: Product = {
  name: 'delivery',
  roles: ['delivery'],
  settings: {},
  units: (service) => {
    const { ports, logger, metrics, deliveries: local, tenantEvents, turns, handles } = service
    const deps = { ...ports, logger, metrics: metrics.webhooks, local, tenantEvents, turns }
    const run = webhooks<WebhooksNeeds & Spine>(deps, (given) => coordinationOf(service, given))
    const { channels, outgoing } = handles
    const delivers = using({ channels, outgoing }, ports.clock, run)
    return [beside('deliveries', child('webhooks', delivers, { drainMs: DRAIN_MS }))]
  }
}

/** Returns the webhook services that the HTTP side uses; null in a process without webhooks. */
export function webhookPartsOf(service: ServiceParts, given: Spine): WebhookParts | null {
  if (!service.products.includes(WEBHOOKS)) return null
  const { outgoing } = service.handles
  const { documents } = given.storage
  const { deliveries, tenantEvents, ports } = service
  const peers = coordinationOf(service, given)
  return {
    get guard() {
      return outgoing.get().guard
    },
    get secrets() {
      return outgoing.get().secrets
    },
    get signer() {
      return outgoing.get().signer
    },
    get sender() {
      return outgoing.get().sender
    },
    attempts: {
      list: (webhook, page) => listAttempts(documents, webhook, page),
      add: (tenant, id, attempts) => storeAttempts(documents, tenant, id, attempts)
    },
    deliveries: {
      changed: (tenant) => {
        deliveries.publish(tenant)
        peers.webhooks?.publish()
      },
      buffered: (tenant, id) => deliveries.buffered(tenant, id)
    },
    changes: new WebhookChanges((event) => tenantEvents.publish(event, peers.tenantEvents), ports.clock)
  }
}
