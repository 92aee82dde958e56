import type { Block } from '../../src/chain/transaction.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { CommittedBlocks, type BlockObserver } from '../../src/ingest/committed-blocks.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'

/** The subset of an index that followers of blocks use: it commits the blocks of a bank, at `processed`, with its forks. */
export class FollowedIndex<Queue extends BlockObserver> {
  readonly feed = new CommitFeed()
  readonly committed = new CommittedBlocks(this.feed)
  readonly blocks: Queue
  #head = -1
  /** Blocks that are not committed, for a hole. */
  hides = 0

  constructor(blocks: Queue) {
    this.blocks = blocks
    this.committed.subscribe(blocks)
  }

  take(read: Block): void {
    if (this.hides > 0) {
      this.hides--
      return
    }
    if (read.parentSlot !== null && this.#head > read.parentSlot) {
      const slot = { slot: read.parentSlot, blockhash: null } as SlotRow
      this.feed.amend(slot)
      this.committed.lost(read.parentSlot)
    }
    this.#head = read.slot
    const { slot, blockTime, blockhash } = read
    this.committed.pending({ block: read, commitment: 'processed', receivedAtMs: 0 })
    this.feed.publish({ slot: { slot, blockTime, blockhash } } as BlockCommit)
  }

  /** Hears of a block that another process has committed. */
  hear({ slot, blockTime, blockhash }: Block): void {
    this.#head = slot
    this.feed.publish({ slot: { slot, blockTime, blockhash } } as BlockCommit)
  }

  /** Inserts a block between committed ones. */
  insert(late: Block): void {
    this.committed.amended([this.committed.read({ block: late, commitment: 'processed', receivedAtMs: 0 })])
  }

  /** Reads blocks of before the start again, as a restart does: newest first. */
  recall(blocks: readonly Block[]): void {
    for (const block of blocks.toReversed()) this.committed.recall(block)
  }

  /** Begins where an earlier index has ended. */
  restore(head: Pick<Block, 'slot'>): void {
    this.#head = head.slot
    this.feed.amend({ slot: head.slot, blockhash: null } as SlotRow)
  }
}
