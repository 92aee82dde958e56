import { pubkeyOfMapKey, pubkeyToBase58, PubkeyTable } from '../chain/pubkey.ts'
import type { Block } from '../chain/transaction.ts'
import type { SourcedBlock } from '../node/block-source.ts'
import type { BlockObserver } from '../transactions/committed-blocks.ts'
import type { CommitFeed } from '../views/commit-feed.ts'
import { balanceChanges, type BalanceChanges } from './balance-changes.ts'

/** A committed block with its changes of token balances. */
export interface HolderBlock {
  readonly slot: number
  readonly parentSlot: number | null
  readonly changes: BalanceChanges
}

export type HolderEvent =
  | { readonly kind: 'block'; readonly block: HolderBlock }
  /** All blocks after this slot were on a lost fork. */
  | { readonly kind: 'lost'; readonly after: number }
  /** A block was committed that this process has not read, or the queue was full. */
  | { readonly kind: 'missed'; readonly reason: string }

/** Events queued for the follower. Chosen: ten minutes of the cluster's blocks; beyond it the lists are read again. */
const EVENTS_MAX = 1_500
/** Blocks cached before the follower has set the wanted mints. Chosen: a restart takes less time than these blocks. */
const EVENTS_UNFILTERED_MAX = 64
/** Recalled blocks. Chosen: a restart recalls as many. */
const RECALLED_MAX = 150

/**
 * Queues the token balances of committed blocks for the follower of holder lists, from the start of the process on.
 * It costs nothing while it is off or no mint is wanted.
 */
export class HolderBlocks implements BlockObserver {
  #isOn = false
  /** Null until the follower has set the wanted mints; until then all mints are wanted. */
  #mints: PubkeyTable<string> | null = null
  #wantsNone = false
  #events: HolderEvent[] = []
  #recalled = new Map<number, HolderBlock>()
  #isRecalling = true
  #newestRead = -1
  #committed = -1
  #wake: () => void = () => undefined

  constructor(feed: Pick<CommitFeed, 'follow'>) {
    // `CommittedBlocks` gets each block from the feed earlier, and has committed the blocks that this process read.
    feed.follow(({ slot: { slot } }) => {
      if (this.#isOn && slot !== this.#committed)
        this.#add({ kind: 'missed', reason: `block ${slot} was read by another process` })
    })
  }

  /** Starts to queue blocks, in a process that has a follower. */
  begin(): void {
    this.#isOn = true
  }

  /** Calls `wake`, which must not throw, at each event. */
  onEvent(wake: () => void): void {
    this.#wake = wake
  }

  /** Sets the wanted mints for blocks that are read from now on. Returns the newest slot already read. */
  want(mints: ReadonlySet<string>): number {
    const named = [...mints].map((mint) => [pubkeyToBase58(pubkeyOfMapKey(mint)), mint] as const)
    this.#mints = new PubkeyTable(named)
    this.#wantsNone = mints.size === 0
    return this.#newestRead
  }

  /** Wants all mints again, and blocks from before the start, for a follower that restarts. */
  wantAll(): void {
    this.#mints = null
    this.#wantsNone = false
    this.#isRecalling = true
  }

  /** Number of events that wait. */
  get waiting(): number {
    return this.#events.length
  }

  /** Removes the events that wait, in order. */
  take(): readonly HolderEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  /** Returns a block of before the start by its parent, if it was read again. */
  recalledAfter(parentSlot: number): HolderBlock | null {
    return this.#recalled.get(parentSlot) ?? null
  }

  read({ block }: SourcedBlock): () => void {
    if (!this.#isOn) return () => undefined
    this.#newestRead = Math.max(this.#newestRead, block.slot)
    const kept = this.#blockOf(block)
    return () => {
      this.#committed = kept.slot
      this.#add({ kind: 'block', block: kept })
    }
  }

  /** Drops the blocks from before the start, and ignores further ones. */
  endRecall(): void {
    this.#isRecalling = false
    this.#recalled.clear()
  }

  recall(block: Block): void {
    if (!this.#isOn || !this.#isRecalling || block.parentSlot === null || this.#recalled.size >= RECALLED_MAX)
      return
    this.#recalled.set(block.parentSlot, this.#blockOf(block))
    this.#wake()
  }

  lost(after: number): void {
    if (!this.#isOn) return
    this.#recalled.clear()
    this.#add({ kind: 'lost', after })
  }

  #blockOf(block: Block): HolderBlock {
    const { slot, parentSlot } = block
    const changes = this.#wantsNone ? new Map() : balanceChanges(block, this.#mints)
    return { slot, parentSlot, changes }
  }

  #add(event: HolderEvent): void {
    this.#events.push(event)
    const most = this.#mints === null ? EVENTS_UNFILTERED_MAX : EVENTS_MAX
    if (this.#events.length > most)
      this.#events = [{ kind: 'missed', reason: `more than ${most} blocks waited` }]
    this.#wake()
  }
}
