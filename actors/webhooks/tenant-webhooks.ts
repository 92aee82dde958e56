import { backoffMs, jittered } from '../../machines/backoff.ts'
import { sleep } from '../../src/ports.ts'
import { deleteAttempts } from '../../src/webhooks/attempts.ts'
import type { Webhook } from '../../src/webhooks/webhook.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import type { Stored } from '../../storage/documents.ts'
import { isOutage } from '../storage/retry.ts'
import { AttemptLog } from './attempt-log.ts'
import { WebhookDelivery } from './delivery.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import { ProgressStore } from './progress-store.ts'

/**
 * Pauses before a webhook with a fault is delivered again, and the time after which it counts as sound. Chosen: a fault that
 * repeats costs a start every half a minute.
 */
const BACKOFF = { floorMs: 100, ceilingMs: 30_000 }
const SOUND_MS = 60_000

export interface TenantWebhooksDeps extends DeliveryDeps {
  readonly documents: DocumentStore
  readonly report: (fault: unknown) => void
}

/** One run of a webhook's deliveries, from its start to its end. */
class Run {
  readonly #stop = new AbortController()
  /** Aborts when no delivery is to begin any more: at a drain, and at a stop. */
  readonly #over = new AbortController()
  readonly #webhook: Pick<Webhook, 'tenant' | 'id'>
  readonly #make: () => WebhookDelivery
  readonly #deps: TenantWebhooksDeps
  #delivery: WebhookDelivery
  restarts = 0
  readonly ended: Promise<void>

  constructor(first: Stored<Webhook>, claim: ShardClaim, deps: TenantWebhooksDeps) {
    this.#deps = deps
    this.#webhook = { tenant: first.value.tenant, id: first.value.id }
    const store = new ProgressStore(deps.documents, claim, deps.clock)
    let stored = first
    this.#make = () => {
      const log = new AttemptLog(deps.documents, this.#webhook, deps.report)
      return new WebhookDelivery(stored, store, log, deps)
    }
    this.#delivery = this.#make()
    const stop = (): void => this.stop()
    claim.lost.addEventListener('abort', stop, { once: true })
    if (claim.lost.aborted) stop()
    this.ended = this.#keepRunning(() => (stored = this.#delivery.stored)).finally(() =>
      claim.lost.removeEventListener('abort', stop)
    )
  }

  get delivery(): WebhookDelivery {
    return this.#delivery
  }

  /** Ends it at once; a POST in flight is abandoned. */
  stop(): void {
    this.#stop.abort()
    this.#over.abort()
  }

  /** Ends it after the POST in flight. */
  drain(): void {
    this.#over.abort()
    this.#delivery.drain()
  }

  /** Runs the deliveries, and again after each fault, until they end in good order. Never rejects. */
  async #keepRunning(keep: () => void): Promise<void> {
    const { clock, random, report } = this.#deps
    const { signal: over } = this.#over
    for (let attempt = 1; !over.aborted; attempt++) {
      const startedMs = clock.now()
      try {
        return await this.#delivery.run(this.#stop.signal)
      } catch (fault) {
        if (over.aborted) return
        if (!isOutage(fault)) report(faultOf(this.#webhook, fault))
      }
      if (clock.now() - startedMs > SOUND_MS) attempt = 1
      this.restarts++
      await sleep(clock, jittered(backoffMs(BACKOFF, attempt), random()), over)
      keep()
      this.#delivery = this.#make()
    }
  }
}

function faultOf({ tenant, id }: Pick<Webhook, 'tenant' | 'id'>, fault: unknown): Error {
  const message = fault instanceof Error ? fault.message : String(fault)
  return new Error(`webhook ${id} of tenant ${tenant} failed and is restarted: ${message}`, {
    cause: fault
  })
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

/**
 * The webhooks of a tenant. A fault of one webhook restarts it alone, after a pause.
 */
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

  get restarts(): number {
    return [...this.#entries.values()].reduce((sum, { run }) => sum + (run?.restarts ?? 0), 0)
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
