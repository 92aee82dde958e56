import type { CanonicalBlock } from '../../src/archive/facts/canonical-blocks.ts'
import { recordDecoding } from '../../src/ingest/decoding-periods.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { AffectedKeys } from '../../src/market/affected-keys.ts'
import type { BlockFold, FoldOptions } from '../../src/market/fold.ts'
import { bucketStart } from '../../src/market/candles.ts'
import { marketLimits } from '../../src/market/market-state.ts'
import { isAffected, type ReadSet } from '../../src/market/read-set.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Clock } from '../../src/ports.ts'
import type { GapRow, Storage } from '../../storage/port.ts'
import { loadReadSet, restoreMarket } from '../ingest/market-loader.ts'

/** Blocks that are written together. A page of trades is written once for all of them. */
const RUN_BLOCKS_MAX = 256
/** Trades that are written together: 20 MB in memory. */
const RUN_TRADES_MAX = 4_000

export interface ArchiveFoldDeps {
  readonly fold: FoldOptions
  /** Bytes for cached rows of recently traded mints. */
  readonly marketBytes: number
  readonly clock: Clock
  /** Called after each commit, in order. */
  readonly onCommitted: (block: CanonicalBlock, fold: BlockFold) => void
}

/**
 * Folds blocks into an archive's store, after its head.
 *
 * A1. Blocks are committed in order, several in one durable step, so that an interrupted fold continues after the head.
 * A2. No events of the stream are stored: an archive is never streamed.
 * A3. Resolves after the last block, or once `end` aborts and the folded blocks are committed.
 *
 * Rejects with the first failure, and with STORAGE_UNAVAILABLE for a damaged archive.
 */
export async function foldArchive(
  storage: Storage,
  blocksAfter: (head: SlotRow | null) => AsyncIterable<CanonicalBlock>,
  deps: ArchiveFoldDeps,
  end: AbortSignal
): Promise<void> {
  refuseDamage(storage)
  const head = await storage.blocks.claim(null)
  await recordDecoding(storage, head, deps.fold.venues)
  const market = await restoreMarket(storage, head, marketLimits(deps.marketBytes))
  const run = new CommitRun(storage, head?.slot, deps.onCommitted)
  const gaps = new UnseenGaps()
  try {
    for await (const canonical of blocksAfter(head)) {
      if (end.aborted) break
      const gap = gaps.next(canonical, deps.clock.now())
      if (gap !== null) await storage.coverage.addGap(gap)
      const prepared = market.prepare(canonical.block, deps.fold)
      const { affected, readSet } = prepared
      // Records that memory has evicted are not in the store yet.
      if (run.affects(readSet)) await run.written()
      const fold = prepared.fold(await loadReadSet(storage, readSet))
      await run.add({ canonical, fold, affected })
    }
  } finally {
    await run.written()
  }
}

interface FoldedBlock {
  readonly canonical: CanonicalBlock
  readonly fold: BlockFold
  readonly affected: AffectedKeys
}

/** Blocks that are folded, and written together while the next ones are folded. */
class CommitRun {
  readonly #storage: Storage
  readonly #onCommitted: ArchiveFoldDeps['onCommitted']
  #before: number | undefined
  #blocks: FoldedBlock[] = []
  #writing: readonly FoldedBlock[] = []
  #written: Promise<void> = Promise.resolve()

  constructor(storage: Storage, head: number | undefined, onCommitted: ArchiveFoldDeps['onCommitted']) {
    this.#storage = storage
    this.#before = head
    this.#onCommitted = onCommitted
  }

  /** Returns whether blocks that are not written yet change any of the addresses. */
  affects(readSet: ReadSet): boolean {
    return [...this.#writing, ...this.#blocks].some(({ affected }) => isAffected(readSet, affected))
  }

  /** Takes a block. Waits if a run is full while the one before is being written. */
  async add(block: FoldedBlock): Promise<void> {
    const [first] = this.#blocks
    const isOtherHour = first !== undefined && hourOf(first) !== hourOf(block)
    if (isOtherHour) await this.#write()
    this.#blocks.push(block)
    if (this.#blocks.length >= RUN_BLOCKS_MAX || tradesOf(this.#blocks) >= RUN_TRADES_MAX) await this.#write()
  }

  /** Resolves once all blocks are durable; rejects with the first failure. */
  async written(): Promise<void> {
    await this.#write()
    await this.#written
  }

  async #write(): Promise<void> {
    await this.#written
    const blocks = this.#blocks
    this.#blocks = []
    this.#writing = blocks
    const last = blocks.at(-1)
    if (last === undefined) return
    const commits = blocks.map(({ fold }) => ({ ...fold, log: [] }))
    const before = this.#before
    this.#before = last.fold.slot.slot
    this.#written = (async () => {
      await this.#storage.blocks.commitAll(commits, before)
      this.#writing = []
      for (const { canonical, fold } of blocks) this.#onCommitted(canonical, fold)
    })()
    // The failure is thrown where the run is awaited.
    this.#written.catch(() => undefined)
  }
}

const hourOf = ({ fold }: FoldedBlock): number => bucketStart('1h', fold.slot.blockTime)
const tradesOf = (blocks: readonly FoldedBlock[]): number =>
  blocks.reduce((sum, { fold }) => sum + fold.trades.length, 0)

/** Throws STORAGE_UNAVAILABLE for a damaged archive. */
export function refuseDamage({ damage: [damage] }: Pick<Storage, 'damage'>): void {
  if (damage === undefined) return
  throw new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `the archive is damaged: ${damage}; run \`npx millrace repair\` with its folder as --data-dir`
  )
}

/** Joins the unseen events of consecutive blocks to one gap, if they have the same reason. */
class UnseenGaps {
  #gap: GapRow | null = null

  /** Returns the gap to store for a block; null if none of its events may be missing. */
  next({ block: { slot }, whole }: CanonicalBlock, atMs: number): GapRow | null {
    const unseen = whole?.unseen ?? null
    if (unseen === null) return (this.#gap = null)
    const isSame = this.#gap?.reason === unseen.reason && this.#gap.detail === unseen.detail
    this.#gap = isSame ? { ...this.#gap!, to: slot } : { from: slot, to: slot, ...unseen, atMs }
    return this.#gap
  }
}
