import PQueue from 'p-queue'
import type { LedgerPage as StoredPage, LedgerStore } from '../../storage/port/ledger.ts'
import { archivePartition } from './archive-document.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { documentsToOf, holesOf, ledgerProgressIn, type LedgerHoleRange } from './ledger-progress.ts'
import { segmentsWithin, slotBounds, type SlotWindow, type StoredSegment } from './ledger-segments.ts'
import type { LedgerStores } from './ledger-stores.ts'
import { partOf, type LedgerPart } from './packed-page.ts'
import { SegmentLists } from './segment-lists.ts'
import type { WatchedAddress } from './watched-address.ts'
import { WindowSummer, type WindowSums } from './window-sums.ts'

export type { SlotWindow, WindowSums }

/** Maximum pieces of one read: a page of 100 entries of a quiet address needs few reads. */
const PIECES_PER_READ = 8
/** Maximum pieces of the first reads of all addresses together, with at least one each: 2 MB of JSON. */
const FIRST_PIECES = 64
/** Maximum concurrent reads of addresses, so that a tenant's 200 leave the store to other requests too. */
const READS_AT_ONCE = 16
/** Rows that are merged before other work runs: of 200 addresses, 100 rows take 1 ms. */
const ROWS_PER_SLICE = 100

/** An entry with its address and block. */
export interface LedgerRow extends LedgerEntry {
  readonly address: string
  readonly slot: number
  readonly blockTime: number
  /** Absent for a row that was captured while the address was watched. */
  readonly source?: 'archive'
}

/** The block up to which all rows are stored, apart from gaps. */
export interface LedgerEnd {
  readonly slot: number
  /** Unix seconds; null if unknown. */
  readonly blockTime: number | null
  readonly holes: readonly LedgerHoleRange[]
}

/** A position in the order of rows: after the row that it names. */
export type LedgerPlace = Pick<LedgerRow, 'slot' | 'txIndex' | 'index' | 'address'>

export interface LedgerPage extends SlotWindow {
  readonly order: 'asc' | 'desc'
  /** Only rows after this position. */
  readonly after: LedgerPlace | null
  readonly limit: number
  /** Lets other work run between ROWS_PER_SLICE rows. */
  readonly pause?: () => Promise<void>
}

/** Reads the ledger of watched addresses, live and archived. */
export class LedgerReader {
  readonly #lists: SegmentLists
  readonly #ledger: LedgerStore
  readonly #progress: ReturnType<typeof ledgerProgressIn>
  readonly #sums: WindowSummer

  constructor({ documents, ledger }: LedgerStores) {
    this.#progress = ledgerProgressIn(documents)
    this.#lists = new SegmentLists({ documents, ledger })
    this.#ledger = ledger
    this.#sums = new WindowSummer(this.#lists, ledger)
  }

  /**
   * Reads the end of every ledger; null before the first ledger. Clients see no later rows: those of a block are stored one
   * address after another. Read it before rows and gaps, which are stored before the end passes them.
   */
  async end(): Promise<LedgerEnd | null> {
    const progress = await this.#progress.get()
    const { slot, blockTime } = progress
    return slot === null
      ? null
      : { slot, blockTime: blockTime === 0 ? null : blockTime, holes: holesOf(progress) }
  }

  /** Lists the rows of addresses, ordered by slot, transaction, position and address. Rejects with the store's error. */
  async rows(watched: readonly WatchedAddress[], page: LedgerPage): Promise<readonly LedgerRow[]> {
    const { order, after, limit, pause } = page
    const isAfter = (row: LedgerRow): boolean => after === null || inOrder(after, row, order) < 0
    const documentsTo = documentsToOf(await this.#progress.get())
    const pieces = Math.min(PIECES_PER_READ, Math.ceil(FIRST_PIECES / watched.length))
    const reads = new PQueue({ concurrency: READS_AT_ONCE })
    const lists = watched.map(async (each) => {
      const rows = this.#rowsOf(each, page, pieces, documentsTo)
      return { rows, head: await reads.add(() => nextOf(rows, isAfter)) }
    })
    const waiting = (await Promise.all(lists)).filter(({ head }) => head !== null)
    const found: LedgerRow[] = []
    while (waiting.length > 0 && found.length < limit) {
      const first = waiting.reduce((a, b) => (inOrder(a.head!, b.head!, order) <= 0 ? a : b))
      found.push(first.head!)
      if (found.length % ROWS_PER_SLICE === 0) await pause?.()
      first.head = await nextOf(first.rows, isAfter)
      if (first.head === null) waiting.splice(waiting.indexOf(first), 1)
    }
    return found
  }

  /** Sums up an address's entries in a window. Rejects with the store's error. */
  async sums(watched: WatchedAddress, window: SlotWindow): Promise<WindowSums> {
    const [sums] = await this.sumsOf([watched], window)
    return sums!
  }

  /**
   * Sums up a window of the ledgers of addresses, in their order. Rejects with the store's error, or the signal's reason.
   * `pause` lets other work run.
   */
  async sumsOf(
    watched: readonly WatchedAddress[],
    window: SlotWindow,
    { signal, pause }: { readonly signal?: AbortSignal; readonly pause?: () => Promise<void> } = {}
  ): Promise<readonly WindowSums[]> {
    const progress = await this.#progress.get()
    const { slot, edits = 0 } = progress
    const extent = { documentsTo: documentsToOf(progress), end: (slot ?? -1) + 1, edits }
    return this.#sums.of(watched, window, extent, { signal, pause })
  }

  async *#rowsOf(
    watched: WatchedAddress,
    page: LedgerPage,
    limit: number,
    documentsTo: number
  ): AsyncGenerator<LedgerRow, void, undefined> {
    const { order, after } = page
    const segments = await segmentsWithin(watched, page, documentsTo, this.#lists)
    for (const segment of order === 'asc' ? segments : segments.toReversed()) {
      const from = order === 'asc' ? Math.max(segment.from, after?.slot ?? 0) : segment.from
      const to = order === 'desc' ? Math.min(segment.to, after?.slot ?? Infinity) : segment.to
      if (from <= to) yield* this.#rowsIn(watched, { ...segment, from, to }, order, limit)
    }
  }

  async *#rowsIn(
    watched: WatchedAddress,
    segment: StoredSegment,
    order: 'asc' | 'desc',
    limit: number
  ): AsyncGenerator<LedgerRow, void, undefined> {
    const { address } = watched
    const mark = segment.isArchive ? ({ source: 'archive' } as const) : {}
    const parts = segment.isPaged
      ? this.#pagesIn(watched, segment, order, limit)
      : this.#documentsIn(watched, segment, order, limit)
    for await (const { slot, blockTime, entries } of parts)
      for (const entry of order === 'asc' ? entries : entries.toReversed())
        yield { ...entry, address, slot, blockTime, ...mark }
  }

  async *#pagesIn(
    watched: WatchedAddress,
    { from, to, isArchive }: StoredSegment,
    order: 'asc' | 'desc',
    limit: number
  ): AsyncGenerator<LedgerPart, void, undefined> {
    const { address } = watched
    const owner = isArchive ? archivePartition(watched) : address
    for (let [first, last] = [from, to]; first <= last;) {
      const pages: readonly StoredPage[] = await this.#ledger.pages(owner, {
        from: first,
        to: last,
        order,
        limit
      })
      for (const page of pages) yield partOf({ ...page, owner: address })
      if (pages.length < limit) return
      if (order === 'asc') first = pages.at(-1)!.slot + 1
      else last = pages.at(-1)!.slot - 1
    }
  }

  async *#documentsIn(
    watched: WatchedAddress,
    segment: StoredSegment,
    order: 'asc' | 'desc',
    limit: number
  ): AsyncGenerator<Pick<LedgerPart, 'slot' | 'blockTime' | 'entries'>, void, undefined> {
    const list = this.#lists.entries(watched, segment)
    for (let at: string | null = null; ;) {
      const page = await list({ ...slotBounds(segment), after: at, order, limit })
      for (const { value } of page.documents) yield value
      if (page.next === null) return
      at = page.next
    }
  }
}

/** Returns the next row that belongs to the page; null at the end. */
async function nextOf(
  rows: AsyncGenerator<LedgerRow, void, undefined>,
  isAfter: (row: LedgerRow) => boolean
): Promise<LedgerRow | null> {
  for (;;) {
    const next = await rows.next()
    if (next.done === true) return null
    if (isAfter(next.value)) return next.value
  }
}

/** Compares two positions in an order: below zero if `a` comes before `b`. */
function inOrder(a: LedgerPlace, b: LedgerPlace, order: 'asc' | 'desc'): number {
  const compared =
    a.slot - b.slot ||
    a.txIndex - b.txIndex ||
    a.index - b.index ||
    (a.address < b.address ? -1 : Number(a.address > b.address))
  return order === 'asc' ? compared : -compared
}
