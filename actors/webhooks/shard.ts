import { SHARD_NAMES, tenantShard } from '../../src/access/tenant-shard.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { LocalDeliveries } from '../../src/webhooks/local-deliveries.ts'
import { WEBHOOK, type Webhook } from '../../src/webhooks/webhook.ts'
import type { LeaseBook } from '../../src/fleet/lease-book.ts'
import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { ShardOwner, type OwnedShard } from '../shards/shard-owner.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import type { WebhookDelivery } from './delivery.ts'
import { OwnedWebhook, type OwnedWebhookDeps } from './owned-webhook.ts'

/** The webhooks of one shard, while this process has it. */
export class WebhookShard implements OwnedShard {
  readonly name: string
  readonly claim: ShardClaim
  readonly #deps: OwnedWebhookDeps
  readonly #documents: Documents<Webhook, never, 'slot', unknown>
  readonly #webhooks = new Map<string, OwnedWebhook>()
  /** Documents by version, as they were listed last: unchanged ones are not parsed again. */
  #listed: ReadonlyMap<string, Stored<Webhook>> = new Map()
  #isStopping = false
  #syncing: Promise<void> | null = null

  constructor(name: string, claim: ShardClaim, deps: OwnedWebhookDeps) {
    this.name = name
    this.claim = claim
    this.#deps = deps
    this.#documents = new Documents(deps.documents, WEBHOOK)
  }

  get tenants(): number {
    return new Set(Array.from(this.#webhooks.values(), ({ tenant }) => tenant)).size
  }

  get webhooks(): number {
    return this.#webhooks.size
  }

  get deliveries(): WebhookDelivery[] {
    return [...this.#webhooks.values()].flatMap(({ delivery }) => delivery ?? [])
  }

  delivery(tenant: string, id: number): WebhookDelivery | null {
    return this.#webhooks.get(keyOf(tenant, id))?.delivery ?? null
  }

  /** Lists the shard's documents, and starts, changes and ends deliveries. Rejects with the store's error. */
  sync(): Promise<void> {
    this.#syncing ??= this.#sync().finally(() => (this.#syncing = null))
    return this.#syncing
  }

  /** Takes over the shard's documents as they were listed. */
  take(documents: readonly Stored<Webhook>[]): void {
    if (this.#isStopping || this.claim.lost.aborted) return
    const listed = new Set<string>()
    for (const stored of documents) {
      const key = keyOf(stored.value.tenant, stored.value.id)
      listed.add(key)
      const known = this.#webhooks.get(key)
      if (known === undefined) this.#webhooks.set(key, new OwnedWebhook(stored, this.claim, this.#deps))
      else known.change(stored)
    }
    for (const [key, webhook] of this.#webhooks)
      if (!listed.has(key)) {
        this.#webhooks.delete(key)
        webhook.remove()
      }
  }

  /** Ends the deliveries, after the POSTs in flight unless `kill` aborts first. */
  async stop(kill: AbortSignal): Promise<void> {
    this.#isStopping = true
    const webhooks = [...this.#webhooks.values()]
    const killAll = (): void => {
      for (const each of webhooks) each.kill()
    }
    kill.addEventListener('abort', killAll, { once: true })
    if (kill.aborted) killAll()
    await Promise.all(webhooks.map((each) => each.stop(!kill.aborted)))
    kill.removeEventListener('abort', killAll)
  }

  async #sync(): Promise<void> {
    const all = await this.#documents.all(this.name, (version) => this.#listed.get(version))
    this.#listed = new Map(all.map((stored) => [stored.version, stored]))
    this.take(all)
  }
}

const keyOf = (tenant: string, id: number): string => `${id} ${tenant}`

export interface WebhookShardsDeps extends OwnedWebhookDeps {
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly local: LocalDeliveries
  readonly isShared: boolean
  readonly book?: Pick<LeaseBook, 'declare' | 'set'>
}

/** Returns the shards of webhooks that this process delivers for. Changes arrive from the process itself and by hints. */
export function webhookShards(
  { leases, webhooks, deliverers }: Pick<ClusterCoordination, 'leases' | 'webhooks' | 'deliverers'>,
  deps: WebhookShardsDeps
): ShardOwner<WebhookShard> {
  return new ShardOwner<WebhookShard>({
    ...deps,
    product: 'webhooks',
    work: 'delivers webhooks',
    shards: new Map(SHARD_NAMES.map((name) => [name, `webhooks:${name}`])),
    leases,
    hints: webhooks,
    presence: deliverers,
    follow: (owner) => {
      const unsubscribe = [
        deps.local.subscribe((tenant) => owner.hint([tenantShard(tenant)])),
        webhooks?.subscribe(() => owner.hintAll())
      ]
      return () => unsubscribe.forEach((each) => each?.())
    },
    make: (name, claim) => new WebhookShard(name, claim, deps)
  })
}
