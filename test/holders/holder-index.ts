import { encodeBase58 } from '../../src/chain/base58.ts'
import { placeBlock, readRpcBlock } from '../../src/chain/rpc/block.ts'
import type { Block } from '../../src/chain/transaction.ts'
import { HolderBlocks } from '../../src/holders/holder-blocks.ts'
import type { LocalBlock } from '../../src/localnet/chain.ts'
import { parseJson, writeJson } from '../../src/localnet/node/json.ts'
import { encodeExecuted } from '../../src/localnet/node/transaction-encoding.ts'
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

  take(block: LocalBlock): void {
    if (this.hides > 0) {
      this.hides--
      return
    }
    const read = blockOf(block)
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
  recall(blocks: readonly LocalBlock[]): void {
    for (const block of blocks.toReversed()) this.committed.recall(blockOf(block))
  }

  /** Begins where an earlier index has ended. */
  restore(head: LocalBlock): void {
    this.#head = head.slot
    this.feed.amend({ slot: head.slot, blockhash: null } as SlotRow)
  }
}

function blockOf(block: LocalBlock): Block {
  const { slot, parentSlot, blockHeight, blockTime } = block
  const transactions = block.transactions.map((each) => encodeExecuted(each, 'base64', 1))
  const value = {
    slot,
    parentSlot,
    blockHeight,
    blockTime,
    blockhash: encodeBase58(block.blockhash),
    previousBlockhash: encodeBase58(block.previousBlockhash),
    transactions
  }
  const outcome = readRpcBlock(parseJson(writeJson(value)), slot)
  if (outcome.kind !== 'block') throw new Error(`a block is ${outcome.kind}`)
  if (outcome.block.unreadable.length > 0) throw new Error('a transaction cannot be read')
  return placeBlock(outcome.block)!
}
