import type { SlotRow } from '../../src/market/rows.ts'
import type { ScyllaCrashPoint } from '../crash-points.ts'
import type { ScyllaBase } from './base.ts'
import { batchesOf } from './row-write.ts'
import { TableCommit } from './commit.ts'
import type { RowWrite } from './row-write.ts'
import type { Version } from './version.ts'
import type { FencedWriter } from './fenced-writer.ts'
import { forgotten } from './errors.ts'
import type { WriterClaim } from './writer-claim.ts'
import { Snapshot } from './visibility.ts'
import { amendmentStatement } from './watermark.ts'

/** Batches in flight at once. Some are pieces of kept blocks, of half a megabyte each, which the server holds in memory. */
const BATCHES_AT_ONCE = 16

/** An amendment of blocks that are in the tables. */
export interface Change {
  /** The newest slot after the amendment. */
  readonly head: SlotRow | null
  /** Whether it removes slots: they may come again with other rows. */
  readonly removesSlots: boolean
  /** Adds its writes to the tables' commit, after the reads that they need. */
  readonly stage: (commit: TableCommit) => Promise<void>
  /** Writes to the tables of undo data. */
  readonly historyRows: (version: Version) => readonly RowWrite[]
}

/**
 * Changes the tables' records of earlier blocks, once the tables have all committed blocks.
 *
 * A1. An amendment is the first commit of an epoch. Its rows lie next to those that they replace, so that both exist until
 *     the watermark decides. If it removes slots, it is the only commit of the epoch. Otherwise returning blocks could
 *     overwrite the rows that mark removed ones, because rows that expire are ordered by block times.
 * A2. Both watermarks of the epoch, the head and the number of the amendment move with one conditional write: all of it
 *     counts at once, or nothing ever does.
 * A3. No block has its number: the journal has a hole there, so that no reader of the journal misses the change.
 */
export class AmendmentWriter {
  readonly #base: ScyllaBase
  readonly #writerClaim: WriterClaim
  readonly #fencedWriter: FencedWriter
  readonly #reached: (point: ScyllaCrashPoint) => void

  constructor(
    base: ScyllaBase,
    writerClaim: WriterClaim,
    fencedWriter: FencedWriter,
    reached: (point: ScyllaCrashPoint) => void
  ) {
    this.#base = base
    this.#writerClaim = writerClaim
    this.#fencedWriter = fencedWriter
    this.#reached = reached
  }

  /** Makes a change; resolves with the writes that clean up after it. A failure ends the epoch (W3). */
  async amend(change: Change): Promise<readonly RowWrite[]> {
    const epoch = await this.#writerClaim.renew('amend.claimed')
    try {
      const commit = await this.#write({ epoch, number: this.#writerClaim.newest + 1 }, change)
      this.#publish(commit, change.head)
      if (change.removesSlots) this.#writerClaim.complete(epoch)
      return commit.tidying
    } catch (error) {
      this.#writerClaim.end(epoch, error)
      throw error
    }
  }

  async #write(version: Version, { head, stage, historyRows }: Change): Promise<TableCommit> {
    const { memtable, snapshot } = this.#base.visibility
    // All blocks were in the tables before the claim.
    if (memtable.blocks.length > 0) throw forgotten()
    const { blockTime } = head ?? snapshot.head ?? { blockTime: 0 }
    const commit = new TableCommit(version, blockTime, snapshot, this.#writerClaim.committed)
    await stage(commit)
    const rows = historyRows(version)
    const reached = this.#reached
    reached('amend.staged')
    const points = { halfway: 'amend.writing', written: 'amend.written', deciding: 'amend.deciding' } as const
    await this.#fencedWriter.write({
      batches: [...commit.writes.flatMap(batchesOf), ...rows.map((row) => [row])],
      atOnce: BATCHES_AT_ONCE,
      watermark: amendmentStatement(version, head),
      isDecided: () => this.#writerClaim.isDecided(version, 'committed'),
      reached: (point) => reached(points[point])
    })
    return commit
  }

  #publish(commit: TableCommit, head: SlotRow | null): void {
    this.#reached('amend.visible')
    this.#writerClaim.newest = commit.number
    const { visibility } = this.#base
    const { committed, snapshot } = visibility
    // A query may have seen that another process claims: then it knows of this, too.
    if (committed.epoch === commit.epoch)
      visibility.advance({
        committed: new Snapshot(commit, head, committed.ended),
        flushed: new Snapshot(commit, head, snapshot.ended),
        amended: commit.number
      })
    commit.becomeVisible()
    this.#reached('amend.published')
  }
}
