import PQueue from 'p-queue'
import type { LedgerStore } from '../../storage/port/ledger.ts'
import { archivePartition } from './archive-document.ts'
import { documentSums } from './document-sums.ts'
import { liveSegments, segmentsWithin, type SlotWindow, type StoredSegment } from './ledger-segments.ts'
import type { Sums } from './ledger-document.ts'
import { MintTotals, sumsOfAll } from './mint-totals.ts'
import { PagedSums, type LedgerExtent } from './paged-sums.ts'
import type { SegmentLists } from './segment-lists.ts'
import type { SumMark } from './sum-mark.ts'
import { NO_SUMS, plus, type MintSums } from './sums.ts'
import type { WatchedAddress } from './watched-address.ts'

/** Ledgers that are read at once. A tenant's 200 addresses then leave the store to other requests too. */
const LEDGERS_AT_ONCE = 16
/** Ledgers that are summed up from memory before other work runs: 1 ms. */
const LEDGERS_PER_SLICE = 50

/** Archived slots are stored completely before they are read. */
const ARCHIVE_EXTENT: LedgerExtent = { end: Number.MAX_SAFE_INTEGER, edits: 0 }

/** The sums of a window. */
export interface WindowSums {
  readonly all: Sums
  /** Mints with an entry, in the order of their base58. */
  readonly byMint: readonly MintSums[]
  /** Block time of the newest entry, unix seconds; null if the window is empty. */
  readonly lastAt: number | null
  /** Whether archived entries are counted. */
  readonly hasArchived: boolean
}

/** How far ledgers are stored, and in which way. */
export interface StoredExtent extends LedgerExtent {
  readonly documentsTo: number
}

/** Ends sums in the making, and lets other work run. */
export interface SumsControl {
  readonly signal: AbortSignal | undefined
  readonly pause: (() => Promise<void>) | undefined
}

/** Sums up windows of ledgers, live and archived. */
export class WindowSummer {
  readonly #lists: SegmentLists
  readonly #paged: PagedSums

  constructor(lists: SegmentLists, ledger: LedgerStore) {
    this.#lists = lists
    this.#paged = new PagedSums(ledger)
  }

  /** Sums up a window of ledgers, in their order. Those in memory come first. */
  async of(
    watched: readonly WatchedAddress[],
    window: SlotWindow,
    extent: StoredExtent,
    { signal, pause }: SumsControl
  ): Promise<readonly WindowSums[]> {
    const marks = await this.#paged.marks(watched.map(({ address }) => address))
    const found: (WindowSums | null)[] = []
    for (const [at, each] of watched.entries()) {
      if (at % LEDGERS_PER_SLICE === LEDGERS_PER_SLICE - 1) await pause?.()
      found.push(this.#cached(each, marks[at]!, window, extent))
    }
    const reads = new PQueue({ concurrency: LEDGERS_AT_ONCE })
    return Promise.all(
      found.map(
        async (sums, at) =>
          sums ??
          reads.add(async () => this.#read(watched[at]!, marks[at]!, window, extent), signal && { signal })
      )
    )
  }

  /** Returns the sums of a ledger that has pages alone, if all are cached; otherwise null. */
  #cached(
    watched: WatchedAddress,
    mark: SumMark,
    window: SlotWindow,
    extent: StoredExtent
  ): WindowSums | null {
    const segments = liveSegments(watched, window, extent.documentsTo)
    if (segments === null || !segments.every(({ isPaged }) => isPaged)) return null
    const totals = new MintTotals()
    for (const { from, to } of segments)
      if (!this.#paged.addCached(totals, watched.address, mark, { from, to: to + 1 }, extent)) return null
    return windowOf(totals.sums(), totals.lastAt, false)
  }

  async #read(
    watched: WatchedAddress,
    mark: SumMark,
    window: SlotWindow,
    extent: StoredExtent
  ): Promise<WindowSums> {
    const segments = await segmentsWithin(watched, window, extent.documentsTo, this.#lists)
    const totals = new MintTotals()
    const byMint = new Map<string, MintSums>()
    let [lastAt, hasArchived] = [null as number | null, false]
    for (const segment of segments.filter(({ isPaged }) => !isPaged)) {
      const found = await documentSums(this.#lists, watched, segment)
      if (found === null) continue
      hasArchived ||= segment.isArchive
      lastAt = Math.max(lastAt ?? 0, found.lastAt)
      for (const each of found.byMint) addTo(byMint, each)
    }
    const paged = segments.filter(({ isPaged }) => isPaged)
    const archived = await this.#archived(
      watched,
      paged.filter(({ isArchive }) => isArchive)
    )
    for (const { from, to } of paged.filter(({ isArchive }) => !isArchive))
      await this.#paged.add(totals, watched.address, mark, { from, to: to + 1 }, extent)
    hasArchived ||= archived.lastAt !== null
    for (const each of [archived, totals]) {
      for (const sums of each.sums()) addTo(byMint, sums)
      if (each.lastAt !== null) lastAt = Math.max(lastAt ?? 0, each.lastAt)
    }
    return windowOf([...byMint.values()], lastAt, hasArchived)
  }

  /** Sums up archived pages. Those of a slot never change once it is archived. */
  async #archived(watched: WatchedAddress, segments: readonly StoredSegment[]): Promise<MintTotals> {
    const totals = new MintTotals()
    if (segments.length === 0) return totals
    const owner = archivePartition(watched)
    const [mark] = await this.#paged.marks([owner])
    for (const { from, to } of segments)
      await this.#paged.add(totals, owner, mark!, { from, to: to + 1 }, ARCHIVE_EXTENT)
    return totals
  }
}

function addTo(byMint: Map<string, MintSums>, { mint, decimals, sums }: MintSums): void {
  byMint.set(mint, { mint, decimals, sums: plus(byMint.get(mint)?.sums ?? NO_SUMS, sums) })
}

function windowOf(byMint: readonly MintSums[], lastAt: number | null, hasArchived: boolean): WindowSums {
  return {
    all: sumsOfAll(byMint),
    byMint: byMint.toSorted((a, b) => (a.mint < b.mint ? -1 : 1)),
    lastAt,
    hasArchived
  }
}
