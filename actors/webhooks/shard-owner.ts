import { randomUUID } from 'node:crypto'
import { sleep } from '../../src/ports.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import { SHARD_NAMES, webhookShard } from '../../src/webhooks/webhook.ts'
import type { ClusterCoordination, HintChannel, Leases } from '../../storage/cluster/coordination.ts'
import type { LocalDeliveries } from '../../src/webhooks/local-deliveries.ts'
import { isOutage } from '../storage/retry.ts'
import { aborted } from '../supervision/aborted.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import type { WebhookDelivery } from './delivery.ts'
import type { ShardClaim } from './progress-store.ts'
import { acquireShard, claimOfLease, LeaselessClaim } from './shard-claims.ts'
import { WebhookShard } from './shard.ts'
import type { TenantWebhooksDeps } from './tenant-webhooks.ts'

/** Milliseconds between two requests for leases. Chosen: shards of a dead process move half a second after their leases end. */
const ACQUIRE_MS = 500
/** Milliseconds without a sign of life after which a process has no share. Chosen: as long as its leases last. */
const PRESENCE_MS = 3_000
/**
 * Milliseconds between two lists of all shards, without hints of changes. With them, 20 times as long as a list takes, up to
 * `most`: deliveries begin within 15 s of a webhook's creation (spec) even if the hint is lost.
 */
const LIST_MS = { least: 1_000, most: 10_000 }
const LIST_REST = 20
/** Milliseconds that POSTs in flight may still take when the process drains, or gives shards to another process. */
const DRAIN_MS = 3_000

export interface ShardOwnerDeps extends TenantWebhooksDeps {
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly local: LocalDeliveries
  readonly isShared: boolean
}

type Coordination = Pick<ClusterCoordination, 'leases' | 'webhooks' | 'deliverers'>

/**
 * The shards that this process delivers for.
 *
 * O1. A shard is delivered for by the process that has its lease, with the lease's fencing token. Without leases one process
 *     has all shards: the one that claimed last.
 * O2. Processes share the shards evenly: one with more than its share gives some up after the POSTs in flight, and one with
 *     less asks for free ones. The leases of a dead process end within seconds.
 * O3. Changes of webhooks are found by listing the shards, and by hints at once.
 */
export class ShardOwner {
  readonly #deps: ShardOwnerDeps
  readonly #coordination: Coordination
  readonly #shards = new Map<string, WebhookShard>()
  readonly #id = randomUUID()
  /** Other delivery processes, each with the time of its last sign of life. */
  readonly #others = new Map<string, number>()
  readonly #look = new AutoResetEvent()
  readonly #due = new Set<string>()
  /** Aborts when not even the POSTs in flight are waited for. */
  readonly #killed = new AbortController()

  constructor(coordination: Coordination, deps: ShardOwnerDeps) {
    this.#coordination = coordination
    this.#deps = deps
  }

  get shards(): number {
    return this.#shards.size
  }

  get tenants(): number {
    return this.#sum(({ tenants }) => tenants)
  }

  get webhooks(): number {
    return this.#sum(({ webhooks }) => webhooks)
  }

  get restarts(): number {
    return this.#sum(({ restarts }) => restarts)
  }

  get deliveries(): WebhookDelivery[] {
    return [...this.#shards.values()].flatMap(({ deliveries }) => deliveries)
  }

  /** Returns the number of events that wait for a webhook; null where another process delivers. */
  buffered(tenant: string, id: number): number | null {
    return this.#shards.get(webhookShard(tenant))?.delivery(tenant, id)?.buffered ?? null
  }

  /** Delivers until `draining` aborts, then finishes the POSTs in flight unless `kill` aborts. */
  async run(draining: AbortSignal, kill: AbortSignal): Promise<void> {
    const { leases, webhooks, deliverers } = this.#coordination
    const unsubscribe = [
      this.#deps.local.subscribe((tenant) => this.#hint([webhookShard(tenant)])),
      webhooks?.subscribe(() => this.#hint(this.#shards.keys())),
      deliverers?.subscribe((id) => this.#hear(id))
    ]
    const ended = new AbortController()
    const end = AbortSignal.any([draining, ended.signal])
    try {
      const owning = leases === null ? this.#ownAll(end) : this.#share(leases, deliverers, end)
      const work = [owning, this.#list(end)]
      for (const each of work) each.catch(() => ended.abort())
      await Promise.all(work)
    } finally {
      ended.abort()
      for (const each of unsubscribe) each?.()
      await this.#endWith(kill)
    }
  }

  #hint(shards: Iterable<string>): void {
    for (const shard of shards) this.#due.add(shard)
    this.#look.set()
  }

  #hear(id: string | null): void {
    if (id !== null) this.#others.set(id, this.#deps.clock.now())
  }

  #add(name: string, claim: ShardClaim): WebhookShard {
    const shard = new WebhookShard(name, claim, this.#deps)
    this.#shards.set(name, shard)
    this.#hint([name])
    return shard
  }

  /** Owns all shards while no other process has claimed. */
  async #ownAll(end: AbortSignal): Promise<void> {
    const { documents, isShared, clock, logger } = this.#deps
    const own = new LeaselessClaim(documents, isShared, clock)
    while (!end.aborted) {
      const taken = await own.take(end)
      if (taken === null) return
      for (const name of SHARD_NAMES) this.#add(name, taken.claim)
      const over = AbortSignal.any([end, taken.claim.lost])
      await Promise.all([aborted(over), own.keep(taken, end)])
      if (end.aborted) return
      logger.warn(
        'another process delivers webhooks; without MILLRACE_REDIS_URL there are no leases, and this process stands by'
      )
      await this.#stopAll(AbortSignal.abort())
      await own.silence(end)
    }
  }

  /** Acquires and gives up leases until `end` aborts. */
  async #share(leases: Leases, deliverers: HintChannel<string> | null, end: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    while (!end.aborted) {
      deliverers?.publish(this.#id)
      const excess = [...this.#shards.values()].slice(this.#fairShare())
      for (const shard of excess) this.#beginGivingUp(shard)
      await this.#acquireShare(leases, end)
      await sleep(clock, ACQUIRE_MS, end)
    }
  }

  /** Returns the number of shards that are due to this process: the shares of all sum up to the number of shards. */
  #fairShare(): number {
    const nowMs = this.#deps.clock.now()
    for (const [id, heardAtMs] of this.#others) if (nowMs - heardAtMs > PRESENCE_MS) this.#others.delete(id)
    const processes = [this.#id, ...this.#others.keys()].sort()
    const isLarger = processes.indexOf(this.#id) < SHARD_NAMES.length % processes.length
    return Math.floor(SHARD_NAMES.length / processes.length) + (isLarger ? 1 : 0)
  }

  /** Asks for every shard, as many at once as are lacking, until this process has its share. */
  async #acquireShare(leases: Leases, end: AbortSignal): Promise<void> {
    const start = Number.parseInt(this.#id.slice(0, 4), 16) % SHARD_NAMES.length
    // An order of this process, so that processes ask for different ones first.
    const order = [...SHARD_NAMES.slice(start), ...SHARD_NAMES.slice(0, start)]
    const wanted = order.filter((name) => !this.#shards.has(name) && !this.#giving.has(name))
    while (wanted.length > 0 && !end.aborted) {
      const lacking = this.#fairShare() - this.#shards.size
      if (lacking <= 0) return
      await Promise.all(wanted.splice(0, lacking).map((name) => this.#acquire(leases, name, end)))
    }
  }

  /** Shards that this process is giving up, each with the end of it. */
  readonly #giving = new Map<string, Promise<void>>()

  async #acquire(leases: Leases, name: string, end: AbortSignal): Promise<void> {
    const lease = await acquireShard(leases, name, this.#outranked.get(name))
    if (lease === null) return
    if (end.aborted || this.#shards.size >= this.#fairShare()) return lease.release()
    const claim = claimOfLease(lease)
    const shard = this.#add(name, {
      ...claim,
      get held() {
        return claim.held
      },
      outranked: (token) => {
        this.#outranked.set(name, token)
        claim.outranked(token)
      }
    })
    this.#releases.set(shard, () => lease.release())
    claim.lost.addEventListener('abort', () => this.#beginGivingUp(shard), { once: true })
  }

  /** The greatest token that another process has written with, by shard. */
  readonly #outranked = new Map<string, number>()
  readonly #releases = new Map<WebhookShard, () => Promise<void>>()

  /** Ends the deliveries of a shard after the POSTs in flight, and releases its lease. */
  #beginGivingUp(shard: WebhookShard): void {
    if (this.#shards.get(shard.name) !== shard) return
    this.#shards.delete(shard.name)
    this.#giving.set(
      shard.name,
      this.#giveUp(shard).finally(() => this.#giving.delete(shard.name))
    )
  }

  async #giveUp(shard: WebhookShard): Promise<void> {
    const late = new AbortController()
    const over = new AbortController()
    void sleep(this.#deps.clock, DRAIN_MS, over.signal).then(() => late.abort())
    const end = AbortSignal.any([late.signal, shard.claim.lost, this.#killed.signal])
    await shard.stop(end)
    over.abort()
    await this.#releases.get(shard)?.()
    this.#releases.delete(shard)
  }

  /** Ends all shards, those too that are being given up. */
  async #endWith(kill: AbortSignal): Promise<void> {
    const killNow = (): void => this.#killed.abort()
    kill.addEventListener('abort', killNow, { once: true })
    if (kill.aborted) killNow()
    await Promise.all([this.#stopAll(kill), ...this.#giving.values()])
    kill.removeEventListener('abort', killNow)
  }

  async #stopAll(kill: AbortSignal): Promise<void> {
    const late = new AbortController()
    const over = new AbortController()
    void sleep(this.#deps.clock, DRAIN_MS, over.signal).then(() => late.abort())
    const end = AbortSignal.any([kill, late.signal])
    const shards = [...this.#shards.values()]
    this.#shards.clear()
    await Promise.all(
      shards.map(async (shard) => {
        await shard.stop(end)
        await this.#releases.get(shard)?.()
        this.#releases.delete(shard)
      })
    )
    over.abort()
  }

  /** Lists shards: each when a hint names it, and all of them from time to time. */
  async #list(end: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    let nextMs = clock.now()
    while (!end.aborted) {
      const startedMs = clock.now()
      const isTurn = startedMs >= nextMs
      const names = isTurn ? [...this.#shards.keys()] : [...this.#due]
      this.#due.clear()
      for (const name of names) await this.#sync(name)
      if (isTurn) nextMs = clock.now() + this.#restAfter(clock.now() - startedMs)
      if (this.#due.size === 0) await this.#look.wait(clock, Math.max(0, nextMs - clock.now()), end)
    }
  }

  #restAfter(tookMs: number): number {
    const { webhooks } = this.#coordination
    const isHinted = !this.#deps.isShared || webhooks?.available === true
    if (!isHinted) return LIST_MS.least
    return Math.min(Math.max(tookMs * LIST_REST, LIST_MS.least), LIST_MS.most)
  }

  async #sync(name: string): Promise<void> {
    try {
      await this.#shards.get(name)?.sync()
    } catch (error) {
      if (!isOutage(error)) throw error
    }
  }

  #sum(of: (shard: WebhookShard) => number): number {
    return [...this.#shards.values()].reduce((sum, shard) => sum + of(shard), 0)
  }
}
