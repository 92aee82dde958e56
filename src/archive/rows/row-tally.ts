import type { VenueId } from '../../chain/venue-id.ts'
import { pubkeyMapKey } from '../../chain/pubkey.ts'
import type { Mapping } from './mapping.ts'
import { RefusalTally } from './row-refusal.ts'
import type { TradeFact } from './trade-fact.ts'

/** The lowest and the highest of some numbers. */
export interface NumberRange {
  readonly from: number
  readonly to: number
}

/** Maximum mints that are counted one by one, 100 bytes each. */
const MINTS_MAX = 500_000

/** Counts the rows of an import. */
export class RowTally {
  readonly refusals: RefusalTally
  readonly byVenue = new Map<VenueId, number>()
  /** Number of files by the name of their mapping. */
  readonly byMapping = new Map<string, number>()
  readonly #mints = new Set<string>()
  files = 0
  /** Rows that were read, refused ones included. */
  rows = 0
  accepted = 0
  /** Accepted rows without a slot. */
  withoutSlot = 0
  slots: NumberRange | null = null
  /** Unix seconds. */
  times: NumberRange | null = null

  constructor(refusals = new RefusalTally()) {
    this.refusals = refusals
  }

  chose({ name }: Mapping): void {
    this.byMapping.set(name, (this.byMapping.get(name) ?? 0) + 1)
  }

  accept({ slot, blockTime, venue, in: paid, out: received }: TradeFact): void {
    this.accepted++
    this.byVenue.set(venue, (this.byVenue.get(venue) ?? 0) + 1)
    if (slot === null) this.withoutSlot++
    this.slots = widened(this.slots, slot)
    this.times = widened(this.times, blockTime)
    if (this.#mints.size >= MINTS_MAX) return
    this.#mints.add(pubkeyMapKey(paid.mint)).add(pubkeyMapKey(received.mint))
  }

  /** Mints of accepted rows. */
  get mints(): number {
    return this.#mints.size
  }
}

function widened(range: NumberRange | null, value: number | null): NumberRange | null {
  if (value === null) return range
  return range === null
    ? { from: value, to: value }
    : { from: Math.min(range.from, value), to: Math.max(range.to, value) }
}
