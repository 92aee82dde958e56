import type { LedgerStore } from '../../storage/port/ledger.ts'
import { weightOf, type MintTotals } from './mint-totals.ts'
import { sumsIn } from './packed-page.ts'
import { numberedOf, PAGES, slotsOf, TAIL, type NumberedSums, type SumPiece } from './sum-ranges.ts'

/** Ranges, or pages, of one group: those of the range above. */
const GROUP = 16
/**
 * Maximum estimated bytes of cached sums: 200 busy addresses with windows of an hour, a day and all have 20 MB. Those of the
 * address for which sums were read the longest time ago are dropped first.
 */
const BYTES_MAX = 48 * 2 ** 20
/** Maximum addresses with cached sums, also without entries: 1 MB. */
const ADDRESSES_MAX = 10_000
/** Numbers of a level are below this one: slots are below 2^40. */
const LEVEL_STEP = 2 ** 40

/** Changes of entries that were stored, or could have been, by an address's mark and by the progress of all ledgers. */
export interface LedgerEdits {
  readonly ofMark: number
  readonly ofProgress: number
}

/** Rows of one level that are read together, ascending. */
interface Group {
  readonly rows: NumberedSums[]
  /** Rows with numbers below this one are there. */
  to: number
}

/** Cached sums of one address. */
export class AddressSums {
  /** Changes of the ledger that the cached sums have seen. */
  readonly edits: LedgerEdits
  /** Estimated bytes. */
  bytes = 0
  readonly #groups = new Map<number, Group>()
  /** The pages since the slot up to which sums are stored. */
  #tail: Group & { readonly from: number } = { from: 0, rows: [], to: 0 }

  constructor(edits: LedgerEdits) {
    this.edits = edits
  }

  /**
   * Adds the sums of pieces of single groups to totals. Returns the first piece that is not cached, and adds nothing; otherwise
   * null.
   */
  addTo(totals: MintTotals, pieces: readonly SumPiece[]): SumPiece | null {
    for (const piece of pieces) if (!this.#has(piece)) return piece
    for (const piece of pieces)
      for (const { number, sums } of this.#groupOf(piece)!.rows)
        if (number >= piece.from && number < piece.to) totals.add(sums)
    return null
  }

  /** Reads the rest of the group that a piece is of, as far as it is final. Resolves with false if others did so meanwhile. */
  async load(store: LedgerStore, owner: string, piece: SumPiece, final: FinalSlots): Promise<boolean> {
    const { level, from } = piece
    if (level === TAIL) return this.#loadTail(store, owner, final)
    const begin = from - (from % GROUP)
    const first = this.#groupOf(piece)?.to ?? begin
    const to = Math.min(begin + GROUP, Math.floor(final.sealedTo / slotsOf(level)))
    const rows = await rowsOf(store, owner, level, first, to)
    const now = this.#groupOf(piece) ?? { rows: [], to: begin }
    if (now.to !== first) return false
    this.#groups.set(nameOf(level, from), { rows: [...now.rows, ...rows], to })
    this.#grow(rows)
    return true
  }

  async #loadTail(store: LedgerStore, owner: string, { sealedTo, end }: FinalSlots): Promise<boolean> {
    const first = Math.max(this.#tail.to, sealedTo)
    const rows = await rowsOf(store, owner, PAGES, first, end)
    const now = this.#tail
    if (Math.max(now.to, sealedTo) !== first || sealedTo < now.from) return false
    const rest = now.rows.filter(({ number }) => number >= sealedTo)
    this.bytes -= weightOfAll(now.rows) - weightOfAll(rest)
    this.#tail = { from: sealedTo, rows: [...rest, ...rows], to: Math.max(first, end) }
    this.#grow(rows)
    return true
  }

  #grow(rows: readonly NumberedSums[]): void {
    this.bytes += 100 + weightOfAll(rows)
  }

  #has(piece: SumPiece): boolean {
    if (piece.level === TAIL) return this.#tail.from <= piece.from && this.#tail.to >= piece.to
    return (this.#groupOf(piece)?.to ?? 0) >= piece.to
  }

  #groupOf({ level, from }: SumPiece): Group | undefined {
    return level === TAIL ? this.#tail : this.#groups.get(nameOf(level, from))
  }
}

const weightOfAll = (rows: readonly NumberedSums[]): number =>
  rows.reduce((sum, row) => sum + weightOf(row.sums), 0)

/** The ends of what never changes while the edits stay. */
export interface FinalSlots {
  readonly sealedTo: number
  /** The pages of all slots before it are stored. */
  readonly end: number
}

/** Reads the sums of pages, or of ranges. */
export async function rowsOf(
  store: LedgerStore,
  owner: string,
  level: number,
  from: number,
  to: number
): Promise<readonly NumberedSums[]> {
  if (from >= to) return []
  if (level >= 0) return (await store.sums(owner, level, from, to)).map(numberedOf)
  const rows: NumberedSums[] = []
  for (let next = from; next < to;) {
    const pages = await store.pages(owner, { from: next, to: to - 1, order: 'asc', limit: PAGES_PER_READ })
    for (const { slot, value } of pages) rows.push({ number: slot, sums: sumsIn(value) })
    next = pages.length < PAGES_PER_READ ? to : pages.at(-1)!.slot + 1
  }
  return rows
}

/** Pages of one read. */
const PAGES_PER_READ = 256

/** Divides a piece at the ends of groups; the tail is one group. */
export function groupsOf(piece: SumPiece): readonly SumPiece[] {
  const { level, from, to } = piece
  if (level === TAIL) return [piece]
  const pieces: SumPiece[] = []
  for (let first = from; first < to;) {
    const end = Math.min(to, first - (first % GROUP) + GROUP)
    pieces.push({ level, from: first, to: end })
    first = end
  }
  return pieces
}

const nameOf = (level: number, number: number): number =>
  (level + 1) * LEVEL_STEP + Math.floor(number / GROUP)

/** Sums of addresses in memory, for repeated and moving windows. */
export class SumCache {
  readonly #addresses = new Map<string, AddressSums>()
  #bytes = 0

  /** Returns what is cached of an address at these edits. */
  of(owner: string, edits: LedgerEdits): AddressSums {
    const known = this.#addresses.get(owner)
    if (known?.edits.ofMark === edits.ofMark && known.edits.ofProgress === edits.ofProgress) return known
    this.#drop(owner)
    const fresh = new AddressSums(edits)
    this.#addresses.set(owner, fresh)
    // The oldest entry comes first.
    if (this.#addresses.size > ADDRESSES_MAX)
      for (const oldest of this.#addresses.keys().take(1)) this.#drop(oldest)
    return fresh
  }

  /** Counts what was read into an address's sums, which were `before` bytes. */
  grown(owner: string, sums: AddressSums, before: number): void {
    if (this.#addresses.get(owner) !== sums) return
    this.#bytes += sums.bytes - before
    this.#addresses.delete(owner)
    this.#addresses.set(owner, sums)
    for (const oldest of this.#addresses.keys()) {
      if (this.#bytes <= BYTES_MAX) return
      this.#drop(oldest)
    }
  }

  #drop(owner: string): void {
    const known = this.#addresses.get(owner)
    if (known === undefined) return
    this.#bytes -= known.bytes
    this.#addresses.delete(owner)
  }
}
