import type { Webhook } from '../../src/webhooks/webhook.ts'
import { WEBHOOK } from '../../src/webhooks/webhook.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import type { WebhookDelivery } from './delivery.ts'
import type { OwnedShard } from '../shards/shard-owner.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import { TenantWebhooks, type TenantWebhooksDeps } from './tenant-webhooks.ts'

/** The tenants of one shard, while this process has it. */
export class WebhookShard implements OwnedShard {
  readonly name: string
  readonly claim: ShardClaim
  readonly #deps: TenantWebhooksDeps
  readonly #documents: Documents<Webhook, never, 'slot', unknown>
  readonly #tenants = new Map<string, TenantWebhooks>()
  /** Documents by version, as they were listed last: unchanged ones are not parsed again. */
  #listed: ReadonlyMap<string, Stored<Webhook>> = new Map()
  #isStopping = false
  #syncing: Promise<void> | null = null

  constructor(name: string, claim: ShardClaim, deps: TenantWebhooksDeps) {
    this.name = name
    this.claim = claim
    this.#deps = deps
    this.#documents = new Documents(deps.documents, WEBHOOK)
  }

  get tenants(): number {
    return this.#tenants.size
  }

  get webhooks(): number {
    return [...this.#tenants.values()].reduce((sum, { size }) => sum + size, 0)
  }

  get deliveries(): WebhookDelivery[] {
    return [...this.#tenants.values()].flatMap(({ deliveries }) => deliveries)
  }

  delivery(tenant: string, id: number): WebhookDelivery | undefined {
    return this.#tenants.get(tenant)?.delivery(id)
  }

  /** Lists the shard's documents, and starts, changes and ends deliveries. Rejects with the store's error. */
  sync(): Promise<void> {
    this.#syncing ??= this.#sync().finally(() => (this.#syncing = null))
    return this.#syncing
  }

  /** Ends the deliveries, after the POSTs in flight unless `kill` aborts first. */
  async stop(kill: AbortSignal): Promise<void> {
    this.#isStopping = true
    const tenants = [...this.#tenants.values()]
    const killAll = (): void => {
      for (const each of tenants) each.kill()
    }
    kill.addEventListener('abort', killAll, { once: true })
    if (kill.aborted) killAll()
    await Promise.all(tenants.map((each) => each.stop(!kill.aborted)))
    kill.removeEventListener('abort', killAll)
  }

  async #sync(): Promise<void> {
    const all = await this.#documents.all(this.name, (version) => this.#listed.get(version))
    this.#listed = new Map(all.map((stored) => [stored.version, stored]))
    if (this.#isStopping || this.claim.lost.aborted) return
    const byTenant = Map.groupBy(all, ({ value }) => value.tenant)
    for (const [tenant, documents] of byTenant) {
      const known = this.#tenants.get(tenant) ?? new TenantWebhooks(this.claim, this.#deps)
      this.#tenants.set(tenant, known)
      known.sync(documents)
    }
    for (const [tenant, known] of this.#tenants) {
      if (byTenant.has(tenant)) continue
      known.sync([])
      this.#tenants.delete(tenant)
    }
  }
}
