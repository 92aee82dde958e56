import { LOST_FORK, UNSEEN_REASONS } from '../../src/market/gap-reasons.ts'
import { unchanged, type Amendment, type Edit } from '../../src/market/amendment.ts'
import type { KnownVaults } from '../../src/chain/known-vaults.ts'
import type { DecodingPeriod } from '../../src/market/decoding-period.ts'
import type { FoldOptions } from '../../src/market/fold.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import type { MarketState } from '../../src/market/market-state.ts'
import type { RefoldTools } from '../../src/market/refold.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Rollback, SourcedBlock } from '../../src/node/block-source.ts'
import { gapsAfter } from '../../src/ingest/coverage.ts'
import type { TransferFees } from '../../src/accounts/transfer-fees.ts'
import type { Clock } from '../../src/ports.ts'
import { readSentCursors } from '../../src/stream/channel-history.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import type { DecodingReport } from '../../src/ingest/decoding-report.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { IngestMetrics } from '../../src/ingest/metrics.ts'
import type { CommittedBlocks, PendingBlock } from '../../src/ingest/committed-blocks.ts'
import type { GapRow, Storage } from '../../storage/port.ts'
import { blocksWithoutRoom, onOtherCourse, withLateBlocks, withoutFork } from './course-changes.ts'
import { unseenGaps } from './unseen-calls.ts'
import { countBlock, decodeSourced, type DecodedSource } from './decoding.ts'
import { loadReadSet } from './market-loader.ts'
import { UNDO_SLOTS, type UndoHistory, type UndoPolicy } from './undo-history.ts'

export interface CorrectionDeps {
  readonly fold: FoldOptions
  readonly undoPolicy: UndoPolicy
  readonly decoding: DecodingReport
  readonly metrics: IngestMetrics
  readonly logger: Logger
  readonly clock: Clock
  /** Absent if transfer fees cannot be read from a node. */
  readonly transferFees?: TransferFees | undefined
  /** Receives blocks once they are stored, and lost forks. */
  readonly committedBlocks?: Pick<CommittedBlocks, 'read' | 'pending' | 'amended' | 'lost'>
}

/** Gaps to remove, by their first slots, and gaps to write, such as the rest of a gap. */
export type GapEdit = Edit<GapRow, number>

/** A block whose parent is below the head. */
interface ForkingBlock {
  readonly slot: number
  readonly parentSlot: number
}

/** Makes an amendment durable and visible, and folds later blocks on what it leaves. */
type Amend = (amendment: Amendment, gaps: GapEdit) => Promise<void>

/** Reason of the gap that is left for a block without cursors. */
const ROOMLESS = 'the blocks in place of a lost fork have more events than the stream has cursors for'

/** Tells whether a block shows that stored blocks are of a lost fork: it is above the head, and its parent is below. */
export function showsLostFork(
  block: SourcedBlock['block'],
  head: SlotRow
): block is SourcedBlock['block'] & ForkingBlock {
  return block.parentSlot !== null && block.parentSlot < head.slot && block.slot > head.slot
}

/**
 * Corrects stored blocks. No block is in flight meanwhile.
 *
 * C1. A block above the head whose parent is below the head shows a lost fork: the stored blocks after that parent. They
 *     are removed before the block is folded, as far as their undo data is kept.
 * C2. A block with a rollback shows a lost fork in slots up to the head. One amendment replaces all stored blocks after the
 *     last common one by the chain's blocks and this block. Blocks without undo data stay stored, marked as a gap.
 * C3. A block before a change of the venues gives rows of the venues of its slot, so that coverage stays true.
 */
export class Corrections {
  readonly #storage: Storage
  readonly #undoHistory: UndoHistory
  readonly #periods: readonly DecodingPeriod[]
  readonly #vaults: KnownVaults
  readonly #deps: CorrectionDeps
  readonly #amend: Amend

  constructor(
    storage: Storage,
    {
      undoHistory,
      periods,
      vaults
    }: {
      readonly undoHistory: UndoHistory
      readonly periods: readonly DecodingPeriod[]
      readonly vaults: KnownVaults
    },
    deps: CorrectionDeps,
    amend: Amend
  ) {
    this.#storage = storage
    this.#undoHistory = undoHistory
    this.#periods = periods
    this.#vaults = vaults
    this.#deps = deps
    this.#amend = amend
  }

  /**
   * Removes the stored blocks after the parent of the next block: a lost fork. Only blocks with undo data can be removed.
   */
  async removeFork({ slot, parentSlot }: ForkingBlock, head: SlotRow): Promise<void> {
    const { undoPolicy, logger, metrics } = this.#deps
    if (!this.#undoHistory.reaches(parentSlot + 1)) {
      if (undoPolicy.forForks)
        logger.error(
          { parentSlot, head: head.slot },
          'a lost fork begins before the oldest block with undo data; its rows stay stored'
        )
      this.#deps.committedBlocks?.lost(parentSlot)
      return
    }
    const lost: KeptBlock[] = []
    for await (const kept of this.#undoHistory.blocks(parentSlot)) lost.push(kept)
    const amendment = await withoutFork(lost, slot, { ...this.#tools, logger })
    // Gaps of the removed blocks are not gaps of the chain.
    const gaps = await gapsAfter(this.#storage.coverage, parentSlot)
    const unseen = gaps.filter(({ reason }) => UNSEEN_REASONS.has(reason))
    await this.#amend(amendment, { put: [], remove: unseen.map(({ from }) => from) })
    this.#deps.committedBlocks?.lost(parentSlot)
    metrics.blocksRetracted.inc(lost.length)
    const slots = lost.map(({ block }) => block.slot)
    logger.info({ slots, parentSlot }, `${lost.length} blocks of a lost fork were removed`)
  }

  /**
   * Replaces the stored blocks after the last common one by the blocks of a rollback and the block that comes with it.
   * Returns false if no stored block had to be or could be removed; the caller then commits the block.
   */
  async rollBack(sourced: SourcedBlock, rollback: Rollback, head: SlotRow): Promise<boolean> {
    const after = this.#undoHistory.reaches(rollback.after + 1)
      ? rollback.after
      : (this.#undoHistory.after ?? head.slot)
    const stays = this.#staying(rollback, after)
    if (after < head.slot) await this.#replace(sourced, rollback, after, stays, head)
    else {
      if (stays !== null) await this.#storage.coverage.addGap(stays)
      this.#deps.committedBlocks?.lost(rollback.after)
    }
    return after < head.slot
  }

  /**
   * Returns, as a gap, the slots whose stored blocks are, or may be, of a lost fork and cannot be removed; otherwise null.
   */
  #staying({ after, doubt }: Rollback, taken: number): GapRow | null {
    const { logger, clock } = this.#deps
    if (taken <= after && doubt === null) return null
    const from = doubt === null ? after + 1 : Math.min((this.#undoHistory.after ?? after) + 1, after)
    const detail =
      doubt ??
      `its blocks are of a lost fork, and their undo data is no longer stored: it reaches back ${UNDO_SLOTS} slots, or further if blocks have few events`
    const gap = { from, to: taken, reason: LOST_FORK, detail, atMs: clock.now() }
    logger.error(
      gap,
      `the stored blocks of slots ${from} to ${taken} are, or may be, of a lost fork; they cannot be removed, so they stay stored`
    )
    return gap
  }

  async #replace(
    sourced: SourcedBlock,
    rollback: Rollback,
    after: number,
    stays: GapRow | null,
    head: SlotRow
  ): Promise<void> {
    const { metrics, logger, clock } = this.#deps
    const put: GapRow[] = stays === null ? [] : [stays]
    const replacements: DecodedSource[] = []
    const pending: PendingBlock[] = []
    const { committedBlocks } = this.#deps
    for await (const each of rollback.blocks) {
      if (!('block' in each)) put.push({ detail: each.reason, ...each, atMs: clock.now() })
      else if (each.block.slot > after) {
        replacements.push(await this.#decode(each))
        if (committedBlocks) pending.push(committedBlocks.read(each))
      }
    }
    replacements.push(await this.#decode(sourced))
    if (committedBlocks) pending.push(committedBlocks.read(sourced))
    const roomless = blocksWithoutRoom(
      replacements.map(({ block }) => block),
      head.slot
    )
    for (const { block } of replacements.splice(0, roomless)) {
      const gap = { from: block.slot, to: block.slot, reason: 'missing', detail: ROOMLESS, atMs: clock.now() }
      logger.error(gap, `slot ${block.slot} is abandoned: ${ROOMLESS}`)
      put.push(gap)
    }
    const sentCursor = await readSentCursors(this.#storage.log)
    put.push(...unseenGaps(replacements, clock.now()))
    const course = { after, blocks: replacements.map(({ block }) => block), sentCursor }
    const { amendment, lost } = await onOtherCourse(course, this.#undoHistory, { ...this.#tools, logger })
    const covered = await gapsAfter(this.#storage.coverage, after)
    await this.#amend(amendment, {
      put,
      remove: covered.map(({ from }) => from).filter((from) => !put.some((gap) => gap.from === from))
    })
    committedBlocks?.lost(rollback.after)
    committedBlocks?.amended(pending)
    metrics.blocksRetracted.inc(lost.length)
    for (const decoded of replacements) countBlock(decoded, this.#deps)
    const facts = { after, from: lost[0], to: lost.at(-1), head: sourced.block.slot }
    logger.warn(
      facts,
      `rollback: the chain differs from the stored blocks after slot ${after}; ${lost.length} blocks were replaced by ${replacements.length}`
    )
  }

  /** Inserts blocks between stored ones, as if they had come in time, and edits the gaps. `market` is that of ingest. */
  async insert(
    blocks: readonly SourcedBlock[],
    gaps: GapEdit,
    market: Pick<MarketState, 'head' | 'totals'>
  ): Promise<void> {
    const { metrics, logger, committedBlocks } = this.#deps
    if (blocks.length === 0) {
      await this.#amend(unchanged(market.head, market), gaps)
      return
    }
    const inserted = await Promise.all(blocks.map((block) => this.#decode(block)))
    const pending = blocks.flatMap((block) => committedBlocks?.read(block) ?? [])
    const late = inserted.map(({ block }) => block)
    const amendment = await withLateBlocks(late, this.#undoHistory, this.#tools)
    const unseen = unseenGaps(inserted, this.#deps.clock.now())
    await this.#amend(amendment, {
      put: [...gaps.put, ...unseen],
      remove: gaps.remove.filter((slot) => !unseen.some(({ from }) => from === slot))
    })
    committedBlocks?.amended(pending)
    metrics.blocksBackfilled.inc(blocks.length)
    for (const decoded of inserted) countBlock(decoded, this.#deps)
    const slots = blocks.map(({ block }) => block.slot)
    logger.info(
      { from: slots[0], to: slots.at(-1), changed: amendment.trades.put.length },
      `${blocks.length} missing blocks were inserted`
    )
  }

  #decode(sourced: SourcedBlock): Promise<DecodedSource> {
    return decodeSourced(sourced, this.#deps.transferFees, this.#vaults)
  }

  get #tools(): RefoldTools {
    const { fold } = this.#deps
    return {
      fold,
      periods: this.#periods,
      load: (readSet) => loadReadSet(this.#storage, readSet),
      encode: (rows) => encodeLog(rows, fold.cash)
    }
  }
}
