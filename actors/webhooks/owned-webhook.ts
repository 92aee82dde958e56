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

export interface OwnedWebhookDeps extends DeliveryDeps {
  readonly documents: DocumentStore
  /** Supervises the deliveries to all webhooks of the process. */
  readonly deliveries: DynamicSupervisor
  readonly report: (fault: unknown) => void
}

/** The deliveries to a webhook while it is active, across their restarts. */
class Run {
  readonly #deps: OwnedWebhookDeps
  readonly #store: ProgressStore
  readonly #member: Member
  #delivery: WebhookDelivery

  constructor(stored: Stored<Webhook>, claim: ShardClaim, deps: OwnedWebhookDeps) {
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
 * A webhook of a shard that this process has. Changes of its document are carried out one after another, by a chain of
 * promises. A queue object for each would be a tenth of the memory of an idle webhook.
 */
export class OwnedWebhook {
  readonly #claim: ShardClaim
  readonly #deps: OwnedWebhookDeps
  #stored: Stored<Webhook>
  #run: Run | null
  #turn = Promise.resolve()
  #isStopping = false

  constructor(stored: Stored<Webhook>, claim: ShardClaim, deps: OwnedWebhookDeps) {
    this.#claim = claim
    this.#deps = deps
    this.#stored = stored
    this.#run = stored.value.active ? new Run(stored, claim, deps) : null
  }

  get tenant(): string {
    return this.#stored.value.tenant
  }

  /** Null while it is inactive. */
  get delivery(): WebhookDelivery | null {
    return this.#run?.delivery ?? null
  }

  /** Takes over its document as it was listed: starts, changes or ends its deliveries. */
  change(stored: Stored<Webhook>): void {
    if (this.#stored.version === stored.version) return
    // The deliveries themselves may have changed it.
    const before = this.delivery?.stored ?? this.#stored
    this.#stored = stored
    if (isSameActivation(before.value, stored.value)) this.delivery?.accept(stored)
    else this.#turn = this.#turn.then(async () => this.#restart())
  }

  /** Ends its deliveries; with `isDrain`, after the POST in flight. */
  async stop(isDrain: boolean): Promise<void> {
    this.#isStopping = true
    if (isDrain) this.#run?.drain()
    else this.#run?.stop()
    await Promise.all([this.#turn, this.#run?.ended])
  }

  /** Ends its deliveries at once, also while they drain. */
  kill(): void {
    this.#run?.stop()
  }

  /** Ends its deliveries after it was deleted, and deletes its attempts. */
  remove(): void {
    this.#isStopping = true
    const run = this.#run
    run?.stop()
    const { tenant, id } = this.#stored.value
    const forget = async (): Promise<void> => {
      await run?.ended
      await deleteAttempts(this.#deps.documents, tenant, id, 0)
    }
    // Pages that are left expire by themselves.
    forget().catch((fault: unknown) => {
      if (!isOutage(fault)) this.#deps.report(fault)
    })
  }

  async #restart(): Promise<void> {
    this.#run?.stop()
    await this.#run?.ended
    const stored = this.#stored
    const isOver = this.#isStopping || this.#claim.lost.aborted
    this.#run = !isOver && stored.value.active ? new Run(stored, this.#claim, this.#deps) : null
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
