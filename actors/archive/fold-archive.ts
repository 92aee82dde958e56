import type { CanonicalBlock } from '../../src/archive/facts/canonical-blocks.ts'
import { recordDecoding } from '../../src/ingest/decoding-periods.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { AffectedKeys } from '../../src/market/affected-keys.ts'
import type { BlocksFold, FoldOptions } from '../../src/market/fold.ts'
import { bucketStart } from '../../src/market/buckets.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import { areFoldedTogether } from '../../src/market/folded-together.ts'
import { marketLimits } from '../../src/market/market-limits.ts'
import { isAffected, type ReadSet } from '../../src/market/read-set.ts'
import { noRows, type BlockCommit } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Clock } from '../../src/ports.ts'
import type { GapRow, Storage } from '../../storage/port.ts'
import { loadReadSet, restoreMarket } from '../ingest/market-loader.ts'

/**
 * Events that are folded at once and written together: seven minutes of a busy chain, about 120 MB in memory. Two such runs
 * are in memory, one that is folded and one that is written. Rows that grow are computed and written once for all of them:
 * half as many events take a fifth more time, and twice as many bring nothing.
 */
const RUN_EVENTS_MAX = 64_000
/**
 * Events that are folded at once where a group has a limit of blocks: 20 MB in the journal, of which the blocks of a group are
 * written whole.
 */
const GROUP_EVENTS_MAX = 16_000
/** Folds that are written together. The addresses that the next one reads are compared with those of each. */
const RUN_FOLDS_MAX = 256

export interface ArchiveFoldDeps {
  readonly fold: FoldOptions
  /** Bytes for cached rows of recently traded mints. */
  readonly marketBytes: number
  readonly clock: Clock
  /** Called after each commit, in order, with the blocks that were folded at once. */
  readonly onCommitted: (blocks: readonly CanonicalBlock[], fold: BlocksFold) => void
}

/**
 * Folds blocks into an archive's store, after its head.
 *
 * A1. Blocks are committed in order, several in one durable step, so that an interrupted fold continues after the head.
 * A2. No events of the stream are stored: an archive is never streamed.
 * A3. Resolves after the last block, or once `end` aborts and the folded blocks are committed.
 * A4. Blocks of one hour are folded at once, up to the number that the store makes visible in one step: after a crash it has
 *     all of them or none.
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
  let waiting: CanonicalBlock[] = []
  let events = 0
  const eventsMax = storage.commitGroupMax === Infinity ? RUN_EVENTS_MAX : GROUP_EVENTS_MAX
  const foldTogether = async (): Promise<void> => {
    const blocks = waiting
    waiting = []
    events = 0
    if (blocks.length === 0) return
    const prepared = market.prepareBlocks(
      blocks.map(({ block }) => block),
      deps.fold
    )
    const { affected, readSet } = prepared
    // Records that memory has evicted are not in the store yet.
    if (run.affects(readSet)) await run.written()
    await run.add({ blocks, fold: prepared.fold(await loadReadSet(storage, readSet)), affected })
  }
  /** Returns whether a block can be folded at once with those that wait. */
  const isNext = ({ block }: CanonicalBlock): boolean => {
    const [first, last] = [waiting[0], waiting.at(-1)]
    if (first === undefined || last === undefined) return true
    const hasRoom = waiting.length < storage.commitGroupMax && events + block.entries.length <= eventsMax
    return hasRoom && areFoldedTogether(first.block, last.block, block, market.newestTime)
  }
  try {
    for await (const canonical of blocksAfter(head)) {
      if (end.aborted) break
      const gap = gaps.next(canonical, deps.clock.now())
      if (gap !== null) await storage.coverage.addGap(gap)
      if (!isNext(canonical)) await foldTogether()
      waiting.push(canonical)
      events += canonical.block.entries.length
    }
    if (!end.aborted) await foldTogether()
  } finally {
    await run.written()
  }
}

/** Blocks that were folded at once. */
interface FoldedBlocks {
  readonly blocks: readonly CanonicalBlock[]
  readonly fold: BlocksFold
  readonly affected: AffectedKeys
}

/** Blocks that are folded, and written together while the next ones are folded. */
class CommitRun {
  readonly #storage: Storage
  readonly #onCommitted: ArchiveFoldDeps['onCommitted']
  #before: number | undefined
  #folded: FoldedBlocks[] = []
  #events = 0
  #writing: readonly FoldedBlocks[] = []
  #written: Promise<void> = Promise.resolve()

  constructor(storage: Storage, head: number | undefined, onCommitted: ArchiveFoldDeps['onCommitted']) {
    this.#storage = storage
    this.#before = head
    this.#onCommitted = onCommitted
  }

  /** Returns whether blocks that are not written yet change any of the addresses. */
  affects(readSet: ReadSet): boolean {
    return [...this.#writing, ...this.#folded].some(({ affected }) => isAffected(readSet, affected))
  }

  /** Takes blocks. Waits if a run is full while the one before is being written. */
  async add(folded: FoldedBlocks): Promise<void> {
    const [first] = this.#folded
    const isOtherHour = first !== undefined && hourOf(first) !== hourOf(folded)
    if (isOtherHour) await this.#write()
    this.#folded.push(folded)
    this.#events += folded.fold.slots.reduce((sum, { events }) => sum + events, 0)
    if (this.#folded.length >= RUN_FOLDS_MAX || this.#events >= RUN_EVENTS_MAX) await this.#write()
  }

  /** Resolves once all blocks are durable; rejects with the first failure. */
  async written(): Promise<void> {
    await this.#write()
    await this.#written
  }

  async #write(): Promise<void> {
    await this.#written
    const folded = this.#folded
    this.#folded = []
    this.#events = 0
    this.#writing = folded
    const groups = folded.map(({ fold }) => commitsOf(fold))
    const last = groups.at(-1)?.at(-1)
    if (last === undefined) return
    const before = this.#before
    this.#before = last.slot.slot
    this.#written = (async () => {
      await this.#storage.blocks.commitAll(groups, before)
      this.#writing = []
      for (const { blocks, fold } of folded) this.#onCommitted(blocks, fold)
    })()
    // The failure is thrown where the run is awaited.
    this.#written.catch(() => undefined)
  }
}

const hourOf = ({ fold }: FoldedBlocks): number => bucketStart('1h', fold.slots[0]!.blockTime)

/**
 * Returns the commits of blocks that were folded at once. Each has its trades, its pool events and the pools that it named
 * first; the last one has all other rows.
 */
function commitsOf({ slots, ...rows }: BlocksFold): BlockCommit[] {
  const last = slots.at(-1)!
  if (slots.length === 1) return [{ ...rows, slot: last, log: [] }]
  const trades = Map.groupBy(rows.trades, ({ slot }) => slot)
  const poolEvents = Map.groupBy(rows.poolEvents, ({ slot }) => slot)
  const pools = Map.groupBy(rows.pools, ({ firstCursor }) => splitCursor(firstCursor).slot)
  return slots.map((slot) => {
    const lists = { trades: trades.get(slot.slot) ?? [], poolEvents: poolEvents.get(slot.slot) ?? [] }
    return slot === last
      ? { ...rows, ...lists, slot, log: [] }
      : { ...noRows(), ...lists, pools: pools.get(slot.slot) ?? [], slot }
  })
}

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
