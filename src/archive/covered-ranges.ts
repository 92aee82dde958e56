import { decodedRanges, type DecodingPeriod } from '../market/decoding-period.ts'
import type { GapRow } from '../../storage/port.ts'
import { UNSEEN_REASONS } from '../market/gap-reasons.ts'
import type { VenueId } from '../chain/venue-id.ts'
import type { Archive } from './archive.ts'
import type { ArchivedRange } from './archived-ranges.ts'

/** States of a range of slots. `partial`: candles and totals without rows, or rows without unseen ones (`UNSEEN_REASONS`). */
export const COVERAGE_STATES = ['live', 'archive', 'partial', 'missing'] as const
export type CoverageState = (typeof COVERAGE_STATES)[number]

/** A range of slots, both ends included. */
export interface CoveredRange {
  readonly state: CoverageState
  readonly from: number
  readonly to: number
  /** A word; null unless something is missing. */
  readonly reason: string | null
  /** Venues that it has; null if that was not recorded, and for missing slots. */
  readonly venues: readonly VenueId[] | null
  /** Version of the decoder of its blocks; null likewise, and for rows of files. */
  readonly decoderVersion: number | null
  /** Null for missing slots. */
  readonly origin: ArchivedRange['origin'] | null
  /** Files whose rows are in it, and the mappings of their columns; null unless it is of files. */
  readonly files: Pick<ArchivedRange, 'names' | 'columns'> | null
}

/** The indexed slots, as the store and the archive state them. */
export interface Indexed {
  /** Null while no archive is served. */
  readonly archive: Pick<Archive, 'first' | 'last'> | null
  /** First and newest live slot; null on an empty store. */
  readonly live: { readonly first: number; readonly head: number } | null
  /** The oldest live slot with all its rows; null if no rows have expired. */
  readonly rowsFrom: number | null
  /** Gaps of the live slots that end after `after`, ascending. */
  readonly gaps: readonly Pick<GapRow, 'from' | 'to' | 'reason'>[]
  /** The ranges of the archive, ascending; null if an earlier version imported it. */
  readonly archived: readonly ArchivedRange[] | null
  /** How the blocks of each store were decoded, ascending. */
  readonly periods: { readonly archive: readonly DecodingPeriod[]; readonly live: readonly DecodingPeriod[] }
}

/** Lists the ranges that end after a slot, ascending and without holes. */
export function* coveredRanges(indexed: Indexed, after: number): Generator<CoveredRange, void, undefined> {
  for (const range of allRanges(indexed)) {
    const from = Math.max(range.from, after + 1)
    if (from <= range.to) yield { ...range, from }
  }
}

function* allRanges(indexed: Indexed): Generator<CoveredRange, void, undefined> {
  const { periods, archived } = indexed
  const unknown = { venues: null, decoderVersion: null, files: null }
  for (const range of storedAndMissing(indexed)) {
    if (range.state === 'missing') yield { ...range, ...unknown, origin: null }
    else if (range.state === 'archive' && archived !== null) yield* archivedRanges(range, archived)
    else
      for (const { from, to, period } of decodedRanges(
        range.state === 'archive' ? periods.archive : periods.live,
        range.from,
        range.to
      )) {
        const { venues = null, decoderVersion = null } = period ?? {}
        yield { ...range, ...unknown, from, to, venues, decoderVersion, origin: 'blocks' }
      }
  }
}

/** Yields the ranges of an archive, and the slots between them that it lacks. */
export function* archivedRanges(
  { from: first, to: last }: Pick<CoveredRange, 'from' | 'to'>,
  archived: readonly ArchivedRange[]
): Generator<CoveredRange, void, undefined> {
  const missing = (from: number, to: number): CoveredRange => ({
    ...{ state: 'missing', from, to, reason: 'not_imported', origin: null },
    ...{ venues: null, decoderVersion: null, files: null }
  })
  let next = first
  for (const { from, to, origin, venues, decoderVersion, names, columns } of archived) {
    if (from > last || to < first) continue
    if (from > next) yield missing(next, from - 1)
    const files = origin === 'file' ? { names, columns } : null
    const end = Math.min(to, last)
    yield {
      state: 'archive',
      from: Math.max(from, first),
      to: end,
      reason: null,
      venues,
      decoderVersion,
      origin,
      files
    }
    next = end + 1
  }
  // An import records the ranges of what it adds at its end.
  if (next <= last) yield { ...missing(next, last), state: 'archive', reason: null }
}

type Stretch = Pick<CoveredRange, 'state' | 'from' | 'to' | 'reason'>

function* storedAndMissing({ archive, live, rowsFrom, gaps }: Indexed): Generator<Stretch, void, undefined> {
  if (archive !== null) {
    const { first, last } = archive
    yield { state: 'archive', from: first.slot, to: last.slot, reason: null }
    if (live !== null)
      yield { state: 'missing', from: last.slot + 1, to: live.first - 1, reason: 'not_imported' }
  }
  if (live === null) return
  let from = live.first
  for (const gap of gaps) {
    yield* storedRanges(from, Math.min(gap.from - 1, live.head), rowsFrom)
    const state = UNSEEN_REASONS.has(gap.reason) ? 'partial' : 'missing'
    yield { state, from: Math.max(gap.from, from), to: gap.to, reason: gap.reason }
    from = Math.max(from, gap.to + 1)
  }
  yield* storedRanges(from, live.head, rowsFrom)
}

/** Splits stored slots at the oldest one that still has its rows. */
function* storedRanges(
  from: number,
  to: number,
  rowsFrom: number | null
): Generator<Stretch, void, undefined> {
  const middle = Math.max(from, rowsFrom ?? from)
  yield { state: 'partial', from, to: Math.min(to, middle - 1), reason: 'past_retention' }
  yield { state: 'live', from: middle, to, reason: null }
}
