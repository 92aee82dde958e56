import { Documents, type ListOptions, type Page } from '../../storage/documents.ts'
import type { LedgerStore } from '../../storage/port/ledger.ts'
import { ARCHIVE_PIECE, ARCHIVE_SUM, archivePartition } from './archive-document.ts'
import { slotsBetween, type TimeWindow } from './archived-times.ts'
import { LEDGER_PIECE, LEDGER_SUM, type LedgerPiece, type LedgerSum } from './ledger-document.ts'
import type { LedgerStores } from './ledger-stores.ts'
import type { LedgerSegment } from './watch-history.ts'
import type { WatchedAddress } from './watched-address.ts'

/** Entries that are stored together, of one slot. */
type StoredEntries = Pick<LedgerPiece, 'slot' | 'blockTime' | 'entries'>
/** Sums of a mint over a slot, and over all slots up to it. */
export type StoredSums = Omit<LedgerSum, 'address'>

/** Lists documents of one segment, in the order of their keys. */
type ListSegment<T> = (options: ListOptions) => Promise<Page<T>>

export interface SumList {
  /** The parts of every key before the mint. */
  readonly prefix: NonNullable<ListOptions['prefix']>
  readonly list: ListSegment<StoredSums>
}

/** The entries and sums of segments of ledgers that an earlier version has stored as documents, live and archived ones. */
export class SegmentLists {
  readonly #live: Documents<LedgerPiece>
  readonly #liveSums: Documents<LedgerSum>
  readonly #archived
  readonly #archivedSums
  readonly #ledger: LedgerStore

  constructor({ documents: store, ledger }: LedgerStores) {
    this.#ledger = ledger
    this.#live = new Documents(store, LEDGER_PIECE)
    this.#liveSums = new Documents(store, LEDGER_SUM)
    this.#archived = new Documents(store, ARCHIVE_PIECE)
    this.#archivedSums = new Documents(store, ARCHIVE_SUM)
  }

  /** Keys of entries begin with their slot. */
  entries(
    watched: WatchedAddress,
    { isArchive }: Pick<LedgerSegment, 'isArchive'>
  ): ListSegment<StoredEntries> {
    return isArchive
      ? (options) => this.#archived.list(archivePartition(watched), options)
      : (options) => this.#live.list(watched.address, options)
  }

  /** Keys of sums have a prefix, the mint, and the slot. */
  sums(watched: WatchedAddress, { isArchive }: Pick<LedgerSegment, 'isArchive'>): SumList {
    return isArchive
      ? {
          prefix: [watched.history?.generation ?? 0],
          list: (options) => this.#archivedSums.list(archivePartition(watched), options)
        }
      : { prefix: [], list: (options) => this.#liveSums.list(watched.address, options) }
  }

  /** Returns the first and the last slot with archived entries between two block times; null if the archive has no such entry. */
  async archivedSlots(
    watched: WatchedAddress,
    window: TimeWindow
  ): Promise<{ readonly from: number; readonly to: number } | null> {
    if (watched.history?.isPaged === true)
      return slotsBetween(this.#ledger, archivePartition(watched), window)
    const { from, to } = window
    const prefix = [watched.history?.generation ?? 0]
    const range = {
      prefix,
      limit: 1,
      ...(from > 0 && { above: [from - 1] }),
      ...(to < Infinity && { until: [to - 1] })
    }
    const end = async (order: 'asc' | 'desc'): Promise<number | undefined> => {
      const page = await this.#archivedSums.listBy('time', archivePartition(watched), { ...range, order })
      return page.documents[0]?.value.slot
    }
    const [first, last] = await Promise.all([end('asc'), end('desc')])
    return first === undefined || last === undefined ? null : { from: first, to: last }
  }
}
