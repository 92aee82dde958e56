import type { TimeWindow } from './archived-times.ts'
import type { SegmentLists } from './segment-lists.ts'
import { segmentsOf, type LedgerSegment } from './watch-history.ts'
import type { WatchedAddress } from './watched-address.ts'

/** Slots of a window, both ends included; `until` is absent up to the newest. */
export interface SlotWindow {
  readonly from: number
  readonly until?: number
  /** Replaces the slots in archived segments, whose blocks the index does not have. */
  readonly times?: TimeWindow
}

/** A segment whose entries are stored in one way. */
export interface StoredSegment extends LedgerSegment {
  /** Whether its entries are pages, not documents. */
  readonly isPaged: boolean
}

/**
 * Returns the segments of a ledger within a window, ascending. Live entries up to `documentsTo` are documents, and pages
 * after it.
 */
export async function segmentsWithin(
  watched: WatchedAddress,
  window: SlotWindow,
  documentsTo: number,
  lists: Pick<SegmentLists, 'archivedSlots'>
): Promise<readonly StoredSegment[]> {
  const { times } = window
  const segments = segmentsOf(watched)
  const layout = { documentsTo, isArchivePaged: watched.history?.isPaged ?? false }
  if (times === undefined || !segments.some(({ isArchive }) => isArchive))
    return storedSegments(segments, window, window, layout)
  const archived = await lists.archivedSlots(watched, times)
  return storedSegments(segments, window, archived && { from: archived.from, until: archived.to }, layout)
}

/** Returns the segments of a ledger without archived entries, or null if it has some. */
export function liveSegments(
  watched: WatchedAddress,
  window: SlotWindow,
  documentsTo: number
): readonly StoredSegment[] | null {
  const segments = segmentsOf(watched)
  if (segments.some(({ isArchive }) => isArchive)) return null
  return storedSegments(segments, window, null, { documentsTo, isArchivePaged: false })
}

function storedSegments(
  segments: readonly LedgerSegment[],
  live: SlotWindow,
  archived: SlotWindow | null,
  { documentsTo, isArchivePaged }: { readonly documentsTo: number; readonly isArchivePaged: boolean }
): readonly StoredSegment[] {
  return segments.flatMap((segment) => {
    const slots = segment.isArchive ? archived : live
    if (slots === null) return []
    const from = Math.max(segment.from, slots.from)
    const to = Math.min(segment.to, slots.until ?? Infinity)
    if (segment.isArchive) return [{ ...segment, from, to, isPaged: isArchivePaged }].filter(isFilled)
    const documents = { ...segment, from, to: Math.min(to, documentsTo), isPaged: false }
    const pages = { ...segment, from: Math.max(from, documentsTo + 1), to, isPaged: true }
    return [documents, pages].filter(isFilled)
  })
}

const isFilled = ({ from, to }: Pick<LedgerSegment, 'from' | 'to'>): boolean => from <= to && from < Infinity

/** Returns the slots of a segment as bounds of keys. */
export const slotBounds = ({ from, to }: Pick<LedgerSegment, 'from' | 'to'>) => ({
  ...(from > 0 && { above: [from - 1] }),
  ...(to < Infinity && { until: [to] })
})
