import type { LedgerPart } from './packed-page.ts'
import type { SumMark } from './sum-mark.ts'
import { rangeStart, type NumberedSums } from './sum-ranges.ts'

/** Addresses whose newest pages are cached: those of ten tenants. One takes 1 to 10 KB. */
const OPEN_MAX = 2_000

/** An address's ledger, as the next block finds it. */
export interface OpenLedger {
  /** Slot of the newest page; -1 before the first. */
  readonly newest: number
  readonly mark: SumMark
  /** The sums of the pages from `mark.sealedTo` on, ascending: those of one range. */
  readonly pages: readonly NumberedSums[]
}

/** Tells whether a block comes after all that is stored. After a lost fork, the mark may be above the newest page that is left. */
export const isNext = ({ slot }: LedgerPart, { newest, mark }: OpenLedger): boolean =>
  slot > newest && slot >= mark.sealedTo

/** Tells whether a next block ends ranges before it whose sums are not stored. */
export const completesRange = ({ slot }: LedgerPart, { mark, pages }: OpenLedger): boolean =>
  pages.length > 0 && rangeStart(slot) > mark.sealedTo

/** The ledgers that a writer has open, by owner. */
export class OpenLedgers {
  readonly #ledgers = new Map<string, OpenLedger>()

  get(owner: string): OpenLedger | undefined {
    return this.#ledgers.get(owner)
  }

  /** Retains a ledger, and closes the one that was written the longest time ago above the limit. */
  set(owner: string, ledger: OpenLedger): void {
    this.#ledgers.delete(owner)
    this.#ledgers.set(owner, ledger)
    if (this.#ledgers.size <= OPEN_MAX) return
    // The oldest entry comes first.
    for (const oldest of this.#ledgers.keys().take(1)) this.#ledgers.delete(oldest)
  }

  delete(owner: string): void {
    this.#ledgers.delete(owner)
  }
}
