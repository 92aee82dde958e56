import { randomUUID } from 'node:crypto'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { HintChannel, Leases } from '../../storage/cluster/coordination.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import type { LeaseBook } from '../../src/fleet/lease-book.ts'
import { isOutage } from '../storage/retry.ts'
import { aborted } from '../supervision/aborted.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { claimOfLease, LeaselessClaim, type ShardClaim } from './shard-claims.ts'

/** Interval of requests for leases, in milliseconds. Shards of a dead process move half a second after their leases end. */
const ACQUIRE_MS = 500
/** Milliseconds without a sign of life after which a process has no share: as long as its leases last. */
const PRESENCE_MS = 3_000
/** Interval of signs of life, in milliseconds. A process may miss two. */
const ALIVE_MS = 1_000
/**
 * Intervals of listing all shards, in milliseconds.
 *
 * On a shared store without hints of changes it is `polled`: new documents are adopted within 15 s, and submissions while their
 * blockhash lives. With hints it is `hinted`: a list then only finds changes of a process that died before it gave its hint, and
 * costs a process without webhooks more than all blocks of its time. A store of one process announces every change; there a list,
 * at `unshared`, finds only changes missed because of a fault.
 */
const LIST_MS = { polled: 1_000, hinted: 10_000, unshared: 30_000 }
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
 * O3. Changes of documents are found by listing the shards, and by hints at once. A shard is listed when this process gets it,
 *     and all are when hints may have been lost. A list that fails is repeated after `LIST_MS.polled`.
 */
export class ShardOwner<Shard extends OwnedShard> {
  readonly #deps: ShardOwnerDeps<Shard>
  readonly #names: readonly string[]
  readonly #shards = new Map<string, Shard>()
  readonly #id = randomUUID()
  /** Other processes with the product, each with the time of its last sign of life. */
  readonly #others = new Map<string, number>()
  readonly #wake = new AutoResetEvent()
  readonly #due = new Set<string>()
  /** Aborts when even the requests in flight are no longer awaited. */
  readonly #killed = new AbortController()

  constructor(deps: ShardOwnerDeps<Shard>) {
    this.#deps = deps
    this.#names = [...deps.shards.keys()]
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
      const work = [owning, this.#list(end)]
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
    for (const shard of shards) this.#due.add(shard)
    this.#wake.set()
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

  async #release(shard: Shard): Promise<void> {
    const late = new AbortController()
    const over = new AbortController()
    void sleep(this.#deps.clock, DRAIN_MS, over.signal).then(() => late.abort())
    const end = AbortSignal.any([late.signal, shard.claim.lost, this.#killed.signal])
    await shard.stop(end)
    over.abort()
    await this.#releases.get(shard)?.()
    this.#releases.delete(shard)
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
    const late = new AbortController()
    const over = new AbortController()
    void sleep(this.#deps.clock, DRAIN_MS, over.signal).then(() => late.abort())
    const end = AbortSignal.any([kill, late.signal])
    const shards = [...this.#shards.values()]
    this.#shards.clear()
    for (const { name } of shards) this.#show(name, false)
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
    let listedMs = -Infinity
    /** Shards that could not be listed. */
    const failed = new Set<string>()
    while (!end.aborted) {
      const startedMs = clock.now()
      const isTurn = startedMs >= listedMs + this.#listIntervalMs
      const names = isTurn ? [...this.#shards.keys()] : [...this.#due]
      this.#due.clear()
      for (const name of names) {
        if (end.aborted) return
        if (await this.#sync(name)) failed.delete(name)
        else failed.add(name)
      }
      const endedMs = clock.now()
      if (isTurn) listedMs = endedMs
      if (this.#due.size > 0) continue
      const restMs = listedMs + this.#listIntervalMs - endedMs
      const pauseMs = failed.size === 0 ? restMs : Math.min(restMs, LIST_MS.polled)
      await this.#wake.wait(clock, Math.max(0, pauseMs), end)
      for (const name of failed) this.#due.add(name)
    }
  }

  /** The pause after a list. It is shorter from the moment when hints cease to arrive, which wakes the loop. */
  get #listIntervalMs(): number {
    const { isShared, hints } = this.#deps
    if (!isShared) return LIST_MS.unshared
    return hints?.available === true ? LIST_MS.hinted : LIST_MS.polled
  }

  /** Lists a shard, if this process has it. Returns whether the store has answered. */
  async #sync(name: string): Promise<boolean> {
    try {
      await this.#shards.get(name)?.sync()
      return true
    } catch (error) {
      if (!isOutage(error)) throw error
      return false
    }
  }
}
