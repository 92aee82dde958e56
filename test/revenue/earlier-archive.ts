import { ARCHIVE_PIECE, ARCHIVE_SUM, type ArchiveOwner } from '../../src/revenue/archive-document.ts'
import { ArchivePacker } from '../../src/revenue/archive-packer.ts'
import { ArchiveWriter, type ArchivedPart } from '../../src/revenue/archive-writer.ts'
import type { Sums } from '../../src/revenue/ledger-document.ts'
import type { LedgerStores } from '../../src/revenue/ledger-stores.ts'
import type { SlotRange } from '../../src/revenue/slot-ranges.ts'
import { NO_SUMS, plus, sumsOf } from '../../src/revenue/sums.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'

/** Stores an archive as versions before its pages did: documents, with running sums under a generation. */
export async function putEarlierArchive(
  store: DocumentStore,
  owner: ArchiveOwner,
  parts: readonly ArchivedPart[],
  generation: number
): Promise<void> {
  const pieces = new Documents(store, ARCHIVE_PIECE)
  const sums = new Documents(store, ARCHIVE_SUM)
  const totals = new Map<string, Sums>()
  for (const { slot, blockTime, entries } of parts.toSorted((a, b) => a.slot - b.slot)) {
    for (const [txIndex, some] of Map.groupBy(entries, (entry) => entry.txIndex))
      await pieces.insert({ ...owner, slot, txIndex, piece: 0, blockTime, entries: some })
    for (const { mint, decimals, sums: own } of sumsOf(owner.address, entries)) {
      const total = plus(totals.get(mint) ?? NO_SUMS, own)
      totals.set(mint, total)
      await sums.insert({ ...owner, generation, mint, slot, blockTime, decimals, own, total })
    }
  }
}

/** Stages the parts of an archive, and packs the slots of ranges. */
export async function packArchive(
  storage: LedgerStores,
  owner: ArchiveOwner,
  parts: readonly ArchivedPart[],
  ranges: readonly SlotRange[],
  earlier: readonly SlotRange[] = []
): Promise<void> {
  const writer = new ArchiveWriter(storage)
  for (const part of parts) await writer.put(owner, part)
  const packer = new ArchivePacker(storage, { token: 1, isOurs: null }, async () => undefined)
  await packer.pack(owner, { staged: ranges, earlier })
  await packer.removePacked(owner, { staged: ranges, earlier })
}
