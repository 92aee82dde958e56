import type { SourcedBlock } from '../src/block-source.ts'
import type { CommitFeed } from '../src/commit-feed.ts'
import type { DecodingReport } from '../src/decoding-report.ts'
import type { DecodedTransactions } from '../src/chain/decode-block.ts'
import { unchanged, type Amendment, type Edit } from '../src/market/amendment.ts'
import type { DecodedBlock } from '../src/market/block.ts'
import { foldBlock, type BlockFold, type FoldOptions } from '../src/market/fold.ts'
import { marketBefore, type KeptBlock } from '../src/market/kept-block.ts'
import type { MarketState } from '../src/market/market-state.ts'
import { isTouched } from '../src/market/missing.ts'
import type { RefoldTools } from '../src/market/refold.ts'
import type { BlockRows, SlotRow } from '../src/market/rows.ts'
import { touchedBy, type Touched } from '../src/market/touched.ts'
import type { Clock } from '../src/ports.ts'
import { encodeLog } from '../src/stream/encode.ts'
import type { Logger, Metrics } from '../src/telemetry.ts'
import type { BlockStore, GapRow, History, Storage } from '../storage/port.ts'
import { decodeInTurns } from './decoding.ts'
import { withLateBlocks, withoutFork } from './course-changes.ts'
import { KeptRun, type Keeping } from './kept-run.ts'
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
    const market = await restoreMarket(storage, head)
    const run = await KeptRun.open(storage, head, deps.keeping, deps.logger)
    return new Ingester(storage, blocks, deps, { head, market, run })
  }

  get market(): MarketState {
    return this.#market
  }

  /** Decodes, folds and commits one block. The next ones may be given meanwhile: `UNDER_WAY_MAX` of them are of use. */
  async ingest(sourced: SourcedBlock): Promise<void> {
    const { committed } = await this.#inTurn(() => this.#ingest(sourced).catch((error) => this.#break(error)))
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

  async #ingest(sourced: SourcedBlock): Promise<UnderWay> {
    const { fold: options } = this.#deps
    await this.#takeBack(sourced.block)
    const decoded = await decode(sourced)
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
    const underWay = { touched, committed: this.#commit(sourced, decoded, fold, kept, before) }
    this.#underWay.push(underWay)
    return underWay
  }

  /** Commits a block, and takes note of it after those before it. */
  async #commit(
    sourced: SourcedBlock,
    decoded: Decoded,
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
      this.#count(sourced, decoded, fold)
      metrics.headSlot.set(fold.slot.slot)
      metrics.headTime.set(fold.slot.blockTime)
      logger.debug({ ...countsOf(fold), notes: decoded.notes.length }, 'block committed')
      await this.#run.committed(fold.slot.slot, kept)
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

  async #insert(blocks: readonly SourcedBlock[], gaps: GapEdit): Promise<void> {
    await this.#settled()
    const { metrics, logger } = this.#deps
    if (blocks.length === 0) {
      await this.#amend(unchanged(this.#head, this.#market.totals), gaps)
      return
    }
    const inserted = await Promise.all(blocks.map(decode))
    const late = inserted.map(({ block }) => block)
    const amendment = await withLateBlocks(late, this.#run, this.#tools)
    await this.#amend(amendment, gaps)
    metrics.blocksBackfilled.inc(blocks.length)
    for (const [at, decoded] of inserted.entries()) this.#count(blocks[at]!, decoded, null)
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
      this.#market = await restoreMarket(this.#storage, this.#head)
      await this.#run.changed(this.#storage.coverage)
      if (this.#head !== null) await this.#run.committed(this.#head.slot, undefined)
    } catch (error) {
      this.#break(error)
    }
  }

  get #tools(): RefoldTools {
    const { fold } = this.#deps
    return { fold, load: (missing) => loadMissing(this.#storage, missing), encode: this.#encode }
  }

  readonly #encode = (rows: BlockRows) => encodeLog(rows, this.#deps.fold.cash)

  #count({ block }: SourcedBlock, { entries, notes }: Decoded, fold: BlockFold | null): void {
    const { decoding, metrics, logger } = this.#deps
    decoding.count(entries, notes)
    metrics.blocks.inc()
    metrics.transactions.inc({ kind: 'vote' }, block.votes)
    metrics.transactions.inc({ kind: 'other' }, block.transactions.length)
    if (fold !== null && fold.leftOut > 0)
      logger.error({ slot: block.slot, left_out: fold.leftOut }, 'a slot has more events than positions')
  }
}

/** A block that was folded and is not committed. */
interface UnderWay {
  readonly touched: Touched
  readonly committed: Promise<void>
}

interface Decoded extends DecodedTransactions {
  readonly block: DecodedBlock
}

async function decode({ block, commitment, receivedAtMs }: SourcedBlock): Promise<Decoded> {
  const { entries, notes } = await decodeInTurns(block.transactions)
  const { slot, blockTime, parentSlot, blockhash = null, votes } = block
  const transactions = block.transactions.length + votes
  return {
    block: { slot, blockTime, parentSlot, blockhash, receivedAtMs, commitment, transactions, entries },
    entries,
    notes
  }
}

function countsOf({ slot: { slot, trades, events } }: BlockFold) {
  return { slot, trades, events }
}
