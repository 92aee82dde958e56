import { readDecodingPeriods, type DecodedStore } from '../../src/ingest/decoding-periods.ts'
import { periodAt, venuesLacking } from '../../src/market/decoding-period.ts'
import type { Archive } from '../../src/archive/archive.ts'
import type { BlockStore } from '../../storage/port.ts'

/** The live store, as far as its beginning is compared. */
export interface LiveBeginning extends DecodedStore {
  readonly blocks: Pick<BlockStore, 'at'>
}

/**
 * Returns whether an archive ends where the live store begins: the first live block is the child of the archive's last one,
 * and the archive has all venues of that block. Unknown parents and venues count as different. Rejects with the store's
 * error.
 */
export async function isAdjacent(
  { storage: archive, first, last }: Pick<Archive, 'storage' | 'first' | 'last'>,
  live: LiveBeginning,
  firstLive: number
): Promise<boolean> {
  const next = await live.blocks.at(firstLive)
  // A block without a parent was read from single transactions, and may lack others.
  if (next === null || last.parentSlot === null) return false
  if ((next.parentSlot ?? next.slot - 1) > last.slot) return false
  const [livePeriods, periods] = await Promise.all([readDecodingPeriods(live), readDecodingPeriods(archive)])
  const wanted = periodAt(livePeriods, firstLive) ?? livePeriods[0]
  const isKnown = wanted !== undefined && periodAt(periods, first.slot) !== null
  return isKnown && periods.every((period) => venuesLacking(period, wanted.venues).length === 0)
}
