import PQueue from 'p-queue'
import type { DocumentStore } from '../../storage/document-store.ts'
import { ALL_MINTS, type Sums } from './ledger-document.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { holesOf, ledgerProgressIn, type LedgerHoleRange } from './ledger-progress.ts'
import { SegmentLists, type StoredSums, type SumList, type TimeWindow } from './segment-lists.ts'
import { minus, NO_SUMS, plus, type MintSums } from './sums.ts'
import { segmentsOf, type LedgerSegment } from './watch-history.ts'
import type { WatchedAddress } from './watched-address.ts'

/** Maximum pieces of one read: a page of 100 entries of a quiet address needs few reads. */
const PIECES_PER_READ = 8
/** Maximum pieces of the first reads of all addresses together, with at least one each: 2 MB of JSON. */
const FIRST_PIECES = 64
/** Maximum concurrent reads of addresses, so that a tenant's 200 leave the store to other requests too. */
const READS_AT_ONCE = 16
/**
 * Minimum and maximum sums of one read. A mint with thousands of documents costs few unneeded sums, and thousands of
 * mints with one document each cost few reads.
 */
const [SUMS_MIN, SUMS_MAX] = [4, 256]

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

/** Slots of a window, both ends included; `until` is absent up to the newest. */
export interface SlotWindow {
  readonly from: number
  readonly until?: number
  /** Replaces the slots in archived segments, whose blocks the index does not have. */
  readonly times?: TimeWindow
}

export interface LedgerPage extends SlotWindow {
  readonly order: 'asc' | 'desc'
  /** Only rows after this position. */
  readonly after: LedgerPlace | null
  readonly limit: number
  /** Lets other work run between ROWS_PER_SLICE rows. */
  readonly pause?: () => Promise<void>
}

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

/** Reads the ledger of watched addresses, live and archived. */
export class LedgerReader {
  readonly #lists: SegmentLists
  readonly #progress: ReturnType<typeof ledgerProgressIn>

  constructor(store: DocumentStore) {
    this.#progress = ledgerProgressIn(store)
    this.#lists = new SegmentLists(store)
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
    const pieces = Math.min(PIECES_PER_READ, Math.ceil(FIRST_PIECES / watched.length))
    const reads = new PQueue({ concurrency: READS_AT_ONCE })
    const lists = watched.map(async (each) => {
      const rows = this.#rowsOf(each, page, pieces)
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
    let [all, lastAt]: [Sums, number | null] = [NO_SUMS, null]
    let hasArchived = false
    const byMint = new Map<string, MintSums>()
    for (const segment of await this.#segments(watched, window)) {
      const list = this.#lists.sums(watched, segment)
      const of = await sumsOfMint(list, ALL_MINTS, segment)
      if (of === null) continue
      all = plus(all, of.sums)
      hasArchived ||= segment.isArchive
      lastAt = Math.max(lastAt ?? 0, of.lastAt)
      for await (const { mint, decimals, sums } of sumsOfMints(list, segment))
        byMint.set(mint, { mint, decimals, sums: plus(byMint.get(mint)?.sums ?? NO_SUMS, sums) })
    }
    return {
      all,
      byMint: [...byMint.values()].sort((a, b) => (a.mint < b.mint ? -1 : 1)),
      lastAt,
      hasArchived
    }
  }

  /** Returns the segments of a ledger within a window, ascending. */
  async #segments(
    watched: WatchedAddress,
    { from, until = Infinity, times }: SlotWindow
  ): Promise<readonly LedgerSegment[]> {
    const segments = segmentsOf(watched)
    const isTimed = times !== undefined && segments.some(({ isArchive }) => isArchive)
    const slots = isTimed ? await this.#lists.archivedSlots(watched, times) : { from, to: until }
    return segments.flatMap((segment) => {
      const window = segment.isArchive ? slots : { from, to: until }
      if (window === null) return []
      const clipped = { from: Math.max(segment.from, window.from), to: Math.min(segment.to, window.to) }
      return clipped.from <= clipped.to ? [{ ...segment, ...clipped }] : []
    })
  }

  async *#rowsOf(
    watched: WatchedAddress,
    page: LedgerPage,
    limit: number
  ): AsyncGenerator<LedgerRow, void, undefined> {
    const { order, after } = page
    const segments = await this.#segments(watched, page)
    for (const segment of order === 'asc' ? segments : segments.toReversed()) {
      const from = order === 'asc' ? Math.max(segment.from, after?.slot ?? 0) : segment.from
      const to = order === 'desc' ? Math.min(segment.to, after?.slot ?? Infinity) : segment.to
      if (from <= to) yield* this.#rowsIn(watched, { ...segment, from, to }, order, limit)
    }
  }

  async *#rowsIn(
    watched: WatchedAddress,
    segment: LedgerSegment,
    order: 'asc' | 'desc',
    limit: number
  ): AsyncGenerator<LedgerRow, void, undefined> {
    const { address } = watched
    const mark = segment.isArchive ? ({ source: 'archive' } as const) : {}
    const list = this.#lists.entries(watched, segment)
    for (let at: string | null = null; ;) {
      const page = await list({ ...slotRange(segment), after: at, order, limit })
      for (const { value } of page.documents) {
        const { slot, blockTime } = value
        const entries = order === 'asc' ? value.entries : value.entries.toReversed()
        for (const entry of entries) yield { ...entry, address, slot, blockTime, ...mark }
      }
      if (page.next === null) return
      at = page.next
    }
  }
}

/** Returns the slots of a segment as bounds of keys. */
const slotRange = ({ from, to }: Pick<LedgerSegment, 'from' | 'to'>) => ({
  ...(from > 0 && { above: [from - 1] }),
  ...(to < Infinity && { until: [to] })
})

/** Sums up a mint's entries in a segment; null if there are no entries. `known` is the first document, if it was read. */
async function sumsOfMint(
  { prefix, list }: SumList,
  mint: string,
  segment: LedgerSegment,
  known?: StoredSums
): Promise<MintWindow | null> {
  const range = { ...slotRange(segment), prefix: [...prefix, mint], limit: 1 }
  const one = async (order: 'asc' | 'desc'): Promise<StoredSums | undefined> =>
    (await list({ ...range, order })).documents[0]?.value
  const [first, last] = await Promise.all([known ?? one('asc'), one('desc')])
  return first === undefined || last === undefined ? null : windowOf(first, last)
}

/** Sums up the entries of each mint in a segment. */
async function* sumsOfMints(
  sums: SumList,
  segment: LedgerSegment
): AsyncGenerator<MintWindow & { readonly mint: string }, void, undefined> {
  const { prefix, list } = sums
  for (let above = ALL_MINTS, limit = SUMS_MIN; ;) {
    const page = await list({ prefix, above: [above], limit })
    const groups = [...Map.groupBy(page.documents, ({ value }) => value.mint)]
    for (const [at, [mint, documents]] of groups.entries()) {
      const isWhole = page.next === null || at < groups.length - 1
      const inside = documents
        .map(({ value }) => value)
        .filter(({ slot }) => slot >= segment.from && slot <= segment.to)
      const [first, last] = [inside[0], inside.at(-1)]
      const known = first === undefined || last === undefined ? null : windowOf(first, last)
      const found = isWhole ? known : await sumsOfMint(sums, mint, segment, first)
      if (found !== null) yield { mint, ...found }
      above = mint
    }
    if (page.next === null) return
    limit = groups.length > limit / 2 ? Math.min(2 * limit, SUMS_MAX) : SUMS_MIN
  }
}

/** The sums of a mint's entries in a window, or of all mints. */
interface MintWindow {
  readonly decimals: number
  readonly sums: Sums
  /** Block time of the newest entry, unix seconds. */
  readonly lastAt: number
}

/** Returns the sums of a window by its first and its last document. */
function windowOf(first: StoredSums, last: StoredSums): MintWindow {
  const sums = plus(minus(last.total, first.total), first.own)
  return { decimals: last.decimals, sums, lastAt: last.blockTime }
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
