import { readDecodingPeriods, type DecodedStore } from '../../src/ingest/decoding-periods.ts'
import { periodAt, venuesLacking } from '../../src/market/decoding-period.ts'
import { readArchivedRanges, type ArchivedRange } from '../../src/archive/archived-ranges.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import type { Archive } from '../../src/archive/archive.ts'
import type { BlockStore } from '../../storage/port.ts'

type Ends = Pick<Archive, 'storage' | 'first' | 'last'>

/** Seconds of whole blocks that windows need: a day, and the day before it for changes. */
const REACH = 2 * 86_400

/** The live store, as far as its beginning is compared. */
export interface LiveBeginning extends DecodedStore {
  readonly blocks: Pick<BlockStore, 'at'>
}

/**
 * Returns whether an archive ends where the live store begins: the first live block is the child of the archive's last one,
 * and the archive has whole blocks with all venues of that block. Unknown parents and venues count as different. Rejects with the store's
 * error.
 */
export async function isAdjacent(archive: Ends, live: LiveBeginning, firstLive: number): Promise<boolean> {
  const { last } = archive
  const next = await live.blocks.at(firstLive)
  // A block without a parent was read from single transactions, and may lack others.
  if (next === null || last.parentSlot === null) return false
  if ((next.parentSlot ?? next.slot - 1) > last.slot) return false
  const livePeriods = await readDecodingPeriods(live)
  const wanted = periodAt(livePeriods, firstLive) ?? livePeriods[0]
  if (wanted === undefined) return false
  const ranges = await readArchivedRanges(archive.storage)
  return ranges === null
    ? await hasVenues(archive, wanted.venues)
    : await hasWholeBlocks(archive, ranges, wanted.venues)
}

/** Returns whether all blocks of an archive of an earlier version have some venues. */
async function hasVenues({ storage, first }: Ends, wanted: readonly VenueId[]): Promise<boolean> {
  const periods = await readDecodingPeriods(storage)
  const isKnown = periodAt(periods, first.slot) !== null
  return isKnown && periods.every((period) => venuesLacking(period, wanted).length === 0)
}

/** Returns whether an archive has whole blocks with some venues as far back as windows reach, or from its first slot on. */
async function hasWholeBlocks(
  { storage, first, last }: Ends,
  ranges: readonly ArchivedRange[],
  wanted: readonly VenueId[]
): Promise<boolean> {
  let from = last.slot + 1
  for (const range of ranges.toReversed()) {
    const isWhole = range.origin === 'blocks' && range.venues !== null
    if (!isWhole || range.to + 1 < from || wanted.some((venue) => !range.venues!.includes(venue))) break
    from = range.from
  }
  if (from > last.slot) return false
  const oldest = from <= first.slot ? null : await storage.blocks.at(from)
  return from <= first.slot || (oldest !== null && oldest.blockTime <= last.blockTime - REACH)
}
