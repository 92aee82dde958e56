import type { PlainEvents } from '../chain/decode-block.ts'
import type { Block } from '../chain/transaction.ts'
import type { BlockCommit } from '../market/records.ts'
import type { SourcedBlock } from '../node/block-source.ts'
import type { CommitFeed } from '../kernel/feed/commit-feed.ts'

/**
 * Maximum blocks that are read and not yet committed. Ingest has at most eight (`IN_FLIGHT_MAX`), and as many more
 * may remain whose commit was not answered.
 */
const PENDING_MAX = 16

/** Observes the blocks that this process ingests, and the commits of the feed. It must not throw. */
export interface BlockObserver {
  /**
   * Reads a block before its commit. Returns a function that is called once, when the block is durable and visible.
   * It must not retain the block, which takes megabytes. The slot of a late block is below those of earlier calls. `plain` has
   * events of its transactions, if it was decoded before.
   */
  read(sourced: SourcedBlock, plain?: PlainEvents): () => void
  /** Takes the slot of a commit of the feed, once all observers have committed its block, if this process read it. */
  published?(commit: Pick<BlockCommit, 'slot'>): void
  /** Blocks were skipped, or published blocks have changed. */
  jumped?(): void
  /** Returns whether it needs the block of a slot that was committed before this process started. */
  lacks?(slot: number): boolean
  /** Takes a block that was committed before this process started. */
  recall?(block: Block): void
  /** All blocks after this slot were on a lost fork. */
  lost?(afterSlot: number): void
}

/** A block that was read by the observers and waits for its commit. */
export interface PendingBlock {
  readonly slot: number
  readonly blockhash: string | null
  readonly commit: () => void
}

/**
 * Passes the blocks of ingest, with all their transactions, to observers, and reports when a block is committed. The
 * feed announces commits, including those that only recovery confirmed. The order in which observers subscribe does not
 * matter: all of them have committed a block before any takes the commit of the feed.
 */
export class CommittedBlocks {
  /** Ascending by slot. */
  readonly #pending: PendingBlock[] = []
  readonly #observers = new Set<BlockObserver>()

  constructor(feed: Pick<CommitFeed, 'follow'>) {
    feed.follow({
      published: (commit) => {
        this.#published(commit.slot.slot, commit.slot.blockhash)
        for (const observer of this.#observers) observer.published?.(commit)
      },
      jumped: () => {
        for (const observer of this.#observers) observer.jumped?.()
      },
      needs: () => 'slot'
    })
  }

  /** Shows a block to the observers. The caller commits it, or gives it to `amended`. */
  read(sourced: SourcedBlock, plain?: PlainEvents): PendingBlock {
    const { slot, blockhash = null } = sourced.block
    const commits = Array.from(this.#observers, (observer) => observer.read(sourced, plain))
    const commit = (): void => {
      for (const each of commits) each()
    }
    return { slot, blockhash, commit }
  }

  /**
   * Reads a block that the feed is about to publish, in the order of slots. A repeated slot removes its pending block
   * and all later ones.
   */
  pending(sourced: SourcedBlock, plain?: PlainEvents): void {
    const { slot } = sourced.block
    while (this.#pending.length > 0 && this.#pending.at(-1)!.slot >= slot) this.#pending.pop()
    if (this.#pending.length === PENDING_MAX) this.#pending.shift()
    this.#pending.push(this.read(sourced, plain))
  }

  /** Reports blocks that an amendment has committed, because the feed does not publish them. */
  amended(blocks: readonly PendingBlock[]): void {
    for (const block of blocks) block.commit()
  }

  /** Returns whether an observer needs the block of a slot that was committed before this process started. */
  lacks(slot: number): boolean {
    return this.#observers.values().some((observer) => observer.lacks?.(slot) === true)
  }

  /** Shows a block that was committed before this process started. */
  recall(block: Block): void {
    for (const observer of this.#observers) observer.recall?.(block)
  }

  /** Reports that all blocks after a slot are on a lost fork. */
  lost(afterSlot: number): void {
    for (const observer of this.#observers) observer.lost?.(afterSlot)
  }

  /** Shows later blocks to an observer, until the returned function is called. */
  subscribe(observer: BlockObserver): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  #published(slot: number, blockhash: string | null): void {
    while (this.#pending.length > 0 && this.#pending[0]!.slot <= slot) {
      const block = this.#pending.shift()!
      // Another process may have committed a block of another fork in this slot.
      if (block.slot === slot && block.blockhash === blockhash) block.commit()
    }
  }
}
