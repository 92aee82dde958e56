import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, PAGE_MAX } from '../../storage/documents.ts'
import {
  ARCHIVE_PIECE,
  ARCHIVE_SUM,
  archivePartition,
  type ArchiveOwner,
  type ArchivePiece,
  type ArchiveSum
} from './archive-document.ts'
import { PIECE_ENTRIES } from './ledger-document.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import type { SlotRange } from './slot-ranges.ts'
import { NO_SUMS, plus, sumsOf } from './sums.ts'
import type { Sums } from './ledger-document.ts'

/** Maximum sums that are written at once. The embedded store writes up to that many without a wait. */
const SUMS_AT_ONCE = 64
/** Pieces of one read: 100 of typical transactions are 80 KB. */
const PIECES_PER_READ = 100
/** Pieces of a slot that are searched for a transaction: more than a block can have for one address is impossible. */
const SLOT_PIECES_MAX = PAGE_MAX

/** Archived entries of one slot. */
export interface ArchivedPart {
  readonly slot: number
  /** Unix seconds. */
  readonly blockTime: number
  /** In the order of the block. */
  readonly entries: readonly LedgerEntry[]
}

/** Writes the archive of a watch. Each method may be repeated after a crash, in any order, and then completes the work. */
export class ArchiveWriter {
  readonly #pieces: Documents<ArchivePiece>
  readonly #sums: Documents<ArchiveSum, 'time'>

  constructor(store: DocumentStore) {
    this.#pieces = new Documents(store, ARCHIVE_PIECE)
    this.#sums = new Documents(store, ARCHIVE_SUM)
  }

  /**
   * Stores entries of whole transactions of one slot. Entries that are already stored are not changed, even if their prices
   * differ. Resolves with the number of entries of transactions that were new.
   */
  async put({ tenant, address }: ArchiveOwner, { slot, blockTime, entries }: ArchivedPart): Promise<number> {
    let added = 0
    for (const [txIndex, list] of Map.groupBy(entries, (entry) => entry.txIndex)) {
      const last = Math.ceil(list.length / PIECE_ENTRIES) - 1
      // The first piece comes last: it says that the transaction is stored.
      for (let piece = last; piece >= 0; piece--) {
        const some = list.slice(piece * PIECE_ENTRIES, (piece + 1) * PIECE_ENTRIES)
        const outcome = await this.#pieces.insert({
          ...{ tenant, address, slot, txIndex, piece, blockTime },
          entries: some
        })
        if (outcome.ok) added += some.length
      }
    }
    return added
  }

  /** Tells whether the entries of a transaction are stored. */
  async has(owner: ArchiveOwner, slot: number, signature: string): Promise<boolean> {
    const page = await this.#pieces.list(archivePartition(owner), { prefix: [slot], limit: SLOT_PIECES_MAX })
    return page.documents.some(({ value }) => value.piece === 0 && value.entries[0]?.signature === signature)
  }

  /** Lists the archived entries of each slot of a range, ascending. */
  async *parts(owner: ArchiveOwner, { from, to }: SlotRange): AsyncGenerator<ArchivedPart, void, undefined> {
    let part: ArchivedPart | null = null
    for (let after: string | null = null; ;) {
      const page = await this.#pieces.list(archivePartition(owner), {
        ...(from > 0 && { above: [from - 1] }),
        until: [to],
        after,
        limit: PIECES_PER_READ
      })
      for (const { value } of page.documents) {
        const { slot, blockTime, entries } = value
        if (part !== null && part.slot !== slot) yield part
        const earlier: readonly LedgerEntry[] = part?.slot === slot ? part.entries : []
        part = { slot, blockTime, entries: [...earlier, ...entries] }
      }
      if (page.next === null) break
      after = page.next
    }
    if (part !== null) yield part
  }

  /** Stores the sums of archived slots under a generation that has none. `pause` lets other work run between slots. */
  async sumUp(
    owner: ArchiveOwner,
    ranges: readonly SlotRange[],
    generation: number,
    pause: () => Promise<void>
  ): Promise<void> {
    const totals = new Map<string, Sums>()
    let writes: Promise<unknown>[] = []
    for (const range of ranges)
      for await (const { slot, blockTime, entries } of this.parts(owner, range)) {
        for (const { mint, decimals, sums: own } of sumsOf(owner.address, entries)) {
          const total = plus(totals.get(mint) ?? NO_SUMS, own)
          totals.set(mint, total)
          const { tenant, address } = owner
          writes.push(
            this.#sums.insert({ tenant, address, generation, mint, slot, blockTime, decimals, own, total })
          )
        }
        if (writes.length < SUMS_AT_ONCE) continue
        await Promise.all(writes)
        writes = []
        await pause()
      }
    await Promise.all(writes)
  }

  /** Deletes the sums of earlier generations, which no reader uses. */
  async removeSums(owner: ArchiveOwner, before: number): Promise<void> {
    for (;;) {
      const { documents } = await this.#sums.list(archivePartition(owner), {
        until: [before - 1],
        limit: SUMS_AT_ONCE
      })
      if (documents.length === 0) return
      await Promise.all(documents.map(async (document) => this.#sums.delete(document)))
    }
  }
}
