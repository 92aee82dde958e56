import PQueue from 'p-queue'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import {
  ALL_MINTS,
  LEDGER_PIECE,
  LEDGER_SUM,
  type LedgerPiece,
  type LedgerSum,
  type Sums
} from './ledger-document.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { holesOf, ledgerProgressIn, type LedgerHoleRange } from './ledger-progress.ts'
import { minus, NO_SUMS, plus, type MintSums } from './sums.ts'
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
}

/** Reads the ledger of watched addresses. Entries before an address's `captureFrom` do not exist. */
export class LedgerReader {
  readonly #pieces: Documents<LedgerPiece>
  readonly #sums: Documents<LedgerSum>
  readonly #progress: ReturnType<typeof ledgerProgressIn>

  constructor(store: DocumentStore) {
    this.#progress = ledgerProgressIn(store)
    this.#pieces = new Documents(store, LEDGER_PIECE)
    this.#sums = new Documents(store, LEDGER_SUM)
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
    const { address } = watched
    const from = firstSlot(watched, window)
    if (from === null) return { all: NO_SUMS, byMint: [], lastAt: null }
    const until = Math.min(window.until ?? Infinity, Number.MAX_SAFE_INTEGER)
    const all = await this.#window(address, ALL_MINTS, from, until)
    if (all === null) return { all: NO_SUMS, byMint: [], lastAt: null }
    const byMint: MintSums[] = []
    for await (const { mint, decimals, sums } of this.#mints(address, from, until))
      byMint.push({ mint, decimals, sums })
    return { all: all.sums, byMint, lastAt: all.lastAt }
  }

  async *#rowsOf(
    watched: WatchedAddress,
    { order, after, ...window }: LedgerPage,
    limit: number
  ): AsyncGenerator<LedgerRow, void, undefined> {
    const from = firstSlot(watched, window)
    if (from === null) return
    const { address } = watched
    const least = order === 'asc' ? Math.max(from, after?.slot ?? from) : from
    const until =
      order === 'desc' ? Math.min(window.until ?? Infinity, after?.slot ?? Infinity) : window.until
    const range = {
      ...(least > 0 ? { above: [least - 1] } : {}),
      ...(until === undefined || until === Infinity ? {} : { until: [until] })
    }
    for (let at: string | null = null; ;) {
      const page = await this.#pieces.list(address, { ...range, after: at, order, limit })
      for (const { value } of page.documents) {
        const entries = order === 'asc' ? value.entries : value.entries.toReversed()
        for (const entry of entries) yield { ...entry, address, slot: value.slot, blockTime: value.blockTime }
      }
      if (page.next === null) return
      at = page.next
    }
  }

  /**
   * Sums up a mint's entries from one slot to another; null if there are no entries. `known` is the first document,
   * if it was read.
   */
  async #window(
    address: string,
    mint: string,
    from: number,
    until: number,
    known?: LedgerSum
  ): Promise<MintWindow | null> {
    const range = { prefix: [mint], ...(from > 0 ? { above: [from - 1] } : {}), until: [until], limit: 1 }
    const one = async (order: 'asc' | 'desc'): Promise<LedgerSum | undefined> =>
      (await this.#sums.list(address, { ...range, order })).documents[0]?.value
    const [first, last] = await Promise.all([known ?? one('asc'), one('desc')])
    return first === undefined || last === undefined ? null : windowOf(first, last)
  }

  /** Sums up the entries of each mint from one slot to another. */
  async *#mints(
    address: string,
    from: number,
    until: number
  ): AsyncGenerator<MintWindow & { readonly mint: string }, void, undefined> {
    for (let above = ALL_MINTS, limit = SUMS_MIN; ;) {
      const page = await this.#sums.list(address, { above: [above], limit })
      const groups = [...Map.groupBy(page.documents, ({ value }) => value.mint)]
      for (const [at, [mint, documents]] of groups.entries()) {
        const isWhole = page.next === null || at < groups.length - 1
        const inside = documents.map(({ value }) => value).filter(({ slot }) => slot >= from && slot <= until)
        const [first, last] = [inside[0], inside.at(-1)]
        const known = first === undefined || last === undefined ? null : windowOf(first, last)
        const found = isWhole ? known : await this.#window(address, mint, from, until, first)
        if (found !== null) yield { mint, ...found }
        above = mint
      }
      if (page.next === null) return
      limit = groups.length > limit / 2 ? Math.min(2 * limit, SUMS_MAX) : SUMS_MIN
    }
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
function windowOf(first: LedgerSum, last: LedgerSum): MintWindow {
  const sums = plus(minus(last.total, first.total), first.own)
  return { decimals: last.decimals, sums, lastAt: last.blockTime }
}

/** The first slot of a window in which an address can have entries; null if the window ends before they begin. */
function firstSlot({ captureFrom }: WatchedAddress, { from, until = Infinity }: SlotWindow): number | null {
  if (captureFrom === null || captureFrom.slot > until) return null
  return Math.max(captureFrom.slot, from)
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
