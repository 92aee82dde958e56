import type { PlainEvents } from '../chain/decode-block.ts'
import type { Block } from '../chain/transaction.ts'
import type { BlockCommit } from '../market/records.ts'
import type { BlockObserver } from './committed-blocks.ts'
import type { SourcedBlock } from '../node/block-source.ts'

/** A committed block with the changes that a follower needs. */
export interface QueuedBlock<Changes> {
  readonly slot: number
  readonly parentSlot: number | null
  /** Base58; null if the source does not state it. */
  readonly blockhash: string | null
  /** Unix seconds. */
  readonly blockTime: number
  readonly changes: Changes
}

export type QueueEvent<Changes> =
  | { readonly kind: 'block'; readonly block: QueuedBlock<Changes> }
  /** All blocks after this slot were on a lost fork. */
  | { readonly kind: 'lost'; readonly after: number }
  /** A block was committed that this process has not read, or the queue was full. */
  | { readonly kind: 'missed'; readonly reason: string }

/** Maximum queued events: ten minutes of the cluster's blocks. */
export const QUEUE_MAX = 1_500
/** Maximum recalled blocks: as many as a restart recalls. */
const RECALLED_MAX = 150

/** Queues the changes of committed blocks for a follower, from process start. It costs nothing while it is off. */
export abstract class BlockQueue<Changes> implements BlockObserver {
  #events: QueueEvent<Changes>[] = []
  #recalled = new Map<number, QueuedBlock<Changes>>()
  #isRecalling = true
  #newestRead = -1
  #newestRecalled = -1
  #committed = -1
  #wake: () => void = () => undefined

  /** Whether blocks are queued. */
  protected abstract get isOn(): boolean
  /** Maximum queued events. Beyond it all are dropped, and a `missed` event is queued. */
  protected abstract get eventsMax(): number
  /** Returns what a block changes, without retaining the block. `plain` has events of its transactions, if they are known. */
  protected abstract changesIn(block: Block, plain?: PlainEvents): Changes

  /** Calls `wake`, which must not throw, at each event. */
  onEvent(wake: () => void): void {
    this.#wake = wake
  }

  /** The newest slot that was read, committed or not; -1 before the first. */
  get newestRead(): number {
    return this.#newestRead
  }

  /** The newest slot that was searched for changes, including blocks from before the start; -1 before the first. */
  protected get newestSeen(): number {
    return Math.max(this.#newestRead, this.#newestRecalled)
  }

  /** Number of queued events. */
  get waiting(): number {
    return this.#events.length
  }

  /** Removes and returns the queued events, in order. */
  take(): readonly QueueEvent<Changes>[] {
    const events = this.#events
    this.#events = []
    return events
  }

  /** Puts events that a follower has taken but not made durable before the queued ones. */
  giveBack(events: readonly QueueEvent<Changes>[]): void {
    this.#events = [...events, ...this.#events]
    this.#limit()
  }

  /** Returns a block from before the start by its parent, if it was read again. */
  recalledAfter(parentSlot: number): QueuedBlock<Changes> | null {
    return this.#recalled.get(parentSlot) ?? null
  }

  /** Accepts blocks from before the start, for a follower that restarts. */
  beginRecall(): void {
    this.#isRecalling = true
  }

  lacks(): boolean {
    return this.isOn && this.#isRecalling
  }

  /** Drops the blocks from before the start, and ignores further ones. */
  endRecall(): void {
    this.#isRecalling = false
    this.#recalled.clear()
  }

  read({ block }: SourcedBlock, plain?: PlainEvents): () => void {
    this.#newestRead = Math.max(this.#newestRead, block.slot)
    // Even while it is off: it may be on by the commit.
    if (!this.isOn) return () => void (this.#committed = block.slot)
    const queued = this.#queued(block, plain)
    return () => {
      this.#committed = queued.slot
      this.#add({ kind: 'block', block: queued })
    }
  }

  published({ slot: { slot } }: Pick<BlockCommit, 'slot'>): void {
    // A block that this process read is committed by now.
    if (this.isOn && slot !== this.#committed)
      this.#add({ kind: 'missed', reason: `block ${slot} was read by another process` })
  }

  recall(block: Block): void {
    const { parentSlot } = block
    if (!this.isOn || !this.#isRecalling || parentSlot === null) return
    if (this.#recalled.size >= RECALLED_MAX) {
      // Unrequested blocks of an earlier lead must not displace those of this lead.
      const [oldest] = [...this.#recalled].sort(([, a], [, b]) => a.slot - b.slot)
      if (oldest![1].slot > block.slot) return
      this.#recalled.delete(oldest![0])
    }
    this.#newestRecalled = Math.max(this.#newestRecalled, block.slot)
    this.#recalled.set(parentSlot, this.#queued(block))
    this.#wake()
  }

  lost(after: number): void {
    if (!this.isOn) return
    for (const [parent, { slot }] of this.#recalled) if (slot > after) this.#recalled.delete(parent)
    this.#add({ kind: 'lost', after })
  }

  #queued(block: Block, plain?: PlainEvents): QueuedBlock<Changes> {
    const { slot, parentSlot, blockhash = null, blockTime } = block
    return { slot, parentSlot, blockhash, blockTime, changes: this.changesIn(block, plain) }
  }

  #add(event: QueueEvent<Changes>): void {
    this.#events.push(event)
    this.#limit()
    this.#wake()
  }

  #limit(): void {
    const most = this.eventsMax
    if (this.#events.length > most)
      this.#events = [{ kind: 'missed', reason: `more than ${most} blocks waited` }]
  }
}
