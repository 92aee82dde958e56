import type { Block } from '../chain/transaction.ts'
import { SecondChanceCache } from '../kernel/memory/second-chance-cache.ts'
import type { SourcedBlock } from '../node/block-source.ts'
import { AccountFilter } from './account-filter.ts'
import { blockFees, type BlockFees } from './block-fees.ts'
import type { BlockObserver } from '../ingest/committed-blocks.ts'
import { FeeSelection } from './fee-selection.ts'
import type { FeeStatistics, FeeSummary } from './ports.ts'

/** Slots of the window that ends with the newest block (src/docs/transactions.md; as many as `getRecentPrioritizationFees` has). */
export const FEE_SLOTS = 150
/**
 * Maximum writable accounts of transactions in the window, 27 MB; beyond it the oldest blocks are evicted. More than
 * 150 blocks of 1,500 transactions with 14 each, as on mainnet (2024).
 */
const WRITES_MAX = 4_500_000
/**
 * Bytes for the prices of requested account lists: 60 lists that each match a third of mainnet's
 * transactions, or thousands of usual ones.
 */
const LISTS_BYTES_MAX = 32 * 2 ** 20

/**
 * Blocks that a new list of accounts indexes; it scans the others. So even the first list after a long pause takes
 * only a few times as long as usual.
 */
const INDEXED_AT_ONCE = 10

/** Priority fees of the last 150 slots: of each non-vote transaction, with the accounts that it wrote to. */
export class PriorityFees implements FeeStatistics, BlockObserver {
  /** Ascending by slot. */
  readonly #blocks: BlockFees[] = []
  readonly #writesMax: number
  readonly #all = new FeeSelection(({ ascending }) => ascending)
  /** By the bytes of the accounts. A repeated list reads only new blocks. */
  readonly #lists: SecondChanceCache<FeeSelection>
  /** Reads what the window lacks; null if it has all blocks. */
  #update: (() => Promise<void>) | null = null
  #writes = 0
  #version = 0

  constructor({ writesMax = WRITES_MAX, listsBytesMax = LISTS_BYTES_MAX } = {}) {
    this.#writesMax = writesMax
    this.#lists = new SecondChanceCache(listsBytesMax)
  }

  /** Number of changes so far; answers at different versions may differ. */
  get version(): number {
    return this.#version
  }

  /** Calls `update` before each answer, until the returned function is called. It must not reject. */
  updateBy(update: () => Promise<void>): () => void {
    this.#update = update
    return () => void (this.#update = null)
  }

  async upToDate(): Promise<void> {
    await this.#update?.()
  }

  /** Bytes of the window and of the requested lists. */
  get bytes(): number {
    const window = this.#blocks.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
    return window + this.#all.bytes + this.#lists.bytes
  }

  /** Blocks of the window, ascending by slot. */
  get blocks(): readonly BlockFees[] {
    return this.#blocks
  }

  /** Returns whether the window has a block of a slot. */
  has(slot: number): boolean {
    return this.#blocks.some((block) => block.slot === slot)
  }

  /** The newest slot; null before the first block. */
  get newest(): number | null {
    return this.#blocks.at(-1)?.slot ?? null
  }

  read({ block }: SourcedBlock): () => void {
    const fees = blockFees(block)
    return () => this.add(fees)
  }

  /** Fees of blocks that another process has ingested come from that process. */
  lacks(slot: number): boolean {
    return !this.has(slot)
  }

  recall(block: Block): void {
    this.add(blockFees(block))
  }

  /** Adds a block, which replaces a block in its slot. A block below the window is ignored. */
  add(block: BlockFees): void {
    const newest = this.newest
    if (newest !== null && block.slot <= newest - FEE_SLOTS) return
    this.#version++
    const at = this.#blocks.findLastIndex(({ slot }) => slot <= block.slot)
    const isReplaced = this.#blocks[at]?.slot === block.slot
    if (isReplaced) this.#writes -= this.#blocks[at]!.low.length
    this.#blocks.splice(isReplaced ? at : at + 1, isReplaced ? 1 : 0, block)
    this.#writes += block.low.length
    const first = this.newest! - FEE_SLOTS + 1
    while (this.#blocks[0]!.slot < first || (this.#writes > this.#writesMax && this.#blocks.length > 1))
      this.#writes -= this.#blocks.shift()!.low.length
  }

  lost(afterSlot: number): void {
    this.retain(({ slot }) => slot <= afterSlot)
  }

  /** Removes all blocks for which a function returns false. */
  retain(isRetained: (block: BlockFees) => boolean): void {
    for (let at = this.#blocks.length - 1; at >= 0; at--) {
      const block = this.#blocks[at]!
      if (isRetained(block)) continue
      this.#blocks.splice(at, 1)
      this.#writes -= block.low.length
      this.#version++
    }
  }

  of(accounts: readonly Uint8Array[]): FeeSummary {
    const blocks = this.#blocks
    const key = Buffer.concat(accounts).toString('latin1')
    const selection = accounts.length === 0 ? this.#all : (this.#lists.get(key) ?? this.#newList(accounts))
    selection.update(blocks)
    if (selection !== this.#all) this.#lists.set(key, selection, key.length + selection.bytes)
    const slots = blocks.length === 0 ? null : ([blocks[0]!.slot, blocks.at(-1)!.slot] as const)
    return selection.summary(slots)
  }

  #newList(accounts: readonly Uint8Array[]): FeeSelection {
    const filter = new AccountFilter(accounts)
    const lacking = this.#blocks.filter((block) => block.lacksIndex(filter))
    for (const block of lacking.slice(-INDEXED_AT_ONCE)) block.index()
    return new FeeSelection((block) => block.of(filter))
  }
}
