import type { Rollback, SourcedBlock } from '../../src/node/block-source.ts'
import type { CommitFeed } from '../../src/views/commit-feed.ts'
import type { DecodingReport } from '../../src/telemetry/decoding-report.ts'
import { gapsAfter } from '../../src/node/coverage.ts'
import { LOST_FORK } from '../../src/market/gap-reasons.ts'
import { unchanged, type Amendment, type Edit } from '../../src/market/amendment.ts'
import { foldBlock, type BlockFold, type FoldOptions } from '../../src/market/fold.ts'
import { marketBefore, type KeptBlock } from '../../src/market/kept-block.ts'
import { marketLimits, type MarketLimits, type MarketState } from '../../src/market/market-state.ts'
import { isTouched } from '../../src/market/missing.ts'
import type { RefoldTools } from '../../src/market/refold.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { BlockRows } from '../../src/market/records.ts'
import { touchedBy, type Touched } from '../../src/market/touched.ts'
import type { Clock } from '../../src/ports.ts'
import { tellingOrder } from '../../src/stream/channel-history.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import type { Metrics } from '../../src/telemetry/metrics.ts'
import type { BlockStore, GapRow, History, Storage } from '../../storage/port.ts'
import { decodeSourced, type DecodedSource } from './decoding.ts'
import { blocksWithoutRoom, onOtherCourse, withLateBlocks, withoutFork } from './course-changes.ts'
import { KeptRun, UNDO_SLOTS, type Keeping } from './kept-run.ts'
import { loadMissing, restoreMarket } from './market-loader.ts'

/** Blocks that are given to be ingested before the first of them is committed. Chosen: all but the first share a watermark. */
export const UNDER_WAY_MAX = 8

export interface IngesterDeps {
  readonly fold: FoldOptions
  readonly keeping: Keeping
  readonly feed: CommitFeed
  readonly decoding: DecodingReport
  readonly metrics: Metrics
  readonly logger: Logger
  readonly clock: Clock
  /** For rows of mints that recent blocks touched; left out, as much as is of use. */
  readonly marketBytes?: number
}

/** What an ingester writes with: the store's own, or what stands before it. */
export interface TakesBlocks {
  readonly commit: BlockStore['commit']
  readonly history: Pick<History, 'amend'>
}

/** Gaps that are closed, by their first slots, and what is left of others. */
export type GapEdit = Edit<GapRow, number>

/**
 * Takes blocks into a store, one after the other, and puts right what turns out to have been otherwise.
 *
 * B1. One thing at a time: a block is folded on those before it and given to the store, which has some of them under way; or
 *     what is stored is changed, once nothing is under way. Of what blocks under way touch memory is asked, not the store.
 * B2. A block above the head whose parent is below it shows that what came after that parent is lost: it is taken back
 *     before the block is folded, as far as it is kept.
 *     A block that comes with a rollback shows the same of slots up to the head: the chain's blocks take the place of all
 *     that is stored after the last common one, in one change with the block. What is stored and not kept stays, as a gap.
 * B3. After a block that was not committed, or a change that the store has not confirmed, nothing more is taken in: whoever
 *     opens another one goes on from what the store has come to.
 */
export class Ingester {
  readonly #storage: Storage
  readonly #blocks: TakesBlocks
  readonly #deps: IngesterDeps
  readonly #run: KeptRun
  /** As of the last block that was folded, as the head is. */
  #market: MarketState
  #head: SlotRow | null
  #turn: Promise<unknown> = Promise.resolve()
  /** What was given to the store and is not answered, oldest first. */
  readonly #underWay: UnderWay[] = []
  #broken: Error | null = null

  private constructor(
    storage: Storage,
    blocks: TakesBlocks,
    deps: IngesterDeps,
    state: { readonly head: SlotRow | null; readonly market: MarketState; readonly run: KeptRun }
  ) {
    this.#storage = storage
    this.#blocks = blocks
    this.#deps = deps
    this.#run = state.run
    this.#market = state.market
    this.#head = state.head
  }

  /** Goes on from what is stored up to the head; `blocks` are the store's, or stand before them. */
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
    const run = await KeptRun.open(storage, head, deps.keeping, deps.logger)
    return new Ingester(storage, blocks, deps, { head, market, run })
  }

  get market(): MarketState {
    return this.#market
  }

  /** Decodes, folds and commits one block. The next ones may be given meanwhile: `UNDER_WAY_MAX` of them are of use. */
  async ingest(sourced: SourcedBlock): Promise<void> {
    const { committed } = await this.#inTurn(() => this.#take(sourced).catch((error) => this.#break(error)))
    return committed
  }

  /** Whether blocks can be put in from a slot on: all that is stored after it is kept. */
  reaches(slot: number): boolean {
    return this.#run.reaches(slot)
  }

  /**
   * Puts blocks between those that are stored, as if they had come in time, and changes the gaps. Slots ascend, and the
   * first one is reached.
   */
  insert(blocks: readonly SourcedBlock[], gaps: GapEdit): Promise<void> {
    return this.#inTurn(() => this.#insert(blocks, gaps))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(() => {
      if (this.#broken !== null) throw this.#broken
      return work()
    })
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #take(sourced: SourcedBlock): Promise<Pick<UnderWay, 'committed'>> {
    const { rollback, block } = sourced
    if (this.#head === null) return this.#ingest(sourced)
    if (rollback === undefined) {
      if (block.slot > this.#head.slot) return this.#ingest(sourced)
      // Memory must not follow a block that the store has already, or has another one of (INVARIANTS 5).
      return { committed: this.#underWay.at(-1)?.committed ?? Promise.resolve() }
    }
    await this.#settled()
    const after = this.#run.reaches(rollback.after + 1)
      ? rollback.after
      : (this.#run.after ?? this.#head.slot)
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
    const touched = touchedBy(block, options.cash)
    const missing = this.#market.missing(touched)
    // What was let go, or is of another minute, the store does not have yet.
    if (this.#underWay.some((earlier) => isTouched(missing, earlier.touched))) await this.#settled()
    this.#market.load(await loadMissing(this.#storage, missing))
    const before = this.#head
    const kept: KeptBlock | undefined = this.#run.wants(block, before)
      ? { block, before: marketBefore(this.#market, before, touched) }
      : undefined
    const fold = foldBlock(this.#market, block, options)
    this.#market.apply(fold)
    this.#head = fold.slot
    const underWay = { touched, committed: this.#commit(decoded, fold, kept, before) }
    this.#underWay.push(underWay)
    return underWay
  }

  /** Commits a block, and takes note of it after those before it. */
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
      await this.#run.committed(fold.slot, kept)
    } catch (error) {
      this.#break(error)
    } finally {
      this.#underWay.shift()
    }
  }

  /** Resolves once nothing is under way. */
  async #settled(): Promise<void> {
    await this.#underWay.at(-1)?.committed
  }

  /** B3. */
  #break(error: unknown): never {
    this.#broken ??= error instanceof Error ? error : new Error(String(error))
    throw error
  }

  /** Takes back what came after the parent of the next block. */
  async #takeBack({ slot, parentSlot }: SourcedBlock['block']): Promise<void> {
    const head = this.#head
    if (head === null || parentSlot === null || parentSlot >= head.slot || slot <= head.slot) return
    await this.#settled()
    const { keeping, logger, metrics } = this.#deps
    if (!this.#run.reaches(parentSlot + 1)) {
      if (keeping.forForks)
        logger.error(
          { parentSlot, head: head.slot },
          'a lost fork is longer than what is kept: its rows stay'
        )
      return
    }
    const lost: KeptBlock[] = []
    for await (const kept of this.#run.blocks(parentSlot)) lost.push(kept)
    const amendment = await withoutFork(lost, slot, { ...this.#tools, logger })
    await this.#amend(amendment, { put: [], remove: [] })
    metrics.blocksRetracted.inc(lost.length)
    const slots = lost.map(({ block }) => block.slot)
    logger.info({ slots, parentSlot }, `${lost.length} blocks of a lost fork are taken back`)
  }

  /** The slots whose stored blocks are of a lost fork, or may be, and cannot be taken back. */
  #staying({ after, doubt }: Rollback, taken: number): GapRow | null {
    const { logger, clock } = this.#deps
    if (taken <= after && doubt === null) return null
    const from = doubt === null ? after + 1 : Math.min((this.#run.after ?? after) + 1, after)
    const detail =
      doubt ??
      `its blocks are of a lost fork and are no longer kept to be taken back: that reaches ${UNDO_SLOTS} slots, and further where blocks have few events`
    const gap = { from, to: taken, reason: LOST_FORK, detail, atMs: clock.now() }
    logger.error(
      gap,
      `what is stored of slots ${from} to ${taken} is not of the chain, or may not be, and stays`
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
    const { amendment, lost } = await onOtherCourse(course, this.#run, { ...this.#tools, logger })
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
      `the chain left what is stored after slot ${after}: ${lost.length} blocks are taken back, ${wanted.length} are in their place`
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
    const amendment = await withLateBlocks(late, this.#run, this.#tools)
    await this.#amend(amendment, gaps)
    metrics.blocksBackfilled.inc(blocks.length)
    for (const decoded of inserted) this.#count(decoded, null)
    const slots = blocks.map(({ block }) => block.slot)
    logger.info(
      { from: slots[0], to: slots.at(-1), changed: amendment.trades.put.length },
      `${blocks.length} blocks that were missing are put in their places`
    )
  }

  async #amend(amendment: Amendment, gaps: GapEdit): Promise<void> {
    const { feed } = this.#deps
    try {
      await this.#blocks.history.amend(amendment, gaps).finally(() => feed.amend(amendment.head))
      this.#head = amendment.head
      this.#market = await restoreMarket(this.#storage, this.#head, limitsOf(this.#deps))
      await this.#run.changed(this.#storage.coverage)
      if (this.#head !== null) await this.#run.committed(this.#head, undefined)
    } catch (error) {
      this.#break(error)
    }
  }

  get #tools(): RefoldTools {
    const { fold } = this.#deps
    return { fold, load: (missing) => loadMissing(this.#storage, missing), encode: this.#encode }
  }

  readonly #encode = (rows: BlockRows) => encodeLog(rows, this.#deps.fold.cash)

  #count({ block, entries, notes, votes }: DecodedSource, fold: BlockFold | null): void {
    const { decoding, metrics, logger } = this.#deps
    decoding.count(entries, notes)
    metrics.blocks.inc()
    metrics.transactions.inc({ kind: 'vote' }, votes)
    metrics.transactions.inc({ kind: 'other' }, block.transactions - votes)
    if (fold !== null && fold.leftOut > 0)
      logger.error({ slot: block.slot, left_out: fold.leftOut }, 'a slot has more events than positions')
  }
}

/** Why a block of a chain that was put back is a gap. */
const ROOMLESS = 'the blocks in place of a lost fork have more events than the stream has cursors for'

/** A block that was folded and is not committed. */
interface UnderWay {
  readonly touched: Touched
  readonly committed: Promise<void>
}

function countsOf({ slot: { slot, trades, events } }: BlockFold) {
  return { slot, trades, events }
}

function limitsOf({ marketBytes }: IngesterDeps): Partial<MarketLimits> {
  return marketBytes === undefined ? {} : marketLimits(marketBytes)
}
