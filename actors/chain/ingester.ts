import PQueue from 'p-queue'
import type { Rollback, SourcedBlock } from '../../src/node/block-source.ts'
import type { CommitFeed } from '../../src/views/commit-feed.ts'
import type { DecodingReport } from '../../src/telemetry/decoding-report.ts'
import { gapsAfter } from '../../src/node/coverage.ts'
import { LOST_FORK } from '../../src/market/gap-reasons.ts'
import { unchanged, type Amendment, type Edit } from '../../src/market/amendment.ts'
import { foldBlock, type BlockFold, type FoldOptions } from '../../src/market/fold.ts'
import { marketBefore, type KeptBlock } from '../../src/market/kept-block.ts'
import { marketLimits, type MarketLimits, type MarketState } from '../../src/market/market-state.ts'
import { isAffected } from '../../src/market/read-set.ts'
import type { RefoldTools } from '../../src/market/refold.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { BlockRows } from '../../src/market/records.ts'
import { affectedKeys, type AffectedKeys } from '../../src/market/affected-keys.ts'
import type { Clock } from '../../src/ports.ts'
import { tellingOrder } from '../../src/stream/channel-history.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import type { Metrics } from '../../src/telemetry/metrics.ts'
import type { BlockStore, GapRow, History, Storage } from '../../storage/port.ts'
import { decodeSourced, type DecodedSource } from './decoding.ts'
import { blocksWithoutRoom, onOtherCourse, withLateBlocks, withoutFork } from './course-changes.ts'
import { UndoHistory, UNDO_SLOTS, type UndoPolicy } from './undo-history.ts'
import { loadReadSet, restoreMarket } from './market-loader.ts'

/**
 * Blocks in ingest before the first of them is committed. Chosen: the seven behind the first share one write of the
 * watermark.
 */
export const UNDER_WAY_MAX = 8

export interface IngesterDeps {
  readonly fold: FoldOptions
  readonly undoPolicy: UndoPolicy
  readonly feed: CommitFeed
  readonly decoding: DecodingReport
  readonly metrics: Metrics
  readonly logger: Logger
  readonly clock: Clock
  /** Bytes for cached rows of recently traded mints; by default, as many as are of use. */
  readonly marketBytes?: number
}

/** The write side of the store: its own, or a buffer in front of it. */
export interface TakesBlocks {
  readonly commit: BlockStore['commit']
  readonly history: Pick<History, 'amend'>
}

/** Gaps to remove, by their first slots, and gaps to write, such as the rest of a gap. */
export type GapEdit = Edit<GapRow, number>

/**
 * Commits blocks to a store in order, and corrects stored blocks that turn out to be wrong.
 *
 * B1. One operation at a time: either a block is folded on those before it and given to the store, where several
 *     may be in flight; or stored blocks are amended, once nothing is in flight. For records that blocks in flight
 *     affect, memory is read instead of the store.
 * B2. A block above the head whose parent is below the head shows that the blocks after that parent are of a lost
 *     fork: they are removed before the block is folded, as far as their undo data is kept.
 *     A block with a rollback shows the same of slots up to the head: the chain's blocks replace all that is stored
 *     after the last common one, in one amendment together with the block. Blocks without undo data stay stored,
 *     marked as a gap.
 * B3. After a failed commit or an unconfirmed amendment the ingester accepts nothing more. A new ingester
 *     continues from the store's state.
 */
export class Ingester {
  readonly #storage: Storage
  readonly #blocks: TakesBlocks
  readonly #deps: IngesterDeps
  readonly #undoHistory: UndoHistory
  /** As of the last folded block, like `#head`. */
  #market: MarketState
  #head: SlotRow | null
  /** B1. */
  readonly #operations = new PQueue({ concurrency: 1 })
  /** Blocks given to the store and not yet answered, oldest first. */
  readonly #underWay: UnderWay[] = []
  #broken: Error | null = null

  private constructor(
    storage: Storage,
    blocks: TakesBlocks,
    deps: IngesterDeps,
    state: { readonly head: SlotRow | null; readonly market: MarketState; readonly undoHistory: UndoHistory }
  ) {
    this.#storage = storage
    this.#blocks = blocks
    this.#deps = deps
    this.#undoHistory = state.undoHistory
    this.#market = state.market
    this.#head = state.head
  }

  /** Opens an ingester after the stored head. `blocks` is the store's write side or a buffer in front of it. */
  static async open(
    storage: Storage,
    head: SlotRow | null,
    deps: IngesterDeps,
    blocks: TakesBlocks = {
      commit: (...block) => storage.blocks.commit(...block),
      history: storage.history
    }
  ): Promise<Ingester> {
    const market = await restoreMarket(storage, head, limitsOf(deps))
    const undoHistory = await UndoHistory.open(storage, head, deps.undoPolicy, deps.logger)
    return new Ingester(storage, blocks, deps, { head, market, undoHistory })
  }

  get market(): MarketState {
    return this.#market
  }

  /**
   * Decodes, folds and commits one block. Further blocks may be given meanwhile; more than `UNDER_WAY_MAX` bring no
   * gain.
   */
  async ingest(sourced: SourcedBlock): Promise<void> {
    const { committed } = await this.#inTurn(() => this.#take(sourced).catch((error) => this.#break(error)))
    return committed
  }

  /** Tells whether blocks can be inserted from a slot on: the undo data of all later blocks is kept. */
  reaches(slot: number): boolean {
    return this.#undoHistory.reaches(slot)
  }

  /**
   * Inserts blocks between stored ones, as if they had come in time, and edits the gaps. Slots ascend, and the first
   * one is within reach.
   */
  insert(blocks: readonly SourcedBlock[], gaps: GapEdit): Promise<void> {
    return this.#inTurn(() => this.#insert(blocks, gaps))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#operations.add(async () => {
      if (this.#broken !== null) throw this.#broken
      return work()
    })
  }

  async #take(sourced: SourcedBlock): Promise<Pick<UnderWay, 'committed'>> {
    const { rollback, block } = sourced
    if (this.#head === null) return this.#ingest(sourced)
    if (rollback === undefined) {
      if (block.slot > this.#head.slot) return this.#ingest(sourced)
      // The store already has this slot, or another block there; memory must not follow it (INVARIANTS 5).
      return { committed: this.#underWay.at(-1)?.committed ?? Promise.resolve() }
    }
    await this.#settled()
    const after = this.#undoHistory.reaches(rollback.after + 1)
      ? rollback.after
      : (this.#undoHistory.after ?? this.#head.slot)
    const stays = this.#staying(rollback, after)
    if (after < this.#head.slot) await this.#rollBack(sourced, rollback, after, stays)
    else {
      if (stays !== null) await this.#storage.coverage.addGap(stays)
      return this.#ingest(sourced)
    }
    return { committed: Promise.resolve() }
  }

  async #ingest(sourced: SourcedBlock): Promise<UnderWay> {
    const { fold: options } = this.#deps
    await this.#takeBack(sourced.block)
    const decoded = await decodeSourced(sourced)
    const { block } = decoded
    const affected = affectedKeys(block, options.cash)
    const readSet = this.#market.readSet(affected)
    // Records of blocks in flight that memory has evicted, or that are of another minute, are not in the store yet.
    if (this.#underWay.some((earlier) => isAffected(readSet, earlier.affected))) await this.#settled()
    this.#market.load(await loadReadSet(this.#storage, readSet))
    const before = this.#head
    const kept: KeptBlock | undefined = this.#undoHistory.wants(block, before)
      ? { block, before: marketBefore(this.#market, before, affected) }
      : undefined
    const fold = foldBlock(this.#market, block, options)
    this.#market.apply(fold)
    this.#head = fold.slot
    const underWay = { affected, committed: this.#commit(decoded, fold, kept, before) }
    this.#underWay.push(underWay)
    return underWay
  }

  /** Commits a block; its effects in memory come after those of earlier blocks. */
  async #commit(
    decoded: DecodedSource,
    fold: BlockFold,
    kept: KeptBlock | undefined,
    before: SlotRow | null
  ): Promise<void> {
    const { feed, metrics, logger, clock } = this.#deps
    const earlier = this.#underWay.at(-1)?.committed
    const startedMs = clock.now()
    const answer = feed.commit({ ...fold, log: this.#encode(fold) }, this.#blocks, kept, before?.slot)
    try {
      for (const result of await Promise.allSettled([earlier, answer]))
        if (result.status === 'rejected') throw result.reason
      metrics.commitSeconds.observe((clock.now() - startedMs) / 1000)
      this.#count(decoded, fold)
      metrics.headSlot.set(fold.slot.slot)
      metrics.headTime.set(fold.slot.blockTime)
      logger.debug({ ...countsOf(fold), notes: decoded.notes.length }, 'block committed')
      await this.#undoHistory.committed(fold.slot, kept)
    } catch (error) {
      this.#break(error)
    } finally {
      this.#underWay.shift()
    }
  }

  /** Resolves once nothing is in flight. */
  async #settled(): Promise<void> {
    await this.#underWay.at(-1)?.committed
  }

  /** B3. */
  #break(error: unknown): never {
    this.#broken ??= error instanceof Error ? error : new Error(String(error))
    throw error
  }

  /** Removes the blocks after the parent of the next block, which are of a lost fork. */
  async #takeBack({ slot, parentSlot }: SourcedBlock['block']): Promise<void> {
    const head = this.#head
    if (head === null || parentSlot === null || parentSlot >= head.slot || slot <= head.slot) return
    await this.#settled()
    const { undoPolicy, logger, metrics } = this.#deps
    if (!this.#undoHistory.reaches(parentSlot + 1)) {
      if (undoPolicy.forForks)
        logger.error(
          { parentSlot, head: head.slot },
          'a lost fork begins before the oldest block with undo data; its rows stay stored'
        )
      return
    }
    const lost: KeptBlock[] = []
    for await (const kept of this.#undoHistory.blocks(parentSlot)) lost.push(kept)
    const amendment = await withoutFork(lost, slot, { ...this.#tools, logger })
    await this.#amend(amendment, { put: [], remove: [] })
    metrics.blocksRetracted.inc(lost.length)
    const slots = lost.map(({ block }) => block.slot)
    logger.info({ slots, parentSlot }, `${lost.length} blocks of a lost fork were removed`)
  }

  /**
   * Returns, as a gap, the slots whose stored blocks are (or may be) of a lost fork and cannot be removed; null
   * without any.
   */
  #staying({ after, doubt }: Rollback, taken: number): GapRow | null {
    const { logger, clock } = this.#deps
    if (taken <= after && doubt === null) return null
    const from = doubt === null ? after + 1 : Math.min((this.#undoHistory.after ?? after) + 1, after)
    const detail =
      doubt ??
      `its blocks are of a lost fork, and their undo data is no longer kept: it reaches back ${UNDO_SLOTS} slots, and further where blocks have few events`
    const gap = { from, to: taken, reason: LOST_FORK, detail, atMs: clock.now() }
    logger.error(
      gap,
      `the stored blocks of slots ${from} to ${taken} are, or may be, of a lost fork; they cannot be removed and stay stored`
    )
    return gap
  }

  async #rollBack(
    sourced: SourcedBlock,
    { blocks }: Rollback,
    after: number,
    stays: GapRow | null
  ): Promise<void> {
    const { metrics, logger, clock } = this.#deps
    const put: GapRow[] = stays === null ? [] : [stays]
    const wanted: DecodedSource[] = []
    for await (const each of blocks) {
      if (!('block' in each)) put.push({ detail: each.reason, ...each, atMs: clock.now() })
      else if (each.block.slot > after) wanted.push(await decodeSourced(each))
    }
    wanted.push(await decodeSourced(sourced))
    const roomless = blocksWithoutRoom(
      wanted.map(({ block }) => block),
      this.#head!.slot
    )
    for (const { block } of wanted.splice(0, roomless)) {
      const gap = { from: block.slot, to: block.slot, reason: 'missing', detail: ROOMLESS, atMs: clock.now() }
      logger.error(gap, `slot ${block.slot} is given up: ${ROOMLESS}`)
      put.push(gap)
    }
    const toldAt = await tellingOrder(this.#storage.log)
    const course = { after, blocks: wanted.map(({ block }) => block), toldAt }
    const { amendment, lost } = await onOtherCourse(course, this.#undoHistory, { ...this.#tools, logger })
    const covered = await gapsAfter(this.#storage.coverage, after)
    await this.#amend(amendment, {
      put,
      remove: covered.map(({ from }) => from).filter((from) => !put.some((gap) => gap.from === from))
    })
    metrics.blocksRetracted.inc(lost.length)
    for (const decoded of wanted) this.#count(decoded, null)
    const facts = { after, from: lost[0], to: lost.at(-1), head: sourced.block.slot }
    logger.warn(
      facts,
      `rollback: the chain differs from the stored blocks after slot ${after}; ${lost.length} blocks were replaced by ${wanted.length}`
    )
  }

  async #insert(blocks: readonly SourcedBlock[], gaps: GapEdit): Promise<void> {
    await this.#settled()
    const { metrics, logger } = this.#deps
    if (blocks.length === 0) {
      await this.#amend(unchanged(this.#head, this.#market), gaps)
      return
    }
    const inserted = await Promise.all(blocks.map(decodeSourced))
    const late = inserted.map(({ block }) => block)
    const amendment = await withLateBlocks(late, this.#undoHistory, this.#tools)
    await this.#amend(amendment, gaps)
    metrics.blocksBackfilled.inc(blocks.length)
    for (const decoded of inserted) this.#count(decoded, null)
    const slots = blocks.map(({ block }) => block.slot)
    logger.info(
      { from: slots[0], to: slots.at(-1), changed: amendment.trades.put.length },
      `${blocks.length} missing blocks were inserted`
    )
  }

  async #amend(amendment: Amendment, gaps: GapEdit): Promise<void> {
    const { feed } = this.#deps
    try {
      await this.#blocks.history.amend(amendment, gaps).finally(() => feed.amend(amendment.head))
      this.#head = amendment.head
      this.#market = await restoreMarket(this.#storage, this.#head, limitsOf(this.#deps))
      await this.#undoHistory.changed(this.#storage.coverage)
      if (this.#head !== null) await this.#undoHistory.committed(this.#head, undefined)
    } catch (error) {
      this.#break(error)
    }
  }

  get #tools(): RefoldTools {
    const { fold } = this.#deps
    return { fold, load: (readSet) => loadReadSet(this.#storage, readSet), encode: this.#encode }
  }

  readonly #encode = (rows: BlockRows) => encodeLog(rows, this.#deps.fold.cash)

  #count({ block, entries, notes, votes }: DecodedSource, fold: BlockFold | null): void {
    const { decoding, metrics, logger } = this.#deps
    decoding.count(entries, notes)
    metrics.blocks.inc()
    metrics.transactions.inc({ kind: 'vote' }, votes)
    metrics.transactions.inc({ kind: 'other' }, block.transactions - votes)
    if (fold !== null && fold.leftOut > 0)
      logger.error(
        { slot: block.slot, left_out: fold.leftOut },
        'a slot has more events than a cursor can number; the rest is left out'
      )
  }
}

/** Reason of the gap that is left for a block without cursors. */
const ROOMLESS = 'the blocks in place of a lost fork have more events than the stream has cursors for'

/** A block that is folded and not yet committed. */
interface UnderWay {
  readonly affected: AffectedKeys
  readonly committed: Promise<void>
}

function countsOf({ slot: { slot, trades, events } }: BlockFold) {
  return { slot, trades, events }
}

function limitsOf({ marketBytes }: IngesterDeps): Partial<MarketLimits> {
  return marketBytes === undefined ? {} : marketLimits(marketBytes)
}
