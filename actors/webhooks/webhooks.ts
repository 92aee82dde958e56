import { randomUUID } from 'node:crypto'
import type { Ports } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { LeaseBook } from '../../src/fleet/lease-book.ts'
import type { WebhookMetrics } from '../../src/webhooks/metrics.ts'
import { WebhookChanges } from '../../src/webhooks/changes.ts'
import type { TenantEvents } from '../../src/stream/tenant-events.ts'
import type { LocalDeliveries } from '../../src/webhooks/local-deliveries.ts'
import type { TakeTurns } from '../../src/kernel/work/turns.ts'
import type { WebhookSender, WebhookSigner } from '../../src/webhooks/webhook.ts'
import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import type { Storage } from '../../storage/port.ts'
import type { Channels } from '../stream/channels.ts'
import { isOutage } from '../storage/retry.ts'
import { DynamicSupervisor } from '../supervision/dynamic-supervisor.ts'
import type { Run } from '../supervision/process.ts'
import { PastReader } from './past-reader.ts'
import { DELIVERY_POLICY } from './owned-webhook.ts'
import { webhookShards, type WebhookShard } from './shard.ts'
import { TurnSlices } from './turn-slices.ts'
import type { WebhookDelivery } from './delivery.ts'
import { tenantShard } from '../../src/access/tenant-shard.ts'

/** The part of a process that sends and signs POSTs. */
export interface Outgoing {
  readonly sender: WebhookSender & { readonly inFlight?: number; readonly waiting?: number }
  readonly signer: WebhookSigner
}

export interface WebhooksDeps extends Ports {
  /** Shows which shards this process has. */
  readonly book?: Pick<LeaseBook, 'declare' | 'set'>
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly metrics: WebhookMetrics
  readonly local: LocalDeliveries
  readonly tenantEvents: TenantEvents
  /** The turns of tenants, in which past events are read. */
  readonly turns: TakeTurns
}

export interface WebhooksNeeds {
  readonly storage: Storage
  readonly channels: Channels
  readonly outgoing: Outgoing
}

/**
 * Delivers events to the webhooks of the shards that this process has. The state of each counts in the
 * gauges.
 */
export function webhooks<Needs extends WebhooksNeeds>(
  deps: WebhooksDeps,
  coordinationOf: (
    needs: Needs
  ) => Pick<ClusterCoordination, 'leases' | 'webhooks' | 'deliverers' | 'tenantEvents'>
): Run<Needs> {
  return async ({ input, draining, signal, ready, gauge, supervises, report }) => {
    const { storage, channels } = input
    const { hub, horizon, history, retry } = channels
    const { sender, signer } = input.outgoing
    const past = new PastReader(history, deps.turns, retry)
    const coordination = coordinationOf(input)
    const changes = new WebhookChanges(
      (event) => deps.tenantEvents.publish(event, coordination.tenantEvents),
      deps.clock
    )
    const deliveries = new DynamicSupervisor(DELIVERY_POLICY, { ...deps, report, isKnown: isOutage })
    supervises('deliveries', () => deliveries)
    const owner = webhookShards(coordination, {
      ...deps,
      hub,
      past,
      horizon: () => horizon.cursor,
      sender,
      signer,
      slices: new TurnSlices(),
      changes,
      newBatchId: () => randomUUID(),
      documents: storage.documents,
      isShared: storage.isShared,
      deliveries,
      report
    })
    const running = (): WebhookDelivery[] => owner.shards.flatMap(({ deliveries: ofShard }) => ofShard)
    const sum = (of: (shard: WebhookShard) => number): number =>
      owner.shards.reduce((total, shard) => total + of(shard), 0)
    const count = (state: string): number =>
      running().filter((each) => (typeof each.state === 'string' ? each.state : each.state.active) === state)
        .length
    const active = (): number => running().filter(isActive).length
    const deactivated = (): number => sum(({ webhooks: ofShard }) => ofShard) - active()
    const behind = (): number => running().filter(({ isBehind }) => isBehind).length
    gauge('shards', () => owner.shards.length)
    gauge('tenants', () => sum(({ tenants }) => tenants))
    gauge('webhooks', () => sum(({ webhooks: ofShard }) => ofShard))
    for (const state of ['idle', 'gathering', 'recording', 'posting', 'waiting', 'draining'])
      gauge(state, () => count(state))
    gauge('deactivated', deactivated)
    gauge('behind', behind)
    gauge('buffered_events', () => running().reduce((total, { buffered }) => total + buffered, 0))
    gauge('restarts', () => deliveries.restarts)
    gauge('reading_past', () => past.reading)
    gauge('posts_in_flight', () => sender.inFlight ?? 0)
    gauge('posts_waiting', () => sender.waiting ?? 0)
    deps.metrics.show({ active, deactivated, behind })
    // On a shared store, all gateways show the stored number, so that they show the same.
    if (!storage.isShared)
      deps.local.serve(
        (tenant, id) => owner.shard(tenantShard(tenant))?.delivery(tenant, id)?.buffered ?? null
      )
    ready()
    try {
      await owner.run(draining, signal)
    } finally {
      changes.end()
      deps.local.serve(null)
      deps.metrics.show(null)
    }
  }
}

const isActive = ({ state }: { readonly state: unknown }): boolean => typeof state === 'object'
