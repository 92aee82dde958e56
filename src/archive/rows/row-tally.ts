import type { VenueId } from '../../chain/venue-id.ts'
import { pubkeyMapKey, pubkeyOfMapKey, pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { Mapping } from './mapping.ts'
import { RefusalTally } from './row-refusal.ts'
import type { FactLeg, TradeFact } from './trade-fact.ts'

/** The lowest and the highest of some numbers. */
export interface NumberRange {
  readonly from: number
  readonly to: number
}

/** Maximum mints that are counted one by one, 150 bytes each. */
const MINTS_MAX = 500_000
const NONE: readonly number[] = []

/** Counts the rows of an import. */
export class RowTally {
  readonly refusals: RefusalTally
  readonly byVenue = new Map<VenueId, number>()
  /** Number of files by the name of their mapping. */
  readonly byMapping = new Map<string, number>()
  /** Decimals that accepted rows state, by mint. */
  readonly #mints = new Map<string, readonly number[]>()
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
    this.#note(paid)
    this.#note(received)
  }

  #note({ mint, decimals }: FactLeg): void {
    const text = pubkeyMapKey(mint)
    const known = this.#mints.get(text)
    if (known === undefined && this.#mints.size >= MINTS_MAX) return
    const isKnown = known !== undefined && (decimals === null || known.includes(decimals))
    if (!isKnown) this.#mints.set(text, decimals === null ? NONE : [...(known ?? NONE), decimals])
  }

  /** Mints for which rows state different decimals, by address, with these decimals, ascending. */
  get contradictedMints(): { readonly mint: string; readonly decimals: readonly number[] }[] {
    return [...this.#mints]
      .filter(([, decimals]) => decimals.length > 1)
      .map(([text, decimals]) => ({
        mint: pubkeyToBase58(pubkeyOfMapKey(text)),
        decimals: decimals.toSorted((a, b) => a - b)
      }))
      .sort((a, b) => (a.mint < b.mint ? -1 : 1))
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
