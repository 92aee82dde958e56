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
  /** A block was committed that this process has not read, or there were too many to keep. */
  | { readonly kind: 'missed'; readonly reason: string }

/** Events that wait for the follower. Chosen: ten minutes of the cluster's blocks; above, the lists are read again. */
const EVENTS_MAX = 1_500
/** Blocks kept while nobody has said which mints are wanted: a restart is over before. */
const UNTOLD_MAX = 64
/** Recalled blocks: as many as a restart recalls. */
const RECALLED_MAX = 150

/**
 * Keeps the token balances of committed blocks for the follower of holder lists, from the start of the process on. It costs
 * nothing while it is off, or no mint is wanted.
 */
export class HolderBlocks implements BlockObserver {
  #isOn = false
  /** Null until the follower has said what it wants: then all mints are. */
  #wanted: PubkeyTable<string> | null = null
  #wantsNone = false
  #events: HolderEvent[] = []
  #recalled = new Map<number, HolderBlock>()
  #isRecalling = true
  #newestRead = -1
  #committed = -1
  #wake: () => void = () => undefined

  constructor(feed: Pick<CommitFeed, 'follow'>) {
    // The feed has told `CommittedBlocks` before, which commits a block here first.
    feed.follow(({ slot: { slot } }) => {
      if (this.#isOn && slot !== this.#committed)
        this.#add({ kind: 'missed', reason: `block ${slot} was read by another process` })
    })
  }

  /** Begins to keep blocks, in a process that has a follower. */
  begin(): void {
    this.#isOn = true
  }

  /** Calls `wake`, which must not throw, at each event. */
  onEvent(wake: () => void): void {
    this.#wake = wake
  }

  /** Sets the mints whose balances are wanted in blocks that are read from now on. Returns the newest slot read before. */
  want(mints: ReadonlySet<string>): number {
    const named = [...mints].map((mint) => [pubkeyToBase58(pubkeyOfMapKey(mint)), mint] as const)
    this.#wanted = new PubkeyTable(named)
    this.#wantsNone = mints.size === 0
    return this.#newestRead
  }

  /** Keeps the balances of all mints again, and blocks of before the start, for a follower that begins anew. */
  wantAll(): void {
    this.#wanted = null
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

  /** Drops the blocks of before the start, and those that still come. */
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
    const changes = this.#wantsNone ? new Map() : balanceChanges(block, this.#wanted)
    return { slot, parentSlot, changes }
  }

  #add(event: HolderEvent): void {
    this.#events.push(event)
    const most = this.#wanted === null ? UNTOLD_MAX : EVENTS_MAX
    if (this.#events.length > most)
      this.#events = [{ kind: 'missed', reason: `more than ${most} blocks waited` }]
    this.#wake()
  }
}
