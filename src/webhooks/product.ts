import { outgoing, type OpenOutgoing } from '../../actors/webhooks/outgoing.ts'
import { webhooks, type WebhooksNeeds } from '../../actors/webhooks/webhooks.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import { child } from '../../actors/supervision/unit.ts'
import { WEBHOOK_ERRORS } from './errors.ts'
import type { WebhookServices } from './services.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { webhookMetrics } from './metrics.ts'
import { listAttempts, storeAttempts } from './attempts.ts'
import { WebhookChanges } from './changes.ts'
import { webhookSecretKey } from './secret-key-file.ts'
import { LocalDeliveries } from './local-deliveries.ts'
import {
  beside,
  capability,
  coordinationOf,
  metricGroup,
  resource,
  type Kernel,
  type Product,
  type ProductWork,
  type Spine
} from '../kernel/compose/product.ts'
import { LEASES } from '../fleet/capabilities.ts'
import { CHAIN_CHANNELS, TENANT_EVENTS } from '../stream/capabilities.ts'
import { STREAM, STREAM_GATEWAY } from '../stream/product.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { isLoopbackName } from '../kernel/http/host.ts'
import { hasLocalnet } from '../ingest/node-urls.ts'

/** Maximum milliseconds of a drain of deliveries, which waits for POSTs in flight and the last writes. */
const DRAIN_MS = 5_000

/** The connections to receivers, and the key of their secrets. */
const OUTGOING = resource<OpenOutgoing>('the connections to receivers')

/** The deliveries of this process, for its requests. */
const LOCAL_DELIVERIES = capability(() => new LocalDeliveries())

const WEBHOOK_METRICS = metricGroup(webhookMetrics)

/** Deliveries, which a created or resumed webhook is answered with the promise of. */
const DELIVERIES: ProductWork = { name: 'webhooks', role: 'delivery' }

/** Webhooks: signed batches of events by POST. Gateways serve the API and send test events, delivery processes deliver. */
export const WEBHOOKS: Product = {
  name: 'webhooks',
  roles: ['gateway', 'delivery'],
  listedAs: 'webhooks',
  work: DELIVERIES,
  errors: WEBHOOK_ERRORS,
  units: (kernel) => {
    const {
      config,
      ports: { clock },
      get
    } = kernel
    const run = outgoing({
      clock,
      allows: {
        allowPrivate: config.allowPrivateWebhooks,
        // Clients of such a service are on this machine, and can reach its loopback addresses without the service.
        allowLoopback: hasLocalnet(kernel) && isLoopbackName(config.host)
      },
      secretKey: () => webhookSecretKey(config)
    })
    return [beside('receivers', child('outgoing', giving(get(OUTGOING), run)))]
  },
  routes: ({ products, get }) => {
    const stream = products.includes(STREAM) ? get(STREAM_GATEWAY) : null
    const servicesOf = get(WEBHOOK_SERVICES)
    return (side, given) => routesWith({ ...side, stream, webhooks: servicesOf(given) }, [webhookRoutes])
  },
  channels: ['webhooks']
}

/**
 * Deliveries to webhooks. They have their own supervisor: their faults restart no other unit, and they drain after
 * the edge.
 */
export const DELIVERY: Product = {
  name: 'delivery',
  roles: ['delivery'],
  units: (kernel) => {
    const { ports, logger, turns, get } = kernel
    const events = { local: get(LOCAL_DELIVERIES), tenantEvents: get(TENANT_EVENTS) }
    const deps = { ...ports, ...events, logger, metrics: get(WEBHOOK_METRICS), turns, book: get(LEASES) }
    const run = webhooks<WebhooksNeeds & Spine>(deps, (given) => coordinationOf(kernel, given))
    const used = { channels: get(CHAIN_CHANNELS), outgoing: get(OUTGOING) }
    const delivers = using(used, ports.clock, run)
    return [beside('deliveries', child('webhooks', delivers, { drainMs: DRAIN_MS }))]
  },
  metrics: [WEBHOOK_METRICS]
}

/** Returns the webhook services that the HTTP side uses; null in a process without them. */
export const WEBHOOK_SERVICES = capability(webhookServicesOf)

function webhookServicesOf(kernel: Kernel): (given: Spine) => WebhookServices | null {
  const { ports, products, get } = kernel
  if (!products.includes(WEBHOOKS)) return () => null
  const outgoing = get(OUTGOING)
  const deliveries = get(LOCAL_DELIVERIES)
  const tenantEvents = get(TENANT_EVENTS)
  return (given) => {
    const { documents } = given.storage
    const peers = coordinationOf(kernel, given)
    const services: Pick<WebhookServices, 'attempts' | 'deliveries' | 'changes'> = {
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
    return outgoing.view(['guard', 'secrets', 'signer', 'sender'], services)
  }
}
