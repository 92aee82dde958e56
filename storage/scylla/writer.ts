import { ServiceError } from '../../src/errors.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { BlockCommit } from '../port.ts'
import { Amending } from './amending.ts'
import type { Change } from './amending.ts'
import type { ScyllaBase } from './base.ts'
import { COMMITS_MAX } from './commit.ts'
import type { RowWrite, Version } from './commit.ts'
import { Deliveries } from './delivery.ts'
import { closed, superseded } from './errors.ts'
import { Flushes } from './flushes.ts'
import type { FlushOptions } from './flushes.ts'
import { journalRows, packedBlock } from './journal-rows.ts'
import { keptRows } from './kept-blocks.ts'
import type { KeptBlocks } from './kept-blocks.ts'
import { TailBlock } from './tail.ts'
import { Tenure } from './tenure.ts'
import type { TenureOptions } from './tenure.ts'
import { Snapshot } from './visibility.ts'
import { committing, forgetting } from './watermark.ts'

/** Pieces of a block in the journal under way at once, each of half a megabyte. Chosen. */
const PIECES_AT_ONCE = 4
/** Commits that wait for the one under way; a further one is refused. */
const COMMITS_WAITING_MAX = 64

export interface BlockWriterOptions extends FlushOptions, TenureOptions {}

/**
 * Writes blocks, one after another: each to the journal, which makes it durable and visible, and some together to the
 * tables while further ones come (`flushes.ts`). What changes of those before comes between them (`amending.ts`).
 *
 * W1. All of a block is acknowledged by a majority before its watermark is written, and nothing of it is visible before; so
 *     it is with the rows of a flush and of an amendment and theirs. Until then the journal has the blocks.
 * W2. A watermark is conditional on the claim: whoever has lost it makes nothing visible.
 * W3. A commit, a flush or an amendment that fails ends its epoch, so that no later one of ours makes a part of it visible.
 * W4. Nodes that die may forget the last they acknowledged: what was sent before one was lost is sent again (`delivery.ts`),
 *     and a watermark is conditional on the one before, so that what they have forgotten is found missing and not passed over.
 * W5. Who claims goes on with the blocks that the one before has not flushed.
 */
export class BlockWriter {
  readonly #base: ScyllaBase
  readonly #options: BlockWriterOptions
  readonly #deliveries: Deliveries
  readonly #tenure: Tenure
  readonly #flushes: Flushes
  readonly #amending: Amending
  /** Settles, always by resolving, after everything accepted so far. */
  #done: Promise<void> = Promise.resolve()
  #waiting = 0
  #isClosed = false

  constructor(base: ScyllaBase, options: BlockWriterOptions) {
    this.#base = base
    this.#options = options
    this.#deliveries = new Deliveries(base.client)
    this.#tenure = new Tenure(base, options)
    this.#flushes = new Flushes(base, this.#tenure, this.#deliveries, options)
    this.#amending = new Amending(base, this.#tenure, this.#deliveries, options.reached)
  }

  claim(token: number | null): Promise<SlotRow | null> {
    return this.#inTurn(async () => {
      const head = await this.#tenure.claim(token)
      this.#flushes.begin()
      return head
    })
  }

  commit(block: BlockCommit, kept?: KeptBlock): Promise<boolean> {
    return this.#inTurn(() => this.#commit(block, kept))
  }

  /** Changes what is stored of blocks up to the head, after all of them are in the tables. */
  amend(change: Change): Promise<void> {
    return this.#inTurn(async () => {
      for (;;) {
        await this.#hold()
        if (this.#flushes.isDone) break
        // Should it fail, the next turn says so.
        await this.#flushes.run().catch(() => undefined)
      }
      this.#flushes.tidyUp(await this.#amending.amend(change))
    })
  }

  /** Forgets kept blocks up to a slot: those that are written by now. */
  forget(kept: KeptBlocks, until: number): Promise<void> {
    return this.#inTurn(async () => {
      if (!(await kept.hasUntil(until))) return
      await this.#hold()
      const { client } = this.#base
      const { epoch, newest } = this.#tenure
      const forgotten = { until, epoch: epoch!, number: newest }
      const { applied } = await client.persist(() => client.conditional([forgetting(forgotten)]))
      if (!applied) {
        const error = superseded()
        this.#tenure.end(epoch, error)
        throw error
      }
      this.#options.reached('kept.forgotten')
      await this.#base.refresh()
      await kept.delete(forgotten)
    })
  }

  /**
   * Refuses what comes later; resolves once what was accepted is done or has failed. What the tables do not have by then
   * is in the journal.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#flushes.close(this.#done)
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closed())
    if (this.#waiting >= COMMITS_WAITING_MAX) return Promise.reject(overfull())
    this.#waiting++
    const turn = this.#done.then(run).finally(() => this.#waiting--)
    this.#done = turn.then(
      () => undefined,
      () => undefined
    )
    return turn
  }

  async #commit(block: BlockCommit, kept: KeptBlock | undefined): Promise<boolean> {
    const { visibility } = this.#base
    for (;;) {
      await this.#hold()
      const { head } = visibility.committed
      if (head !== null && block.slot.slot <= head.slot) return false
      if (!this.#flushes.isFilled(1)) break
      // Should it fail, the next turn says so.
      await this.#flushes.run().catch(() => undefined)
    }
    const { committed: before } = visibility
    const version = this.#next()
    let bytes: number
    try {
      bytes = await this.#write(version, block, kept, before)
    } catch (error) {
      this.#tenure.end(version.epoch, error) // W3
      throw error
    }
    const { reached } = this.#options
    reached('commit.visible')
    this.#tenure.newest = version.number
    visibility.advance(
      { committed: new Snapshot(version, block.slot, before.ended), flushed: visibility.snapshot },
      [new TailBlock(version, block, bytes)]
    )
    reached('commit.published')
    this.#flushes.beginIfDue()
    return true
  }

  async #hold(): Promise<void> {
    if (await this.#tenure.hold()) this.#flushes.begin()
  }

  #next(): Version {
    const version = { epoch: this.#tenure.epoch!, number: this.#tenure.newest + 1 }
    if (version.number > COMMITS_MAX)
      throw new ServiceError('STORAGE_UNAVAILABLE', 'the store has no number left for a commit')
    return version
  }

  /** Writes a block to the journal, with what is kept of it, and its watermark; resolves with its packed bytes. */
  async #write(
    version: Version,
    block: BlockCommit,
    kept: KeptBlock | undefined,
    before: Snapshot
  ): Promise<number> {
    const { reached } = this.#options
    const packed = packedBlock(version.number, block)
    const rows: RowWrite[] = journalRows(version, packed)
    if (kept !== undefined) rows.push(...keptRows(version, kept))
    reached('commit.staged')
    const points = {
      halfway: 'commit.journalling',
      written: 'commit.journalled',
      deciding: 'commit.deciding'
    } as const
    await this.#deliveries.deliver({
      // Each piece may be as large as a batch is allowed to be many times over: it goes alone.
      batches: rows.map((row) => [row]),
      atOnce: PIECES_AT_ONCE,
      watermark: committing(version, block.slot, before.epoch === version.epoch ? before.lastCommit : 0),
      isDecided: () => this.#tenure.isDecided(version, 'committed'),
      reached: (point) => reached(points[point])
    })
    return packed.length
  }
}

const overfull = (): ServiceError =>
  new ServiceError('STORAGE_UNAVAILABLE', `${COMMITS_WAITING_MAX} commits wait for the store`)
