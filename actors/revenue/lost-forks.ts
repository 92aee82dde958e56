import type { LedgerBlock } from '../../src/revenue/ledger-blocks.ts'
import type { BlockStore } from '../../storage/port.ts'

/** Distance to the head, in slots, beyond which no block comes late and no fork begins: twice `GAP_SLOTS` of ingest. */
export const LATE_BLOCK_SLOTS = 3_000
/** Slots that are read again if the last block is on a lost fork: a fork of a block with votes ends within 32. */
const LOST_SLOTS = 100

type NamedBlock = Pick<LedgerBlock, 'slot' | 'blockhash'>

/** Tells by the stored blocks which blocks of the ledger are on a lost fork. */
export class LostForks {
  readonly #blocks: Pick<BlockStore, 'at' | 'between'>

  constructor(blocks: Pick<BlockStore, 'at' | 'between'>) {
    this.#blocks = blocks
  }

  /** Tells whether the index has a block; true without a hash to compare. */
  async isStored({ slot, blockhash }: NamedBlock): Promise<boolean> {
    if (blockhash === null) return true
    const row = await this.#blocks.at(slot)
    return row !== null && (row.blockhash === null || row.blockhash === blockhash)
  }

  /** Tells whether a block is stored, or lies so far behind the head that no fork begins before it. */
  async isSettled(block: NamedBlock, head: number): Promise<boolean> {
    return block.slot < head - LATE_BLOCK_SLOTS || this.isStored(block)
  }

  /** Returns a stored block before the fork of a lost one, from which blocks are read again. */
  async placeBefore(
    slot: number
  ): Promise<{ readonly slot: number; readonly blockhash: string | null; readonly blockTime: number }> {
    const first = Math.max(0, slot - LOST_SLOTS)
    const [stored] = await this.#blocks.between(first, slot)
    return {
      slot: stored?.slot ?? first,
      blockhash: stored?.blockhash ?? null,
      blockTime: stored?.blockTime ?? 0
    }
  }
}
