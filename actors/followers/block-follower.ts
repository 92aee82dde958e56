import type { BlockQueue, QueuedBlock, QueueEvent } from '../../src/ingest/block-queue.ts'
import type { Clock } from '../../src/ports.ts'
import { FEE_SLOTS } from '../../src/transactions/priority-fees.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { Storage } from '../../storage/port.ts'
import { LeaselessClaim } from '../shards/shard-claims.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { isHopeless } from './failed-tries.ts'

/** Poll interval while nothing happens, in milliseconds. */
export const POLL_INTERVAL_MS = 250
/** Milliseconds for which blocks from before the start are awaited. The newest eight arrive within a second. */
const RECALL_MS = 60_000
/** Slots that a start recalls (`recall-blocks.ts`): a follower that is further behind does not wait. */
const RECALL_SLOTS = FEE_SLOTS

export interface FollowerDeps<Changes> {
  readonly clock: Clock
  readonly storage: Pick<Storage, 'documents' | 'isShared'>
  readonly blocks: BlockQueue<Changes>
  readonly feed: Pick<CommitFeed, 'head'>
}

/**
 * Applies the blocks that this process commits, each after its parent.
 *
 * F1. One follower of a product writes at a time. It begins with a claim, at the first block that this process commits, and
 *     ends once another process commits one.
 * F2. Blocks follow each other by their parents. At the start, those before the first one are waited for as long as they may
 *     be read again. Blocks that are missing then are a hole.
 * F3. Events that are not durable go back to the queue when the follower fails. So do those of a write that was answered by
 *     an error and is durable: the next follower finds its slot in the store, and drops them. An event that fails
 *     repeatedly, other than by an outage, is dropped.
 */
export abstract class BlockFollower<Changes> {
  readonly #product: string
  readonly #deps: FollowerDeps<Changes>
  readonly #wake = new AutoResetEvent()
  /** Events that were taken and are not durable, oldest first; the first `#done` of them are applied. */
  #taken: QueueEvent<Changes>[] = []
  #done = 0
  #end = new AbortController().signal
  /** The time until which blocks from before the start may still be read again, and their last slot. */
  #recallUntilMs = 0
  #recallSlot: number | null = null
  #syncAtMs = 0

  /** `product` names the claim in the store. */
  constructor(product: string, deps: FollowerDeps<Changes>) {
    this.#product = product
    this.#deps = deps
    deps.blocks.onEvent(() => this.wake())
  }

  /** The slot of the last applied block; null before the first. */
  abstract get slot(): number | null
  /** Poll interval without an event while no other process can change the store, in milliseconds. */
  protected abstract get idleMs(): number
  /** Interval of `sync` without a hint, in milliseconds. */
  protected abstract get syncMs(): number
  /** Whether blocks from before the start are of use. */
  protected abstract get needsPast(): boolean
  /** Loads the stored state, and announces this writer with its fencing token. */
  protected abstract open(token: number): Promise<void>
  /** Lists what clients have requested, before events are taken. */
  protected abstract sync(): Promise<void>
  /** Applies a block whose parent was applied, or any while there is no slot. */
  protected abstract apply(block: QueuedBlock<Changes>): Promise<void>
  /** Handles a block at or before the slot. */
  protected abstract late(block: QueuedBlock<Changes>): Promise<void>
  /** Rolls back the blocks after a slot. */
  protected abstract rollBack(after: number): Promise<void>
  /** Continues at a slot up to which blocks are missing, or were all committed before the start. */
  protected abstract hole(upTo: number, isOfBefore: boolean): Promise<void>
  /** Handles the loss of blocks of a full queue. */
  protected abstract missed(reason: string): Promise<void>
  /** Ends a step, in which the waiting events were applied. */
  protected abstract settle(): Promise<void>
  /** Makes durable what was applied. */
  protected abstract save(): Promise<void>

  /** Called at intervals while another process commits. */
  protected async standBy(): Promise<void> {}

  /** Called at the end, however the follower ends. */
  protected async close(): Promise<void> {}

  /** Lists what clients have requested at the next step. */
  hint(): void {
    this.#syncAtMs = 0
    this.wake()
  }

  /** Begins the next step now. */
  protected wake(): void {
    this.#wake.set()
  }

  /**
   * Follows the blocks that this process commits until `end` aborts, or another process commits. Resolves once what was
   * applied is durable. Rejects with the store's error.
   */
  async run(end: AbortSignal): Promise<void> {
    const { blocks, storage, clock } = this.#deps
    this.#end = end
    try {
      if (storage.isShared) await this.#awaitLead()
      const claim = new LeaselessClaim(this.#product, storage.documents, storage.isShared, clock)
      const taken = await claim.take(end)
      if (taken === null) return
      this.#recallUntilMs = clock.now() + RECALL_MS
      await this.open(taken.claim.token)
      this.#dropDurable()
      this.#syncAtMs = 0
      while (await this.#step()) {
        // Later blocks are read again by the next start.
        if (end.aborted) break
        await this.#wake.wait(clock, this.#pauseMs, end)
      }
      await this.save()
    } finally {
      blocks.giveBack(this.#taken)
      // The next follower may need the blocks that ingest reads again before it runs.
      blocks.beginRecall()
      await this.close()
    }
  }

  /** Drops the events that were applied: they are durable. */
  protected release(): void {
    this.#taken.splice(0, this.#done)
    this.#done = 0
  }

  /** Drops the first events up to the block of the stored slot. After an event of another kind its slot may be of a fork. */
  #dropDurable(): void {
    this.#taken.push(...this.#deps.blocks.take())
    const at = this.#taken.findIndex((event) => event.kind !== 'block' || event.block.slot === this.slot)
    if (this.#taken[at]?.kind === 'block') this.#taken.splice(0, at + 1)
  }

  /** Tells whether a waiting event rolls back blocks up to a slot. */
  protected isLostNext(slot: number): boolean {
    this.#taken.push(...this.#deps.blocks.take())
    return this.#taken.some((event) => event.kind === 'lost' && event.after < slot)
  }

  /** Milliseconds until the next poll. */
  get #pauseMs(): number {
    return this.#deps.storage.isShared || this.#mayBeRecalled() ? POLL_INTERVAL_MS : this.idleMs
  }

  /** Takes the first events of a lead of this process. */
  async #awaitLead(): Promise<void> {
    const { blocks, clock } = this.#deps
    while (!this.#end.aborted && this.#taken.length === 0) {
      await this.#whenDue(async () => this.standBy())
      const events = blocks.take()
      this.#taken = events.slice(events.findLastIndex(({ kind }) => kind === 'missed') + 1)
      if (this.#taken.length === 0) await this.#wake.wait(clock, POLL_INTERVAL_MS, this.#end)
    }
  }

  async #whenDue(sync: () => Promise<void>): Promise<void> {
    const now = this.#deps.clock.now()
    if (now < this.#syncAtMs) return
    this.#syncAtMs = Infinity
    await sync()
    const isHinted = this.#syncAtMs === 0
    if (!isHinted) this.#syncAtMs = now + this.syncMs
  }

  /** Applies the waiting events. Resolves with false once another process commits. */
  async #step(): Promise<boolean> {
    const { blocks, storage, feed } = this.#deps
    await this.#whenDue(async () => this.sync())
    this.#taken.push(...blocks.take())
    // Read together with the events: the chain advances meanwhile, and may still be searching for its head when this begins.
    const oldest = this.#taken.find((event) => event.kind === 'block')
    this.#recallSlot ??= (oldest === undefined ? feed.head?.slot : oldest.block.parentSlot) ?? null
    if (this.#taken.length === this.#done && this.#isBehind) await this.#fill(this.#recallSlot!)
    for (; this.#done < this.#taken.length; this.#done++) {
      const event = this.#taken[this.#done]!
      if (event.kind === 'missed' && storage.isShared) {
        // The other process reads the blocks before it again, where they are not durable.
        this.#taken = this.#taken.slice(this.#done + 1)
        this.#done = 0
        return false
      }
      if (!(await this.#handle(event))) break
    }
    if (this.#recallSlot !== null && !this.#mayBeRecalled()) blocks.endRecall()
    await this.settle()
    return true
  }

  /** Applies an event. Resolves with false if the end came first. */
  async #handle(event: QueueEvent<Changes>): Promise<boolean> {
    try {
      if (event.kind === 'block') return await this.#take(event.block)
      if (event.kind === 'lost') await this.#lose(event.after)
      else await this.missed(event.reason)
      return true
    } catch (error) {
      if (isHopeless(error, event)) this.#taken.splice(this.#done, 1)
      throw error
    }
  }

  /** Resolves with false if the end came before the blocks before it. */
  async #take(block: QueuedBlock<Changes>): Promise<boolean> {
    const { slot } = this
    if (slot !== null) {
      const parent = block.parentSlot ?? slot
      if (block.slot <= slot) {
        await this.late(block)
        return true
      }
      if (parent < slot) await this.#lose(parent)
      else if (parent > slot && !(await this.#fill(parent))) return false
    }
    await this.apply(block)
    return true
  }

  async #lose(after: number): Promise<void> {
    if (this.slot !== null && after < this.slot) await this.rollBack(after)
  }

  /** Applies blocks from before the start up to a slot, as far as they can be read again. False if the end came first. */
  async #fill(upTo: number): Promise<boolean> {
    const { blocks, clock } = this.#deps
    while (this.slot! < upTo && this.needsPast) {
      const next = blocks.recalledAfter(this.slot!)
      if (next !== null && next.slot <= upTo) await this.#applyRecalled(next)
      else if (this.#mayBeRecalled()) await this.#wake.wait(clock, POLL_INTERVAL_MS, this.#end)
      else break
    }
    if (this.slot! >= upTo) return true
    if (this.#end.aborted) return false
    await this.hole(upTo, upTo <= (this.#recallSlot ?? -1))
    return true
  }

  async #applyRecalled(block: QueuedBlock<Changes>): Promise<void> {
    try {
      await this.apply(block)
    } catch (error) {
      if (isHopeless(error, block)) this.#deps.blocks.endRecall()
      throw error
    }
  }

  /** Whether the last block from before the start was not applied. */
  get #isBehind(): boolean {
    return this.slot !== null && this.slot < (this.#recallSlot ?? -1)
  }

  #mayBeRecalled(): boolean {
    if (!this.#isBehind || this.slot! < this.#recallSlot! - RECALL_SLOTS) return false
    return this.#deps.clock.now() < this.#recallUntilMs && !this.#end.aborted
  }
}
