import { deleteAttempts } from '../../src/webhooks/attempts.ts'
import type { Webhook } from '../../src/webhooks/webhook.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import type { Stored } from '../../storage/documents.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import { isOutage } from '../storage/retry.ts'
import type {
  DynamicSupervisor,
  Member,
  MemberPolicy,
  MemberScope
} from '../supervision/dynamic-supervisor.ts'
import { AttemptLog } from './attempt-log.ts'
import { WebhookDelivery } from './delivery.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { ProgressStore } from './progress-store.ts'

/**
 * A fault that repeats costs a start every half a minute, and a fault of all webhooks of a process twenty a second: as many
 * as a core has time for beside its other work.
 */
export const DELIVERY_POLICY: MemberPolicy = {
  restart: 'transient',
  intensity: { crashes: 200, periodMs: 10_000 },
  backoff: { floorMs: 100, ceilingMs: 30_000 },
  stableAfterMs: 60_000
}

export interface TenantWebhooksDeps extends DeliveryDeps {
  readonly documents: DocumentStore
  /** Supervises the deliveries of all tenants of the process. */
  readonly deliveries: DynamicSupervisor
  readonly report: (fault: unknown) => void
}

/** The deliveries to a webhook while it is active, across their restarts. */
class Run {
  readonly #deps: TenantWebhooksDeps
  readonly #store: ProgressStore
  readonly #member: Member
  #delivery: WebhookDelivery

  constructor(stored: Stored<Webhook>, claim: ShardClaim, deps: TenantWebhooksDeps) {
    const { tenant, id } = stored.value
    this.#deps = deps
    this.#store = new ProgressStore(deps.documents, claim, deps.clock)
    this.#delivery = this.#make(stored)
    this.#member = deps.deliveries.start(`webhook ${id} of tenant ${tenant}`, async (scope) =>
      this.#run(scope)
    )
    const stop = (): void => this.stop()
    claim.lost.addEventListener('abort', stop, { once: true })
    if (claim.lost.aborted) stop()
    void this.#member.ended.then(() => claim.lost.removeEventListener('abort', stop))
  }

  get delivery(): WebhookDelivery {
    return this.#delivery
  }

  get ended(): Promise<void> {
    return this.#member.ended
  }

  /** Ends it at once; a POST in flight is abandoned. */
  stop(): void {
    this.#member.kill()
  }

  /** Ends it after the POST in flight. */
  drain(): void {
    this.#member.drain()
  }

  async #run({ draining, signal }: MemberScope): Promise<void> {
    const drain = (): void => {
      if (!signal.aborted) this.#delivery.drain()
    }
    draining.addEventListener('abort', drain, { once: true })
    try {
      await this.#delivery.run(signal)
    } catch (fault) {
      this.#delivery = this.#make(this.#delivery.stored)
      throw fault
    } finally {
      draining.removeEventListener('abort', drain)
    }
  }

  #make(stored: Stored<Webhook>): WebhookDelivery {
    const { documents, report } = this.#deps
    const { tenant, id } = stored.value
    return new WebhookDelivery(
      stored,
      this.#store,
      new AttemptLog(documents, { tenant, id }, report),
      this.#deps
    )
  }
}

/**
 * A webhook of this process. Changes of its document are carried out one after another, by a chain of promises. A queue
 * object for each would be a tenth of the memory of an idle webhook.
 */
interface Entry {
  stored: Stored<Webhook>
  run: Run | null
  turn: Promise<void>
}

/** The webhooks of a tenant. */
export class TenantWebhooks {
  readonly #entries = new Map<number, Entry>()
  #isStopping = false
  readonly #claim: ShardClaim
  readonly #deps: TenantWebhooksDeps

  constructor(claim: ShardClaim, deps: TenantWebhooksDeps) {
    this.#claim = claim
    this.#deps = deps
  }

  get size(): number {
    return this.#entries.size
  }

  get deliveries(): WebhookDelivery[] {
    return [...this.#entries.values()].flatMap(({ run }) => (run === null ? [] : [run.delivery]))
  }

  delivery(id: number): WebhookDelivery | undefined {
    return this.#entries.get(id)?.run?.delivery
  }

  /** Takes over the tenant's documents as they were listed: starts, changes and ends deliveries. */
  sync(documents: readonly Stored<Webhook>[]): void {
    const ids = new Set(documents.map(({ value }) => value.id))
    for (const stored of documents) this.#put(stored)
    for (const [id, entry] of this.#entries) if (!ids.has(id)) this.#remove(id, entry)
  }

  /** Ends all deliveries; with `isDrain`, after the POSTs in flight. */
  async stop(isDrain: boolean): Promise<void> {
    this.#isStopping = true
    await Promise.all(
      [...this.#entries.values()].map(async ({ run, turn }) => {
        if (isDrain) run?.drain()
        else run?.stop()
        await Promise.all([turn, run?.ended])
      })
    )
  }

  /** Ends all deliveries that still run. */
  kill(): void {
    for (const { run } of this.#entries.values()) run?.stop()
  }

  #put(stored: Stored<Webhook>): void {
    const { id } = stored.value
    const known = this.#entries.get(id)
    if (known === undefined) {
      const run = stored.value.active ? new Run(stored, this.#claim, this.#deps) : null
      this.#entries.set(id, { stored, run, turn: Promise.resolve() })
      return
    }
    if (known.stored.version === stored.version) return
    // The deliveries themselves may have changed it.
    const before = known.run?.delivery.stored ?? known.stored
    known.stored = stored
    if (isSameActivation(before.value, stored.value)) {
      known.run?.delivery.accept(stored)
      return
    }
    known.turn = known.turn.then(async () => {
      known.run?.stop()
      await known.run?.ended
      const { stored: newest } = known
      const isThere = this.#entries.get(id) === known && !this.#isStopping && !this.#claim.lost.aborted
      known.run = isThere && newest.value.active ? new Run(newest, this.#claim, this.#deps) : null
    })
  }

  #remove(id: number, { stored, run }: Entry): void {
    this.#entries.delete(id)
    run?.stop()
    const { tenant } = stored.value
    const forget = async (): Promise<void> => {
      await run?.ended
      await deleteAttempts(this.#deps.documents, tenant, id, 0)
    }
    // Pages that are left expire by themselves.
    forget().catch((fault: unknown) => {
      if (!isOutage(fault)) this.#deps.report(fault)
    })
  }
}

/** Tells whether deliveries go on unchanged: only secrets have changed, or the deliveries themselves made the change. */
function isSameActivation(before: Webhook, now: Webhook): boolean {
  return (
    before.active === now.active &&
    before.activation === now.activation &&
    before.url === now.url &&
    before.channels.join() === now.channels.join()
  )
}
