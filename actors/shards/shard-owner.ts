import { randomUUID } from 'node:crypto'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { HintChannel, Leases } from '../../storage/cluster/coordination.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import type { LeaseBook } from '../../src/fleet/lease-book.ts'
import { aborted } from '../supervision/aborted.ts'
import { claimOfLease, LeaselessClaim, type ShardClaim } from './shard-claims.ts'
import { ShardLists } from './shard-lists.ts'

/** Interval of requests for leases, in milliseconds. Shards of a dead process move half a second after their leases end. */
const ACQUIRE_MS = 500
/** Milliseconds without a sign of life after which a process has no share: as long as its leases last. */
const PRESENCE_MS = 3_000
/** Interval of signs of life, in milliseconds. A process may miss two. */
const ALIVE_MS = 1_000
/** Milliseconds that requests in flight may still take when the process drains, or gives shards to another process. */
const DRAIN_MS = 3_000

/** A shard while this process has it. */
export interface OwnedShard {
  readonly name: string
  readonly claim: ShardClaim
  /** Lists the shard's documents, and adopts changes. Rejects with the store's error. */
  sync(): Promise<void>
  /** Ends the shard's work, after the requests in flight unless `kill` aborts first. */
  stop(kill: AbortSignal): Promise<void>
}

export interface ShardOwnerDeps<Shard extends OwnedShard> {
  /** The product. The names of its leases and of its claim without leases begin with it. */
  readonly product: string
  /** The work that one process does for a shard, in words for the log, such as `delivers webhooks`. */
  readonly work: string
  /** Names of all shards, each with the name of its lease. */
  readonly shards: ReadonlyMap<string, string>
  readonly leases: Leases | null
  /** Signs of life of the processes that share the shards. */
  readonly presence: HintChannel<string> | null
  /** Tells whether hints of other processes' changes arrive. */
  readonly hints: Pick<HintChannel<unknown>, 'available'> | null
  /** Subscribes to changes of documents, and names their shards by `hint`. Returns what ends that. */
  readonly follow?: (owner: ShardOwner<Shard>) => () => void
  readonly make: (name: string, claim: ShardClaim) => Shard
  readonly documents: DocumentStore
  readonly isShared: boolean
  /** Shows which shards this process has. */
  readonly book?: Pick<LeaseBook, 'declare' | 'set'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/**
 * The shards of a product that this process works for.
 *
 * O1. A shard belongs to the process that has its lease, with the lease's fencing token. Without leases the process that
 *     claimed last has all shards.
 * O2. Processes share the shards evenly. A process above its share releases shards after their requests in flight. A process
 *     below its share requests free ones. The leases of a dead process end within seconds.
 * O3. Changes of documents are found by listing the shards (`ShardLists`), and by hints at once. A shard is listed when this
 *     process gets it, and all are when hints may have been lost.
 */
export class ShardOwner<Shard extends OwnedShard> {
  readonly #deps: ShardOwnerDeps<Shard>
  readonly #names: readonly string[]
  readonly #shards = new Map<string, Shard>()
  readonly #id = randomUUID()
  /** Other processes with the product, each with the time of its last sign of life. */
  readonly #others = new Map<string, number>()
  readonly #lists: ShardLists
  /** Aborts when even the requests in flight are no longer awaited. */
  readonly #killed = new AbortController()

  constructor(deps: ShardOwnerDeps<Shard>) {
    this.#deps = deps
    this.#names = [...deps.shards.keys()]
    this.#lists = new ShardLists({
      ...deps,
      shards: () => this.#shards.keys(),
      sync: async (name) => this.#shards.get(name)?.sync()
    })
    deps.book?.declare(deps.product, deps.shards.values())
  }

  /** The shards of this process, without those being released. */
  get shards(): readonly Shard[] {
    return [...this.#shards.values()]
  }

  shard(name: string): Shard | undefined {
    return this.#shards.get(name)
  }

  /** Works until `draining` aborts, then finishes the requests in flight unless `kill` aborts. */
  async run(draining: AbortSignal, kill: AbortSignal): Promise<void> {
    const { leases, presence } = this.#deps
    const unfollow = this.#deps.follow?.(this)
    const unsubscribe = presence?.subscribe((id) => this.#notePresence(id))
    const ended = new AbortController()
    const end = AbortSignal.any([draining, ended.signal])
    try {
      const owning = leases === null ? this.#ownAll(end) : this.#share(leases, end)
      const work = [owning, this.#lists.run(end)]
      for (const each of work) each.catch(() => ended.abort())
      await Promise.all(work)
    } finally {
      ended.abort()
      unsubscribe?.()
      unfollow?.()
      await this.#endWith(kill)
    }
  }

  /** Lists the shards with these names at the next opportunity, if this process has them. */
  hint(shards: Iterable<string>): void {
    this.#lists.hint(shards)
  }

  /** Lists all shards of this process soon. */
  hintAll(): void {
    this.hint(this.#shards.keys())
  }

  #notePresence(id: string | null): void {
    if (id !== null) this.#others.set(id, this.#deps.clock.now())
  }

  #add(name: string, claim: ShardClaim): Shard {
    const shard = this.#deps.make(name, claim)
    this.#shards.set(name, shard)
    this.#show(name, true)
    this.hint([name])
    return shard
  }

  #show(name: string, isHeld: boolean): void {
    const { product, shards, book } = this.#deps
    book?.set(product, shards.get(name)!, isHeld)
  }

  /** Owns all shards while no other process has claimed. */
  async #ownAll(end: AbortSignal): Promise<void> {
    const { product, work, documents, isShared, clock, logger } = this.#deps
    const own = new LeaselessClaim(product, documents, isShared, clock)
    while (!end.aborted) {
      const taken = await own.take(end)
      if (taken === null) return
      for (const name of this.#names) this.#add(name, taken.claim)
      const over = AbortSignal.any([end, taken.claim.lost])
      await Promise.all([aborted(over), own.keep(taken, end)])
      if (end.aborted) return
      logger.warn(
        `another process ${work}; without MILLRACE_REDIS_URL there are no leases, so this process stands by`
      )
      await this.#stopAll(AbortSignal.abort())
      await own.silence(end)
    }
  }

  /** Acquires and releases leases until `end` aborts. */
  async #share(leases: Leases, end: AbortSignal): Promise<void> {
    const { clock, presence } = this.#deps
    for (let turn = 0; !end.aborted; turn++) {
      if (turn % (ALIVE_MS / ACQUIRE_MS) === 0) presence?.publish(this.#id)
      const excess = [...this.#shards.values()].slice(this.#fairShare())
      for (const shard of excess) this.#beginRelease(shard)
      await this.#acquireShare(leases, end)
      await sleep(clock, ACQUIRE_MS, end)
    }
  }

  /** Returns the number of shards that are due to this process: the shares of all sum up to the number of shards. */
  #fairShare(): number {
    const nowMs = this.#deps.clock.now()
    for (const [id, heardAtMs] of this.#others) if (nowMs - heardAtMs > PRESENCE_MS) this.#others.delete(id)
    const processes = [this.#id, ...this.#others.keys()].sort()
    const isLarger = processes.indexOf(this.#id) < this.#names.length % processes.length
    return Math.floor(this.#names.length / processes.length) + (isLarger ? 1 : 0)
  }

  /** Requests the leases of shards, as many at once as are lacking, until this process has its share. */
  async #acquireShare(leases: Leases, end: AbortSignal): Promise<void> {
    const start = Number.parseInt(this.#id.slice(0, 4), 16) % this.#names.length
    // Each process has its own order, so that processes request different shards first.
    const order = [...this.#names.slice(start), ...this.#names.slice(0, start)]
    const missing = order.filter((name) => !this.#shards.has(name) && !this.#releasing.has(name))
    while (missing.length > 0 && !end.aborted) {
      const lacking = this.#fairShare() - this.#shards.size
      if (lacking <= 0) return
      await Promise.all(missing.splice(0, lacking).map((name) => this.#acquire(leases, name, end)))
    }
  }

  /** Shards that this process is releasing, each with the end of its release. */
  readonly #releasing = new Map<string, Promise<void>>()

  async #acquire(leases: Leases, name: string, end: AbortSignal): Promise<void> {
    const lease = await leases.acquire(this.#deps.shards.get(name)!, this.#outranked.get(name))
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
    claim.lost.addEventListener('abort', () => this.#beginRelease(shard), { once: true })
  }

  /** The greatest token that another process has written with, by shard. */
  readonly #outranked = new Map<string, number>()
  readonly #releases = new Map<Shard, () => Promise<void>>()

  /** Ends the work of a shard after the requests in flight, and releases its lease. */
  #beginRelease(shard: Shard): void {
    if (this.#shards.get(shard.name) !== shard) return
    this.#shards.delete(shard.name)
    this.#show(shard.name, false)
    this.#releasing.set(
      shard.name,
      this.#release(shard).finally(() => this.#releasing.delete(shard.name))
    )
  }

  #release(shard: Shard): Promise<void> {
    return this.#stop([shard], AbortSignal.any([shard.claim.lost, this.#killed.signal]))
  }

  /** Ends all shards, including those being released. */
  async #endWith(kill: AbortSignal): Promise<void> {
    const killNow = (): void => this.#killed.abort()
    kill.addEventListener('abort', killNow, { once: true })
    if (kill.aborted) killNow()
    await Promise.all([this.#stopAll(kill), ...this.#releasing.values()])
    kill.removeEventListener('abort', killNow)
  }

  async #stopAll(kill: AbortSignal): Promise<void> {
    const shards = [...this.#shards.values()]
    this.#shards.clear()
    for (const { name } of shards) this.#show(name, false)
    await this.#stop(shards, kill)
  }

  /** Ends the work of shards after the requests in flight, unless `kill` aborts first, and releases their leases. */
  async #stop(shards: readonly Shard[], kill: AbortSignal): Promise<void> {
    const late = new AbortController()
    const over = new AbortController()
    void sleep(this.#deps.clock, DRAIN_MS, over.signal).then(() => late.abort())
    const end = AbortSignal.any([kill, late.signal])
    await Promise.all(
      shards.map(async (shard) => {
        await shard.stop(end)
        await this.#releases.get(shard)?.()
        this.#releases.delete(shard)
      })
    )
    over.abort()
  }
}
