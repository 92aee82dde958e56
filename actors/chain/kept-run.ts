import type { DecodedBlock } from '../../src/market/block.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import type { BlockStore, History, Storage } from '../../storage/port.ts'

/**
 * Newest blocks behind an inserted one whose undo data an amendment corrects. Forks at `processed` end within this many
 * slots: 32 blocks with votes make one final, and 150 leave room for skipped slots and slow votes.
 */
export const FORK_SLOTS = 150
/** Slots for which a gap can be closed: ten minutes, as folding them again takes some seconds. */
export const GAP_SLOTS = 1_500
/** How far a chain that was put back can be followed at least, as long as a gap: at most 0.5 MB a block, 750 MB on the disk. */
export const UNDO_SLOTS = GAP_SLOTS
/**
 * Blocks older than that are kept while all of them weigh so much at most: a block weighs one, and one for each event.
 * That is 1,700 of the recorded mainnet block, or eleven hours of blocks without an event. Either weighs 0.2 to 0.5 KB
 * on the disk, and a rollback holds all of it in memory.
 */
export const UNDO_WEIGHT_MAX = 100_000
/** At the limit a part is forgotten at once, so that blocks are not weighed again with each that comes. */
const UNDO_WEIGHT_LEFT = UNDO_WEIGHT_MAX - UNDO_WEIGHT_MAX / 32
/** Slots whose rows are read at once where blocks are weighed: some 2 MB. */
const SLOTS_PER_READ = 10_000
/** Blocks that are no longer needed are forgotten so many slots at a time. */
const FORGET_SLOTS = 50
const BLOCKS_PER_READ = 16

type RunStorage = Pick<Storage, 'history'> & { readonly blocks: Pick<BlockStore, 'between'> }

/** What blocks are kept for. */
export interface Keeping {
  /** Whether blocks can be lost to a fork after they were committed. */
  readonly forForks: boolean
  /** Whether somebody looks for blocks that were given up. */
  readonly forGaps: boolean
}

export const NOTHING_KEPT: Keeping = { forForks: false, forGaps: false }

/**
 * The run of newest blocks that are kept with what they were folded on.
 *
 * N1. It ends at the head and has no hole: what is stored after its first block's parent is all in it.
 * N2. It begins after a gap that may be closed, or is `UNDO_SLOTS` long, and longer while it weighs `UNDO_WEIGHT_MAX` at
 *     most; without either there is none.
 * N3. A gap that is open for longer than `GAP_SLOTS` stays one, and is said to.
 */
export class KeptRun {
  readonly #history: History
  readonly #blocks: Pick<BlockStore, 'between'>
  readonly #keeping: Keeping
  readonly #logger: Pick<Logger, 'warn'>
  /** The first block kept and the slot committed before it, -1 for none; null without a run. */
  #oldest: { readonly slot: number; readonly after: number } | null = null
  /** The first slot of a gap that may be closed. */
  #gapAt: number | null = null
  /** The weight of the run, or more; infinite where it is not known. */
  #weight = Infinity

  private constructor({ history, blocks }: RunStorage, keeping: Keeping, logger: Pick<Logger, 'warn'>) {
    this.#history = history
    this.#blocks = blocks
    this.#keeping = keeping
    this.#logger = logger
  }

  /** The run as the store has it; what does not reach to the head is none. */
  static async open(
    storage: RunStorage & Pick<Storage, 'coverage'>,
    head: SlotRow | null,
    keeping: Keeping,
    logger: Pick<Logger, 'warn'>
  ): Promise<KeptRun> {
    const { history } = storage
    const run = new KeptRun(storage, keeping, logger)
    if (head === null) return run
    const [newest] = await history.after(head.slot - 1, 1)
    if (newest?.block.slot !== head.slot) {
      await history.forget(head.slot)
      return run
    }
    await run.changed(storage.coverage)
    return run
  }

  /** The slot committed before the first block kept, -1 for none; null without a run. */
  get after(): number | null {
    return this.#oldest?.after ?? null
  }

  /** Whether all that is stored of slots from this one on is kept. */
  reaches(slot: number): boolean {
    return this.#oldest !== null && this.#oldest.after < slot
  }

  /** Whether a block that is about to be committed after the head is kept; it opens a gap if others lie between. */
  wants({ parentSlot }: DecodedBlock, head: SlotRow | null): boolean {
    const { forForks, forGaps } = this.#keeping
    if (forGaps && head !== null && parentSlot !== null && parentSlot > head.slot)
      this.#gapAt ??= head.slot + 1
    return forForks || this.#gapAt !== null
  }

  /** Takes note of a block that was committed, and forgets those that nobody needs any more. */
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
    if (this.#keeping.forForks) {
      const isLong = slot - this.#oldest.slot >= UNDO_SLOTS + FORGET_SLOTS
      if (isLong && this.#weight > UNDO_WEIGHT_MAX) await this.#lighten(slot, this.#oldest.slot)
    } else await this.#forget(slot)
  }

  /** Takes note of what the store has come to beside commits: of blocks kept, and of gaps that the run reaches behind. */
  async changed(coverage: Storage['coverage']): Promise<void> {
    await this.#readOldest()
    this.#weight = Infinity
    if (this.#oldest === null || !this.#keeping.forGaps) return
    const [gap] = await coverage.gaps({ after: this.#oldest.after, limit: 1 })
    this.#gapAt = gap?.from ?? null
  }

  /** The blocks of the run after a slot, oldest first. */
  async *blocks(after: number | null = null): AsyncGenerator<KeptBlock> {
    for (let from = after; ;) {
      const blocks = await this.#history.after(from, BLOCKS_PER_READ)
      yield* blocks
      if (blocks.length < BLOCKS_PER_READ) return
      from = blocks.at(-1)!.block.slot
    }
  }

  /** Weighs the blocks from the head back to the oldest, and forgets those from which on they weigh too much. */
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
