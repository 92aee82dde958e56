import PQueue from 'p-queue'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { assertFollows, isStored } from '../block-order.ts'
import type { BlockCommit } from '../port.ts'
import { AmendmentWriter } from './amendment-writer.ts'
import type { Change } from './amendment-writer.ts'
import type { ScyllaBase } from './base.ts'
import { bytesOf, groupSizeOf, packedGroup, type GivenBlock, type PackedBlock } from './commit-group.ts'
import { COMMITS_MAX } from './version.ts'
import type { Version } from './version.ts'
import { FencedWriter } from './fenced-writer.ts'
import { closed, superseded } from './errors.ts'
import { Flushes } from './flushes.ts'
import type { FlushOptions } from './flushes.ts'
import { journalBatches, packedBlock } from './journal-rows.ts'
import { keptRows } from './kept-blocks.ts'
import type { KeptBlocks } from './kept-blocks.ts'
import { MemtableBlock } from './memtable.ts'
import { WriterClaim } from './writer-claim.ts'
import type { WriterClaimOptions } from './writer-claim.ts'
import { Snapshot } from './visibility.ts'
import { commitStatement, forgetStatement } from './watermark.ts'

/** Batches of the journal under way at once, of half a megabyte at most, which the server holds in memory. */
const BATCHES_AT_ONCE = 8
/** Commits and changes that wait for those under way; a further one is refused. */
const COMMITS_WAITING_MAX = 64

export interface BlockWriterOptions extends FlushOptions, WriterClaimOptions {}

/**
 * Writes blocks in their order. Each goes to the journal, which makes it durable and visible. Several together go to the
 * tables later, while further blocks come (`flushes.ts`). Blocks that wait together share the watermark of the last of them.
 * Amendments of earlier blocks come between them (`amendment-writer.ts`).
 *
 * W1. All of a block is acknowledged by a majority before its watermark is written, and nothing of it is visible before. The
 *     same holds for the rows of a flush and of an amendment. Until then the journal has the blocks.
 * W2. A watermark is conditional on the claim: a writer that has lost it makes nothing visible.
 * W3. A commit, a flush or an amendment that fails ends its epoch, so that no later one of ours makes a part of it visible.
 *     All blocks of the commit have then failed, and so have those that were to follow them.
 * W4. Nodes that die may forget their last acknowledged writes. Writes sent before the loss of a node are sent again
 *     (`fenced-writer.ts`). A watermark is conditional on the one before, so that forgotten writes are detected.
 * W5. A new claimant continues with the blocks that the previous writer has not flushed.
 * W6. Blocks of a group share a watermark, so that none of them is visible without the others.
 */
export class BlockWriter {
  readonly #base: ScyllaBase
  readonly #options: BlockWriterOptions
  readonly #fencedWriter: FencedWriter
  readonly #writerClaim: WriterClaim
  readonly #flushes: Flushes
  readonly #amendmentWriter: AmendmentWriter
  /** Accepted operations, in order. */
  readonly #turns = new PQueue({ concurrency: 1 })
  #waiting = 0
  /** Blocks that wait for their commit, if no other operation was accepted after them. */
  #gathering: GivenBlock[] | null = null
  #isClosed = false

  constructor(base: ScyllaBase, options: BlockWriterOptions) {
    this.#base = base
    this.#options = options
    this.#fencedWriter = new FencedWriter(base.client)
    this.#writerClaim = new WriterClaim(base, options)
    this.#flushes = new Flushes(base, this.#writerClaim, this.#fencedWriter, options)
    this.#amendmentWriter = new AmendmentWriter(base, this.#writerClaim, this.#fencedWriter, options.reached)
  }

  /** Estimated bytes of records in memory. */
  get recordBytes(): number {
    return this.#writerClaim.committed.bytes
  }

  claim(token: number | null): Promise<SlotRow | null> {
    return this.#inTurn(async () => {
      const head = await this.#writerClaim.claim(token)
      this.#flushes.begin()
      return head
    })
  }

  confirmClaim(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#hold()
      await this.#writerClaim.confirm()
    })
  }

  /** Commits a block. With `isWithNext` it becomes visible together with the next one, which is given in the same turn. */
  commit(block: BlockCommit, kept?: KeptBlock, after?: number, isWithNext = false): Promise<boolean> {
    return this.#accept(() => {
      const given = { block, kept, after, isWithNext, ...Promise.withResolvers<boolean>() }
      if (this.#gathering === null) {
        const gathering = (this.#gathering = [given])
        void this.#next(() => this.#commitAll(gathering))
      } else this.#gathering.push(given)
      return given.promise
    })
  }

  /** Amends the stored blocks up to the head, after all of them are in the tables. */
  amend(change: Change): Promise<void> {
    return this.#inTurn(async () => {
      for (;;) {
        await this.#hold()
        if (this.#flushes.isDone) break
        // If it fails, the next attempt to hold the claim throws the error.
        await this.#flushes.run().catch(() => undefined)
      }
      this.#flushes.tidyUp(await this.#amendmentWriter.amend(change))
    })
  }

  /** Forgets kept blocks up to a slot: those written so far. */
  forget(kept: KeptBlocks, until: number): Promise<void> {
    return this.#inTurn(async () => {
      if (!(await kept.hasUntil(until))) return
      await this.#hold()
      const { client } = this.#base
      const { epoch, newest } = this.#writerClaim
      const forgotten = { until, epoch: epoch!, number: newest }
      const { applied } = await client.persist(() => client.conditional([forgetStatement(forgotten)]))
      if (!applied) {
        const error = superseded()
        this.#writerClaim.end(epoch, error)
        throw error
      }
      this.#options.reached('kept.forgotten')
      await this.#base.refresh()
      await kept.delete(forgotten)
    })
  }

  /**
   * Refuses later operations; resolves once accepted ones are done or have failed. Blocks that are not in the tables by then
   * are in the journal.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#flushes.close(this.#turns.onIdle())
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    return this.#accept(() => {
      this.#gathering = null
      return this.#next(run)
    })
  }

  #accept<T>(start: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closed())
    if (this.#waiting >= COMMITS_WAITING_MAX) return Promise.reject(overfull())
    this.#waiting++
    return start().finally(() => this.#waiting--)
  }

  #next<T>(run: () => Promise<T>): Promise<T> {
    return this.#turns.add(async () => {
      // An idle queue begins within `add`: blocks that come in the same tick are to share a watermark.
      await Promise.resolve()
      return run()
    })
  }

  /** Commits blocks in their order, in groups as large as possible, and answers each of them in that order. */
  async #commitAll(given: GivenBlock[]): Promise<void> {
    if (this.#gathering === given) this.#gathering = null
    while (given.length > 0) {
      // A failure before anything is packed concerns only the first block.
      let together = 1
      try {
        const group = await this.#group(given)
        together = Math.max(1, group.length)
        if (group.length > 0) await this.#commit(group)
        for (const { resolve } of given.splice(0, together)) resolve(group.length > 0)
      } catch (error) {
        for (const { reject } of given.splice(0, together)) reject(error)
      }
    }
  }

  /** The first blocks, packed, that can share a watermark; empty if the first one is stored already. */
  async #group(given: readonly GivenBlock[]): Promise<PackedBlock[]> {
    const { visibility } = this.#base
    const [first] = given
    // A process that lost the claim earlier must not claim again for this block.
    if (!isStored(first!.block, visibility.committed.head))
      assertFollows(first!.after, visibility.committed.head)
    for (;;) {
      await this.#hold()
      const { head } = visibility.committed
      if (isStored(first!.block, head)) return []
      assertFollows(first!.after, head)
      if (this.#flushes.hasRoom(groupSizeOf(given))) break
      // If it fails, the next attempt to hold the claim throws the error.
      await this.#flushes.run().catch(() => undefined)
    }
    return packedGroup(given, this.#flushes.room, (each, place) => this.#packed(each, place))
  }

  #packed({ block, kept }: GivenBlock, place: number): PackedBlock {
    const version = this.#version(place)
    const bytes = packedBlock(version.number, block)
    return { version, block, bytes, kept: kept === undefined ? [] : keptRows(version, kept) }
  }

  async #commit(group: readonly PackedBlock[]): Promise<void> {
    const { visibility } = this.#base
    const { committed: before } = visibility
    const { version, block } = group.at(-1)!
    try {
      await this.#write(group, before)
    } catch (error) {
      this.#writerClaim.end(version.epoch, error) // W3
      throw error
    }
    const { reached } = this.#options
    reached('commit.visible')
    this.#writerClaim.newest = version.number
    visibility.advance(
      { committed: new Snapshot(version, block.slot, before.ended), flushed: visibility.snapshot },
      group.map((each) => new MemtableBlock(each.version, each.block, bytesOf(each)))
    )
    reached('commit.published')
    this.#flushes.beginIfDue()
  }

  async #hold(): Promise<void> {
    if (await this.#writerClaim.hold()) this.#flushes.begin()
  }

  /** Version of the block at a place among those that are written next. */
  #version(place: number): Version {
    const version = { epoch: this.#writerClaim.epoch!, number: this.#writerClaim.newest + 1 + place }
    if (version.number > COMMITS_MAX)
      throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store has no number left for a commit')
    return version
  }

  /** Writes blocks to the journal, with their undo data, and then the watermark of the last. */
  async #write(group: readonly PackedBlock[], before: Snapshot): Promise<void> {
    const { reached } = this.#options
    const { version, block } = group.at(-1)!
    reached('commit.staged')
    const points = {
      halfway: 'commit.journalling',
      written: 'commit.journalled',
      deciding: 'commit.deciding'
    } as const
    // Pieces of kept blocks may be many times as large as a batch is allowed to be: each is sent alone.
    const kept = group.flatMap(({ kept }) => kept.map((row) => [row]))
    await this.#fencedWriter.write({
      batches: [...journalBatches(group), ...kept],
      atOnce: BATCHES_AT_ONCE,
      watermark: commitStatement(version, block.slot, before.epoch === version.epoch ? before.lastCommit : 0),
      isDecided: () => this.#writerClaim.isDecided(version, 'committed'),
      reached: (point) => reached(points[point])
    })
  }
}

const overfull = (): ServiceError =>
  new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `${COMMITS_WAITING_MAX} commits wait for the store`)
