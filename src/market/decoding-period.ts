import { DECODER_VERSION } from '../chain/decoder-version.ts'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'

/** How blocks were decoded from a slot on, until the next period begins. */
export interface DecodingPeriod {
  /** The first slot; earlier slots belong to the period before, or are of a store that did not record it yet. */
  readonly from: number
  /** Venues whose events gave rows, in the order of VENUE_IDS. */
  readonly venues: readonly VenueId[]
  /** At least this version: blocks that were inserted later may have been decoded by a newer one. */
  readonly decoderVersion: number
}

/** Returns how blocks are decoded from a slot on under the given settings; all venues if they are absent. */
export function currentPeriod(from: number, venues: ReadonlySet<VenueId> | undefined): DecodingPeriod {
  return {
    from,
    venues: VENUE_IDS.filter((venue) => venues?.has(venue) !== false),
    decoderVersion: DECODER_VERSION
  }
}

/** Returns the period that a slot belongs to; null if it was not recorded. `periods` ascend. */
export function periodAt(periods: readonly DecodingPeriod[], slot: number): DecodingPeriod | null {
  return periods.findLast(({ from }) => from <= slot) ?? null
}

/** Returns the options for a block of a slot, with the venues of its period, so that a stored block gives its rows again. */
export function optionsAt<Options extends { readonly venues?: ReadonlySet<VenueId> }>(
  options: Options,
  periods: readonly DecodingPeriod[],
  slot: number
): Options {
  const period = periodAt(periods, slot)
  return period === null ? options : { ...options, venues: new Set(period.venues) }
}

/** Returns whether blocks of two periods are decoded alike. */
export function isSameDecoding(a: DecodingPeriod | null, b: DecodingPeriod | null): boolean {
  if (a === null || b === null) return a === b
  return a.decoderVersion === b.decoderVersion && a.venues.join() === b.venues.join()
}

/** A range of slots, both ends included, and how its blocks were decoded; null if that was not recorded. */
export interface DecodedRange {
  readonly from: number
  readonly to: number
  readonly period: DecodingPeriod | null
}

/** Divides a range of slots where the decoding changes, ascending. `periods` ascend. */
export function* decodedRanges(
  periods: readonly DecodingPeriod[],
  first: number,
  last: number
): Generator<DecodedRange, void, undefined> {
  for (let from = first; from <= last;) {
    const period = periodAt(periods, from)
    const next = periods.find((each) => each.from > from && !isSameDecoding(each, period))
    const to = next === undefined ? last : Math.min(last, next.from - 1)
    yield { from, to, period }
    from = to + 1
  }
}

/** Returns the wanted venues that were not decoded in a period. */
export function venuesLacking({ venues }: DecodingPeriod, wanted: readonly VenueId[]): VenueId[] {
  return wanted.filter((venue) => !venues.includes(venue))
}
