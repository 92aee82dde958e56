import PQueue from 'p-queue'
import { KnownVaults } from '../../src/chain/known-vaults.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import type { BlockFold } from '../../src/market/fold.ts'
import type { DecodingPeriod } from '../../src/market/decoding-period.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import { marketLimits, type MarketLimits } from '../../src/market/market-limits.ts'
import { EMPTY_START, MarketState } from '../../src/market/market-state.ts'
import { isAffected } from '../../src/market/read-set.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { SolUsd } from '../../src/market/sol-usd.ts'
import type { AffectedKeys } from '../../src/market/affected-keys.ts'
import { recordDecoding } from '../../src/ingest/decoding-periods.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import type { BlockStore, History, Storage } from '../../storage/port.ts'
import type { RecallBlocks } from '../transactions/recall-blocks.ts'
import type { FirstBlock } from './archived-price.ts'
import { Corrections, showsLostFork, type CorrectionDeps, type GapEdit } from './corrections.ts'
import { countBlock, decodeSourced, type DecodedSource } from './decoding.ts'
import { UndoHistory } from './undo-history.ts'
import { UnseenCalls } from './unseen-calls.ts'
import { loadReadSet, restoreMarket } from './market-loader.ts'

/** Maximum uncommitted blocks in ingest. The seven behind the first share one write of the watermark. */
export const IN_FLIGHT_MAX = 8

export interface IngesterDeps extends CorrectionDeps {
  readonly feed: CommitFeed
  /** Called with the head after which ingest resumes. */
  readonly recallBlocks?: RecallBlocks
  /** Returns the SOL price that an archive leaves for the first block of a store, or null. */
  readonly solUsdBefore?: (first: FirstBlock) => Promise<SolUsd | null>
  /** Bytes for cached rows of recently traded mints. Default: the largest size that is of use. */
  readonly marketBytes?: number
}

/** The write side of the store: its own, or a buffer in front of it. */
export interface TakesBlocks {
  readonly commit: BlockStore['commit']
  readonly history: Pick<History, 'amend'>
}

/**
 * Commits blocks to a store in order, and corrects stored blocks that turn out to be wrong.
 *
 * B1. One operation at a time. Either a block is folded on the blocks before it and given to the store, where several may
 *     be in flight. Or stored blocks are amended, once nothing is in flight. Records that blocks in flight affect are read
 *     from memory instead of the store.
 * B2. A block that shows a lost fork, or comes with a rollback, is preceded by a correction (`corrections.ts`).
 * B3. After a failed commit or an unconfirmed amendment the ingester accepts nothing more. A new ingester continues from
 *     the store's state.
 */
export class Ingester {
  readonly #storage: Storage
  readonly #blocks: TakesBlocks
  readonly #deps: IngesterDeps
  readonly #undoHistory: UndoHistory
  readonly #corrections: Corrections
  readonly #vaults: KnownVaults
  /** State after the last folded block. */
  #market: MarketState
  /** B1. */
  readonly #operations = new PQueue({ concurrency: 1 })
  /** Blocks given to the store and not yet answered, oldest first. */
  readonly #inFlight: BlockInFlight[] = []
  readonly #unseenCalls = new UnseenCalls()
  #broken: Error | null = null

  private constructor(
    storage: Storage,
    blocks: TakesBlocks,
    deps: IngesterDeps,
    state: {
      readonly market: MarketState
      readonly undoHistory: UndoHistory
      readonly periods: readonly DecodingPeriod[]
    }
  ) {
    this.#storage = storage
    this.#blocks = blocks
    this.#deps = deps
    this.#undoHistory = state.undoHistory
    this.#market = state.market
    this.#vaults = new KnownVaults(deps.fold.venues)
    this.#corrections = new Corrections(storage, { ...state, vaults: this.#vaults }, deps, (...amendment) =>
      this.#amend(...amendment)
    )
  }

  /**
   * Opens an ingester after the stored head, and records how it decodes the blocks that follow. `blocks` is the store's
   * write side or a buffer in front of it.
   */
  static async open(
    storage: Storage,
    head: SlotRow | null,
    deps: IngesterDeps,
    blocks: TakesBlocks = {
      commit: (...block) => storage.blocks.commit(...block),
      history: storage.history
    }
  ): Promise<Ingester> {
    const periods = await recordDecoding(storage, head, deps.fold.venues)
    const market = await restoreMarket(storage, head, limitsOf(deps))
    const undoHistory = await UndoHistory.open(storage, head, deps.undoPolicy, deps.logger)
    return new Ingester(storage, blocks, deps, { market, undoHistory, periods })
  }

  get market(): MarketState {
    return this.#market
  }

  /** The last folded block. */
  get #head(): SlotRow | null {
    return this.#market.head
  }

  /**
   * Decodes, folds and commits one block. Further blocks may be given meanwhile; more than `IN_FLIGHT_MAX` bring no
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
    return this.#inTurn(async () => {
      await this.#settled()
      await this.#corrections.insert(blocks, gaps, this.#market)
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#operations.add(async () => {
      if (this.#broken !== null) throw this.#broken
      return work()
    })
  }

  async #take(sourced: SourcedBlock): Promise<Pick<BlockInFlight, 'committed'>> {
    const { rollback, block } = sourced
    if (this.#head === null) return this.#ingest(sourced)
    if (rollback === undefined) {
      if (block.slot > this.#head.slot) return this.#ingest(sourced)
      // The store already has this slot, or another block there; memory must not follow it (INVARIANTS 5).
      return { committed: this.#inFlight.at(-1)?.committed ?? Promise.resolve() }
    }
    await this.#settled()
    if (await this.#corrections.rollBack(sourced, rollback, this.#head))
      return { committed: Promise.resolve() }
    return this.#ingest(sourced)
  }

  async #ingest(sourced: SourcedBlock): Promise<BlockInFlight> {
    const { fold: options } = this.#deps
    if (this.#head !== null && showsLostFork(sourced.block, this.#head)) {
      await this.#settled()
      await this.#corrections.removeFork(sourced.block, this.#head)
    }
    const decoded = await decodeSourced(sourced, this.#deps.transferFees, this.#vaults)
    // Before the commit: after a crash the block is not read again.
    const unseen = this.#unseenCalls.next(decoded, this.#deps.clock.now())
    if (unseen !== null) await this.#storage.coverage.addGap(unseen)
    const { block } = decoded
    if (this.#head === null) await this.#beginWith(block)
    const before = this.#head
    const prepared = this.#market.prepare(block, options)
    const { affected, readSet } = prepared
    // Records of blocks in flight that memory has evicted, or that are of a different minute, are not in the store yet.
    if (this.#inFlight.some((earlier) => isAffected(readSet, earlier.affected))) await this.#settled()
    const loaded = await loadReadSet(this.#storage, readSet)
    const { fold, kept } = this.#undoHistory.wants(block, before)
      ? prepared.foldKept(loaded)
      : { fold: prepared.fold(loaded), kept: undefined }
    this.#deps.committedBlocks?.pending(sourced, decoded.plain)
    const inFlight = { affected, committed: this.#commit(decoded, fold, kept, before) }
    this.#inFlight.push(inFlight)
    return inFlight
  }

  /** Continues the SOL price of the archive in an empty store. */
  async #beginWith(first: FirstBlock): Promise<void> {
    const solUsd = await this.#deps.solUsdBefore?.(first)
    if (solUsd != null) this.#market = new MarketState({ ...EMPTY_START, solUsd }, limitsOf(this.#deps))
  }

  /** Commits a block; its effects in memory come after those of earlier blocks. */
  async #commit(
    decoded: DecodedSource,
    fold: BlockFold,
    kept: KeptBlock | undefined,
    before: SlotRow | null
  ): Promise<void> {
    const { feed, metrics, logger, clock } = this.#deps
    const earlier = this.#inFlight.at(-1)?.committed
    const startedMs = clock.now()
    const answer = feed.commit(
      { ...fold, log: encodeLog(fold, this.#deps.fold.cash) },
      this.#blocks,
      kept,
      before?.slot
    )
    try {
      for (const result of await Promise.allSettled([earlier, answer]))
        if (result.status === 'rejected') throw result.reason
      metrics.commitSeconds.observe((clock.now() - startedMs) / 1000)
      countBlock(decoded, this.#deps)
      if (fold.leftOut > 0)
        logger.error(
          { slot: fold.slot.slot, left_out: fold.leftOut },
          'a slot has more events than its cursors can number; the remaining events are left out'
        )
      metrics.headSlot.set(fold.slot.slot)
      metrics.headTime.set(fold.slot.blockTime)
      logger.debug({ ...countsOf(fold), notes: decoded.notes.length }, 'block committed')
      await this.#undoHistory.committed(fold.slot, kept)
    } catch (error) {
      this.#break(error)
    } finally {
      this.#inFlight.shift()
    }
  }

  /** Resolves once nothing is in flight. */
  async #settled(): Promise<void> {
    await this.#inFlight.at(-1)?.committed
  }

  /** B3. */
  #break(error: unknown): never {
    this.#broken ??= error instanceof Error ? error : new Error(String(error))
    throw error
  }

  async #amend(amendment: Amendment, gaps: GapEdit): Promise<void> {
    const { feed } = this.#deps
    this.#unseenCalls.end()
    try {
      await this.#blocks.history.amend(amendment, gaps).finally(() => feed.amend(amendment.head))
      this.#market = await restoreMarket(this.#storage, amendment.head, limitsOf(this.#deps))
      await this.#undoHistory.changed(this.#storage.coverage)
      if (this.#head !== null) await this.#undoHistory.committed(this.#head, undefined)
    } catch (error) {
      this.#break(error)
    }
  }
}

/** A block that is folded and not yet committed. */
interface BlockInFlight {
  readonly affected: AffectedKeys
  readonly committed: Promise<void>
}

function countsOf({ slot: { slot, trades, events } }: BlockFold) {
  return { slot, trades, events }
}

function limitsOf({ marketBytes }: IngesterDeps): Partial<MarketLimits> {
  return marketBytes === undefined ? {} : marketLimits(marketBytes)
}
