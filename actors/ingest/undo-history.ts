import type { DecodedBlock } from '../../src/market/block.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { BlockStore, History, Storage } from '../../storage/port.ts'

/**
 * Newest blocks behind an inserted one whose undo data an amendment corrects. Forks at `processed` end within this
 * many slots: 32 blocks with votes finalize a block, and 150 leave room for skipped slots and slow votes.
 */
export const FORK_SLOTS = 150
/** Slots during which a gap can be closed: ten minutes. Folding them again takes some seconds. */
export const GAP_SLOTS = 1_500
/** Slots that a rollback can always reach back: as many as for a gap. At most 0.5 MB a block, 750 MB on disk. */
export const UNDO_SLOTS = GAP_SLOTS
/**
 * Older blocks are kept while the total weight stays below this; a block weighs one plus its number of events. That
 * is 1,700 recorded mainnet blocks, or eleven hours of blocks without an event. A unit of weight takes 0.2 to 0.5 KB
 * on disk, and a rollback holds all of it in memory.
 */
export const UNDO_WEIGHT_MAX = 100_000
/**
 * Weight that is left after a deletion: a thirty-second is freed at once. Otherwise each commit would weigh the blocks
 * again.
 */
const UNDO_WEIGHT_LEFT = UNDO_WEIGHT_MAX - UNDO_WEIGHT_MAX / 32
/** Slots whose rows are read at once for weighing: about 2 MB. */
const SLOTS_PER_READ = 10_000
/** Unneeded blocks are deleted this many slots at a time, since each deletion is a write. */
const FORGET_SLOTS = 50
const BLOCKS_PER_READ = 16

type UndoStorage = Pick<Storage, 'history'> & { readonly blocks: Pick<BlockStore, 'between'> }

/** The reasons to keep undo data. */
export interface UndoPolicy {
  /** Whether a fork can still remove committed blocks. */
  readonly forForks: boolean
  /** Whether a backfill searches for missing blocks. */
  readonly forGaps: boolean
}

export const NO_UNDO: UndoPolicy = { forForks: false, forGaps: false }

/**
 * The newest blocks with their undo data, without a hole.
 *
 * N1. They end at the head: all blocks stored after the first one's parent are included.
 * N2. While a gap may be closed, all blocks after it are kept. Where forks are possible, the last `UNDO_SLOTS` slots are
 *     kept, and older blocks while the weight is at most `UNDO_WEIGHT_MAX`. Without either reason nothing is kept.
 * N3. A gap that is open for more than `GAP_SLOTS` stays, which is logged.
 */
export class UndoHistory {
  readonly #history: History
  readonly #blocks: Pick<BlockStore, 'between'>
  readonly #undoPolicy: UndoPolicy
  readonly #logger: Pick<Logger, 'warn'>
  /** The first kept block, and the slot committed before it (-1 for none); null if nothing is kept. */
  #oldest: { readonly slot: number; readonly after: number } | null = null
  /** The first slot of the oldest gap that may still be closed. */
  #gapAt: number | null = null
  /** Upper bound of the weight; infinite where it is unknown. */
  #weight = Infinity

  private constructor(
    { history, blocks }: UndoStorage,
    undoPolicy: UndoPolicy,
    logger: Pick<Logger, 'warn'>
  ) {
    this.#history = history
    this.#blocks = blocks
    this.#undoPolicy = undoPolicy
    this.#logger = logger
  }

  /** Reads the state from the store. Undo data that does not reach the head is discarded. */
  static async open(
    storage: UndoStorage & Pick<Storage, 'coverage'>,
    head: SlotRow | null,
    undoPolicy: UndoPolicy,
    logger: Pick<Logger, 'warn'>
  ): Promise<UndoHistory> {
    const { history } = storage
    const undoHistory = new UndoHistory(storage, undoPolicy, logger)
    if (head === null) return undoHistory
    const [newest] = await history.after(head.slot - 1, 1)
    if (newest?.block.slot !== head.slot) {
      await history.forget(head.slot)
      return undoHistory
    }
    await undoHistory.changed(storage.coverage)
    return undoHistory
  }

  /** The slot committed before the first kept block, -1 for none; null if nothing is kept. */
  get after(): number | null {
    return this.#oldest?.after ?? null
  }

  /** Tells whether the undo data of all stored slots from this one on is kept. */
  reaches(slot: number): boolean {
    return this.#oldest !== null && this.#oldest.after < slot
  }

  /**
   * Tells whether the undo data of a block is to be kept. Opens a gap if slots are missing between the head and the
   * block's parent.
   */
  wants({ parentSlot }: DecodedBlock, head: SlotRow | null): boolean {
    const { forForks, forGaps } = this.#undoPolicy
    if (forGaps && head !== null && parentSlot !== null && parentSlot > head.slot)
      this.#gapAt ??= head.slot + 1
    return forForks || this.#gapAt !== null
  }

  /** Records a committed block, and deletes undo data that is no longer needed. */
  async committed(head: SlotRow, kept: KeptBlock | undefined): Promise<void> {
    const { slot } = head
    if (kept !== undefined) this.#oldest ??= placeOf(kept)
    if (this.#oldest === null) return
    this.#weight += weightOf(head)
    if (this.#gapAt !== null && slot - this.#gapAt >= GAP_SLOTS) {
      const since = this.#gapAt
      this.#gapAt = null
      this.#logger.warn({ since }, `gaps since slot ${since} were not closed in time: they stay`)
    }
    if (this.#gapAt !== null) return
    if (this.#undoPolicy.forForks) {
      const isLong = slot - this.#oldest.slot >= UNDO_SLOTS + FORGET_SLOTS
      if (isLong && this.#weight > UNDO_WEIGHT_MAX) await this.#lighten(slot, this.#oldest.slot)
    } else await this.#forget(slot)
  }

  /** Rereads the oldest kept block and the oldest gap in reach, after a change other than a commit. */
  async changed(coverage: Storage['coverage']): Promise<void> {
    await this.#readOldest()
    this.#weight = Infinity
    if (this.#oldest === null || !this.#undoPolicy.forGaps) return
    const [gap] = await coverage.gaps({ after: this.#oldest.after, limit: 1 })
    this.#gapAt = gap?.from ?? null
  }

  /** Yields the kept blocks after a slot, oldest first. */
  async *blocks(after: number | null = null): AsyncGenerator<KeptBlock> {
    for (let from = after; ;) {
      const blocks = await this.#history.after(from, BLOCKS_PER_READ)
      yield* blocks
      if (blocks.length < BLOCKS_PER_READ) return
      from = blocks.at(-1)!.block.slot
    }
  }

  /** Weighs the blocks from the head backwards, and deletes those beyond the limit. */
  async #lighten(head: number, oldest: number): Promise<void> {
    let weight = 0
    for (let last = head; last >= oldest; last -= SLOTS_PER_READ) {
      const rows = await this.#blocks.between(Math.max(oldest, last - SLOTS_PER_READ + 1), last)
      for (const row of rows.toReversed()) {
        if (head - row.slot >= UNDO_SLOTS && weight + weightOf(row) > UNDO_WEIGHT_LEFT) {
          this.#weight = weight
          await this.#forget(row.slot)
          return
        }
        weight += weightOf(row)
      }
    }
    this.#weight = weight
  }

  async #forget(until: number): Promise<void> {
    await this.#history.forget(until)
    await this.#readOldest()
  }

  async #readOldest(): Promise<void> {
    const [oldest] = await this.#history.after(null, 1)
    this.#oldest = oldest === undefined ? null : placeOf(oldest)
    if (this.#oldest === null) this.#gapAt = null
  }
}

function placeOf({ block, before }: KeptBlock): { slot: number; after: number } {
  return { slot: block.slot, after: before.head?.slot ?? -1 }
}

const weightOf = ({ events }: SlotRow): number => 1 + events
