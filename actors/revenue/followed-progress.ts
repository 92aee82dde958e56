import type { LedgerBlock } from '../../src/revenue/ledger-blocks.ts'
import type { LedgerMetrics } from '../../src/revenue/metrics.ts'
import {
  documentsToOf,
  holesOf,
  ledgerProgressIn,
  NO_PROGRESS,
  plusHoles,
  type LedgerHoleRange,
  type LedgerProgress
} from '../../src/revenue/ledger-progress.ts'
import type { Clock } from '../../src/ports.ts'
import type { Storage } from '../../storage/port.ts'

/** Interval of storing the progress while no block has entries, in milliseconds: a restart rereads the blocks since then. */
export const PROGRESS_SAVE_MS = 2_000

/**
 * The progress of the ledger, as its follower has advanced it and as it is stored. Clients see rows up to the stored progress.
 */
export class FollowedProgress {
  readonly #clock: Pick<Clock, 'now'>
  readonly #metrics: Pick<LedgerMetrics, 'holes'>
  #current = NO_PROGRESS
  #save: (progress: LedgerProgress) => Promise<void> = async () => undefined
  #isOurs: (() => Promise<boolean>) | null = null
  #isSaved = true
  #savedAtMs = 0
  #visibleSlot: number | null = null

  constructor(clock: Pick<Clock, 'now'>, metrics: Pick<LedgerMetrics, 'holes'>) {
    this.#clock = clock
    this.#metrics = metrics
  }

  get current(): LedgerProgress {
    return this.#current
  }

  /** The slot of the stored progress; null before the first. */
  get visibleSlot(): number | null {
    return this.#visibleSlot
  }

  get isSaved(): boolean {
    return this.#isSaved
  }

  /** Whether the progress should be stored now: at intervals, and at once after entries. */
  get isDue(): boolean {
    return !this.#isSaved && this.#clock.now() >= this.#savedAtMs + PROGRESS_SAVE_MS
  }

  /** The number of the next change of entries that were stored, or could have been. */
  get nextEdits(): number {
    return (this.#current.edits ?? 0) + 1
  }

  /** Resolves with whether this process is still the only writer; null if no other process can write. */
  get isOurs(): (() => Promise<boolean>) | null {
    return this.#isOurs
  }

  /** Announces this process as the writer, and adopts the stored progress. Rejects with the store's error. */
  async claim(
    { documents, isShared }: Pick<Storage, 'documents' | 'isShared'>,
    token: number
  ): Promise<Pick<FollowedProgress, 'current' | 'isOurs'>> {
    const { progress, save, isOurs } = await ledgerProgressIn(documents).claim(token)
    this.#save = save
    this.#isOurs = isShared ? isOurs : null
    const documentsTo = documentsToOf(progress)
    // Infinity stands for a version that wrote documents alone: the follower finds their end.
    const known = documentsTo < Infinity ? { documentsTo } : {}
    this.#current = { ...progress, ...known, holes: [...holesOf(progress)] }
    this.#visibleSlot = progress.slot
    return this
  }

  /** Advances to a block whose entries are stored. */
  advance(block: LedgerBlock): void {
    const { slot, blockhash, blockTime } = block
    this.#current = { ...this.#current, slot, blockhash, blockTime, holes: this.holesWith(block) }
    this.#isSaved = false
  }

  /** Makes the next store of the progress due at once: clients wait for entries. */
  hurry(): void {
    this.#savedAtMs = -Infinity
  }

  /** Stores a progress in place of the current one. */
  async put(progress: LedgerProgress): Promise<void> {
    await this.#save(progress)
    this.#current = progress
    this.#visibleSlot = progress.slot
    this.#isSaved = true
    this.#savedAtMs = this.#clock.now()
  }

  /** The holes of the ledger together with those of a block. */
  holesWith({ slot, changes: { holes } }: LedgerBlock): LedgerHoleRange[] {
    for (const reason of holes) this.#metrics.holes.inc({ reason })
    return [...plusHoles(holesOf(this.#current), slot, holes)]
  }
}
