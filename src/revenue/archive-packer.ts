import { Documents, type Stored } from '../../storage/documents.ts'
import type { LedgerStore } from '../../storage/port/ledger.ts'
import {
  ARCHIVE_PIECE,
  ARCHIVE_SUM,
  archivePartition,
  archivePrefix,
  STAGED_PIECE,
  STAGED_SLOTS,
  stagedPartition,
  type ArchiveOwner,
  type ArchivePiece,
  type ArchiveSum
} from './archive-document.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import type { LedgerStores } from './ledger-stores.ts'
import { partOf, type LedgerPart } from './packed-page.ts'
import { PagedLedger, type LedgerWriting } from './paged-ledger.ts'
import { slotBounds } from './ledger-segments.ts'
import type { SlotRange } from './slot-ranges.ts'

/** Pieces of one read: 100 of typical transactions are 80 KB. */
const PIECES_PER_READ = 100
/** Partitions of staged pieces that are looked into at once: most of a long range are empty. */
const PARTITIONS_AT_ONCE = 16
/** Documents that are deleted at once. */
const DELETED_AT_ONCE = 64

/** Slots whose entries are packed, ascending. */
export interface PackedSlots {
  /** Slots with staged entries. */
  readonly staged: readonly SlotRange[]
  /** Slots with entries that an earlier version has stored. */
  readonly earlier: readonly SlotRange[]
}

/**
 * Packs the entries of archives into pages, one for each slot, with the sums of ranges of slots: once all entries of a range
 * are staged, and those that an earlier version has stored. Each method may be repeated after a crash.
 */
export class ArchivePacker {
  readonly #staged: Documents<ArchivePiece>
  readonly #earlier: Documents<ArchivePiece>
  readonly #earlierSums: Documents<ArchiveSum, 'time'>
  readonly #ledger: LedgerStore
  readonly #writing: LedgerWriting
  /** Lets other work run. */
  readonly #pause: () => Promise<void>

  constructor({ documents, ledger }: LedgerStores, writing: LedgerWriting, pause: () => Promise<void>) {
    this.#staged = new Documents(documents, STAGED_PIECE)
    this.#earlier = new Documents(documents, ARCHIVE_PIECE)
    this.#earlierSums = new Documents(documents, ARCHIVE_SUM)
    this.#ledger = ledger
    this.#writing = writing
    this.#pause = pause
  }

  /** Stores the pages of slots, and their sums. Readers may read pages of other slots meanwhile. */
  async pack(owner: ArchiveOwner, { staged, earlier }: PackedSlots): Promise<void> {
    const set = { prefix: archivePrefix(owner), pause: this.#pause }
    const pages = new PagedLedger(this.#ledger, this.#writing, set)
    await pages.insert(owner.address, this.#parts(owner, this.#earlierPieces(owner, earlier)))
    await pages.insert(owner.address, this.#parts(owner, this.#stagedPieces(owner, staged)))
  }

  /** Deletes the documents of packed slots, and the sums of an earlier version: no reader uses them. */
  async removePacked(owner: ArchiveOwner, { staged, earlier }: PackedSlots): Promise<void> {
    for await (const some of this.#stagedPieces(owner, staged)) await deleteEach(this.#staged, some)
    for await (const some of this.#earlierPieces(owner, earlier)) await deleteEach(this.#earlier, some)
    for (;;) {
      const { documents } = await this.#earlierSums.list(archivePartition(owner), { limit: DELETED_AT_ONCE })
      if (documents.length === 0) return
      await deleteEach(this.#earlierSums, documents)
      await this.#pause()
    }
  }

  /** Yields the slots that have pieces of transactions without an entry in a page, ascending, with all of their entries. */
  async *#parts(
    owner: ArchiveOwner,
    lists: AsyncIterable<readonly Stored<ArchivePiece>[]>
  ): AsyncGenerator<LedgerPart, void> {
    let slot: Stored<ArchivePiece>[] = []
    for await (const list of lists)
      for (const piece of list) {
        if (slot.length > 0 && slot[0]!.value.slot !== piece.value.slot) {
          yield* this.#partOf(owner, slot)
          slot = []
        }
        slot.push(piece)
      }
    if (slot.length > 0) yield* this.#partOf(owner, slot)
  }

  async *#partOf(
    owner: ArchiveOwner,
    pieces: readonly Stored<ArchivePiece>[]
  ): AsyncGenerator<LedgerPart, void> {
    const { slot, blockTime } = pieces[0]!.value
    const query = { from: slot, to: slot, order: 'asc', limit: 1 } as const
    const [page] = await this.#ledger.pages(archivePartition(owner), query)
    const { address } = owner
    const packed = page === undefined ? [] : partOf({ ...page, owner: address }).entries
    const known = new Set(packed.map(({ txIndex }) => txIndex))
    const added = pieces
      .filter(({ value }) => !known.has(value.txIndex))
      .flatMap(({ value }) => value.entries)
    if (added.length === 0) return
    yield { address, slot, blockTime, blockhash: null, entries: [...packed, ...added].toSorted(inBlock) }
  }

  async *#earlierPieces(
    owner: ArchiveOwner,
    ranges: readonly SlotRange[]
  ): AsyncGenerator<readonly Stored<ArchivePiece>[], void> {
    for (const range of ranges) yield* this.#pagesOf(this.#earlier, archivePartition(owner), range)
  }

  async *#stagedPieces(
    owner: ArchiveOwner,
    ranges: readonly SlotRange[]
  ): AsyncGenerator<readonly Stored<ArchivePiece>[], void> {
    for (const range of ranges)
      for (let from = range.from; from <= range.to;) {
        const partitions: { readonly name: string; readonly slots: SlotRange }[] = []
        for (; partitions.length < PARTITIONS_AT_ONCE && from <= range.to;) {
          const to = Math.min(range.to, from - (from % STAGED_SLOTS) + STAGED_SLOTS - 1)
          partitions.push({ name: stagedPartition(owner, from), slots: { from, to } })
          from = to + 1
        }
        const firsts = await Promise.all(
          partitions.map(({ name, slots }) =>
            this.#staged.list(name, { ...slotBounds(slots), limit: PIECES_PER_READ })
          )
        )
        for (const [at, { documents, next }] of firsts.entries()) {
          if (documents.length > 0) yield documents
          const { name, slots } = partitions[at]!
          if (next !== null) yield* this.#pagesOf(this.#staged, name, slots, next)
        }
        await this.#pause()
      }
  }

  async *#pagesOf(
    documents: Documents<ArchivePiece>,
    partition: string,
    slots: SlotRange,
    first: string | null = null
  ): AsyncGenerator<readonly Stored<ArchivePiece>[], void> {
    for (let after = first; ;) {
      const page = await documents.list(partition, { ...slotBounds(slots), after, limit: PIECES_PER_READ })
      if (page.documents.length > 0) yield page.documents
      if (page.next === null) return
      after = page.next
      await this.#pause()
    }
  }
}

const inBlock = (a: LedgerEntry, b: LedgerEntry): number => a.txIndex - b.txIndex || a.index - b.index

async function deleteEach<T>(
  documents: { readonly delete: (document: Stored<T>) => Promise<boolean> },
  some: readonly Stored<T>[]
): Promise<void> {
  for (let from = 0; from < some.length; from += DELETED_AT_ONCE)
    await Promise.all(some.slice(from, from + DELETED_AT_ONCE).map((each) => documents.delete(each)))
}
