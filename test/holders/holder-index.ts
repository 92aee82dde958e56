import type { Block } from '../../src/chain/transaction.ts'
import { HolderBlocks } from '../../src/holders/holder-blocks.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { CommittedBlocks } from '../../src/transactions/committed-blocks.ts'
import { CommitFeed } from '../../src/views/commit-feed.ts'

/** The part of an index that holder lists use: it commits the blocks of a bank, at `processed`, with its forks. */
export class HolderIndex {
  readonly feed = new CommitFeed()
  readonly committed = new CommittedBlocks(this.feed)
  readonly blocks = new HolderBlocks(this.feed)
  #head = -1
  /** Blocks that are not committed, for a hole. */
  hides = 0

  constructor() {
    this.committed.subscribe(this.blocks)
    this.blocks.begin()
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
    this.committed.pending({ block: read, commitment: 'processed', receivedAtMs: 0 })
    this.feed.publish({ slot: { slot: read.slot, blockhash: read.blockhash } } as BlockCommit)
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
