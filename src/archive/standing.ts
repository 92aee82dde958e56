import type { Storage } from '../../storage/port.ts'
import type { Archive } from './archive.ts'
import type { ArchiveStanding } from './served-archive.ts'

/**
 * Compares an archive with the live store, before whose first slot it must end. Resolves with null for an empty archive;
 * rejects with the store's error. `firstLive` is the first slot of the live store, null if that store is empty. Whether the
 * archive is adjacent is left open, as false.
 */
export async function archiveStanding(
  storage: Storage,
  firstLive: number | null
): Promise<(ArchiveStanding & { readonly archive: Archive }) | null> {
  const { blocks, damage } = storage
  const [last, oldest] = await Promise.all([blocks.head(), blocks.firstSince(0)])
  const first = oldest === null ? null : await blocks.at(oldest)
  if (last === null || first === null) return null
  const overlaps = firstLive !== null && last.slot >= firstLive
  const reason = overlaps
    ? `it ends at slot ${last.slot}, not before the first indexed slot ${firstLive}: it belongs to another chain, or the index was begun anew at an earlier slot`
    : null
  return { archive: { storage, first, last, isAdjacent: false }, reason: damage[0] ?? reason }
}
