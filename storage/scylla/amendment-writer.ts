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

/** Batches under way at once: some are pieces of kept blocks, of half a megabyte each, which the server holds in memory. */
const BATCHES_AT_ONCE = 16

/** An amendment of blocks that are in the tables. */
export interface Change {
  /** The newest slot there is after it. */
  readonly head: SlotRow | null
  /** Whether it takes slots out: they may come again with other rows. */
  readonly takesBack: boolean
  /** Adds what it writes to the tables, after reading what that needs. */
  readonly stage: (commit: TableCommit) => Promise<void>
  /** Writes to the tables of undo data. */
  readonly historyRows: (version: Version) => readonly RowWrite[]
}

/**
 * Changes what the tables have of earlier blocks, once they have all that is committed.
 *
 * A1. An amendment is the first commit of an epoch: its rows lie beside those that they replace, so that what was and what
 *     is to be are both there until the watermark decides. Where it takes slots out it is the only one: blocks that come again
 *     would write over what says that their rows are gone, or not, as the times of blocks decide for rows that expire.
 * A2. Both watermarks of the epoch move with one conditional write, and the head and the number of the amendment with them:
 *     all of it counts at once, or nothing ever does.
 * A3. Its number is that of no block: the journal has a hole there, and nobody who reads it passes over what has changed.
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

  /** Makes a change; resolves with what tidies up after it. A failure ends the epoch (W3). */
  async amend(change: Change): Promise<readonly RowWrite[]> {
    const epoch = await this.#writerClaim.renew('amend.claimed')
    try {
      const commit = await this.#write({ epoch, number: this.#writerClaim.newest + 1 }, change)
      this.#publish(commit, change.head)
      if (change.takesBack) this.#writerClaim.complete(epoch)
      return commit.tidying
    } catch (error) {
      this.#writerClaim.end(epoch, error)
      throw error
    }
  }

  async #write(version: Version, { head, stage, historyRows }: Change): Promise<TableCommit> {
    const { memtable, snapshot } = this.#base.visibility
    // All was in the tables before the claim.
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
