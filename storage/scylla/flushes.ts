import PQueue from 'p-queue'
import { RECORD_NAMES } from '../../src/market/records.ts'
import type { ScyllaCrashPoint } from '../crash-points.ts'
import type { ScyllaBase } from './base.ts'
import { batchesOf } from './row-write.ts'
import { Commit } from './commit.ts'
import type { RowWrite } from './row-write.ts'
import type { FencedWriter } from './fenced-writer.ts'
import { superseded } from './errors.ts'
import { journalDeletions, partOf } from './journal-rows.ts'
import { mergedBlocks } from './merged-blocks.ts'
import type { WriterClaim } from './writer-claim.ts'
import { Snapshot } from './visibility.ts'
import { flushStatement } from './watermark.ts'

/** Batches of a flush in flight at once: more only wait in the server's queue, in front of reads. */
const BATCHES_AT_ONCE = 64
/** Maximum packed bytes of blocks that are not in the tables. A flush begins at half of it; a commit waits at the limit. */
const MEMTABLE_BYTES_MAX = 32 * 2 ** 20
/** Maximum waiting cleanup writes; further ones are dropped. */
const TIDYING_MAX = 1_000

export interface FlushOptions {
  /** Adds the writes of blocks to their commit, after the reads that they need. */
  readonly stage: (commit: Commit) => Promise<void>
  readonly reached: (point: ScyllaCrashPoint) => void
  /** A flush begins at this number of blocks; at twice as many commits wait for it. */
  readonly flushBlocks: number
}

/** Writes committed blocks to the tables, some together, while further ones come. */
export class Flushes {
  readonly #base: ScyllaBase
  readonly #writerClaim: WriterClaim
  readonly #fencedWriter: FencedWriter
  readonly #options: FlushOptions
  readonly #tidying = new PQueue({ concurrency: 4 })
  /** The flush in flight, with its epoch: a flush of an ended epoch no longer counts. */
  #inFlight: { readonly epoch: number; readonly done: Promise<void> } | null = null
  /** The partition of the journal up to which this writer has deleted. */
  #deletedPart = -1
  #isClosed = false

  constructor(base: ScyllaBase, writerClaim: WriterClaim, fencedWriter: FencedWriter, options: FlushOptions) {
    this.#base = base
    this.#writerClaim = writerClaim
    this.#fencedWriter = fencedWriter
    this.#options = options
  }

  /** Tells whether the memtable has reached a fraction of its limit. */
  isFilled(part: number): boolean {
    const { blocks, bytes } = this.#base.visibility.memtable
    return blocks.length >= 2 * this.#options.flushBlocks * part || bytes >= MEMTABLE_BYTES_MAX * part
  }

  /** The number of further blocks that the memtable takes. */
  get room(): number {
    return this.isFilled(1) ? 0 : 2 * this.#options.flushBlocks - this.#base.visibility.memtable.blocks.length
  }

  /** Tells whether the memtable takes some blocks at once. An empty one takes any group. */
  hasRoom(blocks: number): boolean {
    return this.room >= blocks || this.#base.visibility.memtable.blocks.length === 0
  }

  /** Whether the tables have all committed blocks, and no flush is in flight. */
  get isDone(): boolean {
    return this.#current === null && this.#base.visibility.memtable.blocks.length === 0
  }

  beginIfDue(): void {
    if (this.#writerClaim.epoch === null || this.#isClosed || !this.isFilled(0.5)) return
    this.run().catch(() => undefined)
  }

  /** Begins a flush of the present blocks, if any (W5). */
  begin(): void {
    if (this.#base.visibility.memtable.blocks.length > 0) this.run().catch(() => undefined)
  }

  /**
   * Writes the blocks to the tables that they do not have. One flush runs at a time; callers meanwhile wait for that one.
   */
  run(): Promise<void> {
    const current = this.#current
    if (current !== null) return current
    const epoch = this.#writerClaim.epoch!
    const done: Promise<void> = this.#flushTail(epoch)
      .catch((error: unknown) => {
        this.#writerClaim.fail(epoch, error as Error) // W3
        throw error
      })
      .finally(() => {
        if (this.#inFlight?.done !== done) return
        this.#inFlight = null
        this.beginIfDue()
      })
    this.#inFlight = { epoch, done }
    return done
  }

  /** Stops automatic flushes. After accepted operations are done, flushes all remaining blocks. */
  async close(done: Promise<void>): Promise<void> {
    this.#isClosed = true
    await done
    const flushAll = async (): Promise<void> => {
      while (this.#writerClaim.epoch !== null && this.#base.visibility.memtable.blocks.length > 0)
        await this.run()
    }
    if (this.#writerClaim.epoch !== null && this.#base.client.outages.current === null)
      await flushAll().catch(() => undefined)
    this.#tidying.clear()
    await this.#tidying.onIdle()
  }

  /** Sends writes that are not awaited. */
  tidyUp(rows: readonly RowWrite[]): void {
    for (const row of rows) {
      if (this.#tidying.size >= TIDYING_MAX) return
      // Readers pass over rows that are left behind.
      void this.#tidying.add(() => this.#base.client.write([row])).catch(() => undefined)
    }
  }

  get #current(): Promise<void> | null {
    const { epoch } = this.#writerClaim
    return epoch !== null && this.#inFlight?.epoch === epoch ? this.#inFlight.done : null
  }

  async #flushTail(epoch: number): Promise<void> {
    const { visibility } = this.#base
    const { memtable, snapshot: before } = visibility
    const last = memtable.blocks.at(-1)
    if (last === undefined) return
    // A query may have found a block of this writer before the writer did, and read its slot alone.
    await memtable.readBy((...read) => this.#base.client.readEachThrough(...read))
    // A claimant's blocks are those of the writer before it.
    await memtable.decoded(RECORD_NAMES, null)
    const blocks = mergedBlocks(memtable.blocks.map(({ block }) => block))
    const commit = new Commit({ epoch, number: last.number }, blocks, before, this.#writerClaim.committed)
    const { reached, stage } = this.#options
    await stage(commit)
    reached('flush.staged')
    const points = { halfway: 'flush.writing', written: 'flush.written', deciding: 'flush.deciding' } as const
    await this.#fencedWriter.write({
      batches: commit.writes.flatMap(batchesOf),
      atOnce: BATCHES_AT_ONCE,
      watermark: flushStatement(commit, blocks.newest, before.epoch === epoch ? before.lastCommit : 0),
      isDecided: () => this.#writerClaim.isDecided(commit, 'flushed'),
      reached: (point) => reached(points[point])
    })
    // The next claimant finds out about an epoch that has ended meanwhile.
    if (this.#writerClaim.epoch !== epoch) return
    reached('flush.visible')
    // A query has seen another process's claim. Its state is newer than this flush, so this writer continues from there.
    if (visibility.committed.epoch !== epoch) throw superseded()
    const flushed = new Snapshot(commit, blocks.newest, before.ended)
    visibility.advance({ committed: visibility.committed, flushed })
    commit.becomeVisible()
    reached('flush.published')
    this.tidyUp(commit.tidying)
    this.#deleteBefore(commit.number)
  }

  #deleteBefore(flushed: number): void {
    const part = partOf(flushed)
    if (part === this.#deletedPart) return
    this.#deletedPart = part
    this.tidyUp(journalDeletions(flushed))
  }
}
