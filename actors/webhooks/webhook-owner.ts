import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { LocalDeliveries } from '../../src/webhooks/local-deliveries.ts'
import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import { ShardOwner } from '../shards/shard-owner.ts'
import type { WebhookDelivery } from './delivery.ts'
import { WebhookShard } from './shard.ts'
import type { TenantWebhooksDeps } from './tenant-webhooks.ts'
import { SHARD_NAMES, tenantShard } from '../../src/access/tenant-shard.ts'

export interface WebhookOwnerDeps extends TenantWebhooksDeps {
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly local: LocalDeliveries
  readonly isShared: boolean
}

type Coordination = Pick<ClusterCoordination, 'leases' | 'webhooks' | 'deliverers'>

/** The shards of webhooks that this process delivers for. Changes arrive from the process itself and by hints. */
export class WebhookOwner {
  readonly #coordination: Coordination
  readonly #deps: WebhookOwnerDeps
  readonly #owner: ShardOwner<WebhookShard>

  constructor(coordination: Coordination, deps: WebhookOwnerDeps) {
    this.#coordination = coordination
    this.#deps = deps
    const { leases, webhooks: hints, deliverers: presence } = coordination
    this.#owner = new ShardOwner({
      ...deps,
      product: 'webhooks',
      work: 'delivers webhooks',
      shards: new Map(SHARD_NAMES.map((name) => [name, `webhooks:${name}`])),
      leases,
      hints,
      presence,
      make: (name, claim) => new WebhookShard(name, claim, deps)
    })
  }

  get shards(): number {
    return this.#owner.shards.length
  }

  get tenants(): number {
    return this.#sum(({ tenants }) => tenants)
  }

  get webhooks(): number {
    return this.#sum(({ webhooks }) => webhooks)
  }

  get deliveries(): WebhookDelivery[] {
    return this.#owner.shards.flatMap(({ deliveries }) => deliveries)
  }

  /** Returns the number of events that wait for a webhook; null where another process delivers. */
  buffered(tenant: string, id: number): number | null {
    return this.#owner.shard(tenantShard(tenant))?.delivery(tenant, id)?.buffered ?? null
  }

  /** Delivers until `draining` aborts, then finishes the POSTs in flight unless `kill` aborts. */
  async run(draining: AbortSignal, kill: AbortSignal): Promise<void> {
    const unsubscribe = [
      this.#deps.local.subscribe((tenant) => this.#owner.hint([tenantShard(tenant)])),
      this.#coordination.webhooks?.subscribe(() => this.#owner.hintAll())
    ]
    try {
      await this.#owner.run(draining, kill)
    } finally {
      for (const each of unsubscribe) each?.()
    }
  }

  #sum(of: (shard: WebhookShard) => number): number {
    return this.#owner.shards.reduce((sum, shard) => sum + of(shard), 0)
  }
}
