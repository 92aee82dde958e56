import type { LedgerStore } from '../../storage/port/ledger.ts'
import type { MintTotals } from './mint-totals.ts'
import {
  groupsOf,
  rowsOf,
  SumCache,
  type AddressSums,
  type FinalSlots,
  type LedgerEdits
} from './sum-cache.ts'
import { markIn, type SumMark } from './sum-mark.ts'
import { PAGES, piecesOf, type SumPiece } from './sum-ranges.ts'

/** Slots from ≤ slot < to. */
export interface SlotSpan {
  readonly from: number
  readonly to: number
}

/** How far ledgers are stored. */
export interface LedgerExtent {
  /** The entries of all slots before it are stored, apart from gaps. */
  readonly end: number
  /** Grows with changes of entries before `end` that no mark reports. */
  readonly edits: number
}

/** Reads that add nothing to the cache, because other requests have read newer marks, before a window is read past it. */
const VAIN_READS_MAX = 2

/** Caches by store: all routes of a process share one. */
const caches = new WeakMap<LedgerStore, SumCache>()

/** Sums up pages of windows of slots. */
export class PagedSums {
  readonly #store: LedgerStore
  readonly #cache: SumCache
  #last = { from: 0, to: 0, sealedTo: 0, pieces: [] as readonly SumPiece[] }

  constructor(store: LedgerStore) {
    this.#store = store
    this.#cache = caches.get(store) ?? new SumCache()
    caches.set(store, this.#cache)
  }

  /** Reads the marks of addresses, in their order. Read them before their sums. */
  async marks(owners: readonly string[]): Promise<readonly SumMark[]> {
    return (await this.#store.marks(owners)).map(markIn)
  }

  /**
   * Adds the sums of an address to totals, if all of them are cached; otherwise adds nothing and returns false. The mark was
   * read after the extent.
   */
  addCached(totals: MintTotals, owner: string, mark: SumMark, span: SlotSpan, extent: LedgerExtent): boolean {
    if (span.to > extent.end) return false
    const pieces = this.#pieces(span.from, span.to, mark.sealedTo)
    return this.#cache.of(owner, editsOf(mark, extent)).addTo(totals, pieces) === null
  }

  /** Adds the sums of an address to totals. The mark was read after the extent. */
  async add(
    totals: MintTotals,
    owner: string,
    mark: SumMark,
    { from, to }: SlotSpan,
    extent: LedgerExtent
  ): Promise<void> {
    const { sealedTo } = mark
    const final: FinalSlots = { sealedTo, end: Math.max(extent.end, sealedTo) }
    const known = Math.min(to, final.end)
    const cached = this.#cache.of(owner, editsOf(mark, extent))
    await this.#addFinal(totals, owner, cached, this.#pieces(from, known, sealedTo), final)
    // Pages of later slots are still being stored.
    for (const { sums } of await rowsOf(this.#store, owner, PAGES, Math.max(from, known), to))
      totals.add(sums)
  }

  /** Divides a window into pieces of single groups. Most addresses of a request have the same ones. */
  #pieces(from: number, to: number, sealedTo: number): readonly SumPiece[] {
    const last = this.#last
    if (last.from === from && last.to === to && last.sealedTo === sealedTo) return last.pieces
    const pieces = piecesOf(from, to, sealedTo).flatMap(groupsOf)
    this.#last = { from, to, sealedTo, pieces }
    return pieces
  }

  async #addFinal(
    totals: MintTotals,
    owner: string,
    cached: AddressSums,
    pieces: readonly SumPiece[],
    final: FinalSlots
  ): Promise<void> {
    for (let vain = 0; vain < VAIN_READS_MAX;) {
      const missing = cached.addTo(totals, pieces)
      if (missing === null) return
      const before = cached.bytes
      if (!(await cached.load(this.#store, owner, missing, final))) vain++
      this.#cache.grown(owner, cached, before)
    }
    for (const { level, from, to } of pieces)
      for (const { sums } of await rowsOf(this.#store, owner, level, from, to)) totals.add(sums)
  }
}

const editsOf = (mark: SumMark, { edits }: LedgerExtent): LedgerEdits => ({
  ofMark: mark.edits,
  ofProgress: edits
})
