import { Documents, PAGE_MAX } from '../../storage/documents.ts'
import type { LedgerStore } from '../../storage/port/ledger.ts'
import {
  ARCHIVE_PIECE,
  archivePartition,
  STAGED_PIECE,
  stagedPartition,
  type ArchiveOwner,
  type ArchivePiece
} from './archive-document.ts'
import { PIECE_ENTRIES } from './ledger-document.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import type { LedgerStores } from './ledger-stores.ts'
import { partOf } from './packed-page.ts'

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

/** Stages the archive of a watch. Each method may be repeated after a crash, in any order, and then completes the work. */
export class ArchiveWriter {
  readonly #staged: Documents<ArchivePiece>
  readonly #earlier: Documents<ArchivePiece>
  readonly #ledger: LedgerStore

  constructor({ documents, ledger }: LedgerStores) {
    this.#staged = new Documents(documents, STAGED_PIECE)
    this.#earlier = new Documents(documents, ARCHIVE_PIECE)
    this.#ledger = ledger
  }

  /**
   * Stages entries of whole transactions of one slot. Entries that are already stored are not changed, even if their prices
   * differ. Resolves with the number of entries of transactions that were new.
   */
  async put(owner: ArchiveOwner, { slot, blockTime, entries }: ArchivedPart): Promise<number> {
    const { tenant, address } = owner
    const packed = new Set((await this.#packed(owner, slot)).map(({ txIndex }) => txIndex))
    let added = 0
    for (const [txIndex, list] of Map.groupBy(entries, (entry) => entry.txIndex)) {
      if (packed.has(txIndex)) continue
      if ((await this.#earlier.get(archivePartition(owner), [slot, txIndex, 0])) !== null) continue
      const last = Math.ceil(list.length / PIECE_ENTRIES) - 1
      // The first piece comes last: it says that the transaction is stored.
      for (let piece = last; piece >= 0; piece--) {
        const some = list.slice(piece * PIECE_ENTRIES, (piece + 1) * PIECE_ENTRIES)
        const outcome = await this.#staged.insert({
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
    const query = { prefix: [slot], limit: SLOT_PIECES_MAX }
    const pages = await Promise.all([
      this.#staged.list(stagedPartition(owner, slot), query),
      this.#earlier.list(archivePartition(owner), query)
    ])
    const isOf = ({ piece, entries: [first] }: ArchivePiece): boolean =>
      piece === 0 && first?.signature === signature
    if (pages.some(({ documents }) => documents.some(({ value }) => isOf(value)))) return true
    return (await this.#packed(owner, slot)).some((entry) => entry.signature === signature)
  }

  async #packed(owner: ArchiveOwner, slot: number): Promise<readonly LedgerEntry[]> {
    const query = { from: slot, to: slot, order: 'asc', limit: 1 } as const
    const [page] = await this.#ledger.pages(archivePartition(owner), query)
    return page === undefined ? [] : partOf({ ...page, owner: owner.address }).entries
  }
}
