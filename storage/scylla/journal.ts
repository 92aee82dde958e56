import type { BlockExtent } from '../../src/market/block-extent.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { BlockCommit, Journal } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { readSpan } from './journal-rows.ts'
import type { RowList } from './row-list.ts'
import { SLOTS_OWNER } from './row-lists.ts'
import type { Memtable, MemtableBlock } from './memtable.ts'

/** Slots whose commits are known: those that followers requested recently. */
const KNOWN_SLOTS_MAX = 1_024

/**
 * Whole blocks by the numbers of their commits, which are consecutive: a missing number has been deleted. The newest blocks
 * are in memory.
 */
export class CommitJournal implements Journal {
  readonly #base: ScyllaBase
  readonly #slots: RowList<SlotRow>
  /** The numbers of commits by slot. */
  readonly #numbers = new Map<number, number>()
  /** The blocks that were returned. */
  readonly #returned = new WeakMap<BlockCommit, MemtableBlock>()
  /** The newest amendment at the time of that read. */
  #amended = 0

  constructor(base: ScyllaBase, slots: RowList<SlotRow>) {
    this.#base = base
    this.#slots = slots
  }

  async after(slot: number | null, limit: number): Promise<readonly BlockCommit[] | null> {
    const { client, visibility } = this.#base
    client.assertOpen()
    const { memtable, committed, snapshot, amended } = visibility
    if (amended !== this.#amended) this.#numbers.clear()
    this.#amended = amended
    const from = await this.#numberOf(slot, memtable)
    // Blocks that were published before an amendment may have changed since.
    if (from === null || (amended > 0 && from <= amended)) return null
    const last = Math.min(committed.newest, from + limit)
    const inMemtable = from >= snapshot.newest
    const found = inMemtable
      ? memtable.blocks.filter(({ number }) => number > from && number <= last)
      : await readSpan(client, from + 1, last, committed)
    // A missing block is gone, and a reader that requested all blocks cannot use those after it.
    if (found.length < last - from) return null
    return found.map((each) => this.#remember(each))
  }

  async read(block: BlockCommit, extent: BlockExtent): Promise<void> {
    const returned = this.#returned.get(block)
    if (returned === undefined) throw new Error(`block ${block.slot.slot} was not returned by this journal`)
    await returned.read(extent)
  }

  /** The number of a slot's commit, 0 before the first; null if the slot was never committed. */
  async #numberOf(slot: number | null, memtable: Memtable): Promise<number | null> {
    if (slot === null) return 0
    const inMemtable = memtable.blocks.find(({ block }) => block.slot.slot === slot)
    const known = inMemtable?.number ?? this.#numbers.get(slot)
    if (known !== undefined) return known
    const found = await this.#slots.at(SLOTS_OWNER, cursorAt(slot, 0))
    return found?.number ?? null
  }

  #remember(returned: MemtableBlock): BlockCommit {
    const { block, number } = returned
    const { slot } = block.slot
    this.#returned.set(block, returned)
    this.#numbers.delete(slot)
    this.#numbers.set(slot, number)
    if (this.#numbers.size > KNOWN_SLOTS_MAX) this.#numbers.delete(this.#numbers.keys().next().value!)
    return block
  }
}
