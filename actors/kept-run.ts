import type { DecodedBlock } from '../src/market/block.ts'
import type { KeptBlock } from '../src/market/kept-block.ts'
import type { SlotRow } from '../src/market/rows.ts'
import type { Logger } from '../src/telemetry.ts'
import type { History, Storage } from '../storage/port.ts'

/**
 * Newest blocks behind an inserted one whose undo data an amendment corrects. Forks at `processed` end within this many
 * slots: 32 blocks with votes make one final, and 150 leave room for skipped slots and slow votes.
 */
export const FORK_SLOTS = 150
/** Slots for which a gap can be closed: ten minutes, as folding them again takes some seconds. */
export const GAP_SLOTS = 1_500
/** How far a chain that was put back can be followed, as long as a gap: at most 0.5 MB a block, 750 MB on the disk. */
export const UNDO_SLOTS = GAP_SLOTS
/** Blocks that are no longer needed are forgotten so many slots at a time. */
const FORGET_SLOTS = 50
const BLOCKS_PER_READ = 16

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
 * N2. It begins after a gap that may be closed, or is `UNDO_SLOTS` long; without either there is none.
 * N3. A gap that is open for longer than `GAP_SLOTS` stays one, and is said to.
 */
export class KeptRun {
  readonly #history: History
  readonly #keeping: Keeping
  readonly #logger: Pick<Logger, 'warn'>
  /** The first block kept and the slot committed before it, -1 for none; null without a run. */
  #oldest: { readonly slot: number; readonly after: number } | null = null
  /** The first slot of a gap that may be closed. */
  #gapAt: number | null = null

  private constructor(history: History, keeping: Keeping, logger: Pick<Logger, 'warn'>) {
    this.#history = history
    this.#keeping = keeping
    this.#logger = logger
  }

  /** The run as the store has it; what does not reach to the head is none. */
  static async open(
    storage: Pick<Storage, 'history' | 'coverage'>,
    head: SlotRow | null,
    keeping: Keeping,
    logger: Pick<Logger, 'warn'>
  ): Promise<KeptRun> {
    const { history } = storage
    const run = new KeptRun(history, keeping, logger)
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
  async committed(slot: number, kept: KeptBlock | undefined): Promise<void> {
    if (kept !== undefined) this.#oldest ??= placeOf(kept)
    if (this.#oldest === null) return
    if (this.#gapAt !== null && slot - this.#gapAt >= GAP_SLOTS) {
      const since = this.#gapAt
      this.#gapAt = null
      this.#logger.warn({ since }, `gaps since slot ${since} were not closed in time: they stay`)
    }
    if (this.#gapAt !== null) return
    const until = this.#keeping.forForks ? slot - UNDO_SLOTS : slot
    if (this.#keeping.forForks && until - this.#oldest.slot < FORGET_SLOTS) return
    await this.#history.forget(until)
    await this.#readOldest()
  }

  /** Takes note of what the store has come to beside commits: of blocks kept, and of gaps that the run reaches behind. */
  async changed(coverage: Storage['coverage']): Promise<void> {
    await this.#readOldest()
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

  async #readOldest(): Promise<void> {
    const [oldest] = await this.#history.after(null, 1)
    this.#oldest = oldest === undefined ? null : placeOf(oldest)
    if (this.#oldest === null) this.#gapAt = null
  }
}

function placeOf({ block, before }: KeptBlock): { slot: number; after: number } {
  return { slot: block.slot, after: before.head?.slot ?? -1 }
}
