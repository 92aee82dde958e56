import { z } from 'zod'
import { without, common, type SlotRange } from './slot-ranges.ts'
import type { WatchedAddress } from './watched-address.ts'

/** Maximum absences of a watch. A further one is joined with the oldest, together with the slots between them. */
export const ABSENCES_MAX = 16

export const timedRange = z.object({
  from: z.number(),
  to: z.number(),
  fromTs: z.number().nullable(),
  toTs: z.number().nullable()
})

/** A requested start of a ledger: a slot, or a time in unix seconds. The other one is null. */
export const ledgerSince = z.object({ slot: z.number().nullable(), ts: z.number().nullable() })
export type LedgerSince = z.infer<typeof ledgerSince>

/** The part of a ledger from before its watch, or from between two watches of the address. */
export const watchHistory = z.object({
  /** Null if no backfill was requested. */
  since: ledgerSince.nullable(),
  /** Time of the last request, unix milliseconds; it names the request. */
  requestedAtMs: z.number(),
  /** Slots whose archived rows are stored, ascending. */
  archived: z.array(timedRange),
  /** Generation of the sums of the archived rows; 0 before the first. */
  generation: z.number(),
  /** Slots after `captureFrom` in which the tenant did not watch the address, ascending. */
  absences: z.array(timedRange)
})
export type WatchHistory = z.infer<typeof watchHistory>

export const NO_HISTORY: WatchHistory = {
  since: null,
  requestedAtMs: 0,
  archived: [],
  generation: 0,
  absences: []
}

/** A range of slots whose rows are all archived or all live. `to` of the newest one is infinite. */
export interface LedgerSegment extends SlotRange {
  readonly isArchive: boolean
}

/**
 * Returns the segments of a ledger, ascending. A slot has either archived or live rows: archived ones before the ledger
 * begins and in archived absences, live ones elsewhere.
 */
export function segmentsOf({
  captureFrom,
  history = NO_HISTORY
}: Pick<WatchedAddress, 'captureFrom' | 'history'>): readonly LedgerSegment[] {
  if (captureFrom === null) return []
  const { archived, absences } = history
  const live = without([{ from: captureFrom.slot, to: Infinity }], common(absences, archived))
  return [
    ...without(archived, live).map((range) => ({ ...range, isArchive: true })),
    ...live.map((range) => ({ ...range, isArchive: false }))
  ].toSorted((a, b) => a.from - b.from)
}

/** Returns the slots that a backfill since a slot has to archive, ascending, whether or not they are archived. */
export function wantedSlots(
  { captureFrom, history = NO_HISTORY }: Pick<WatchedAddress, 'captureFrom' | 'history'>,
  sinceSlot: number
): readonly SlotRange[] {
  if (captureFrom === null) return []
  const before = { from: sinceSlot, to: captureFrom.slot - 1 }
  return without(
    [...(before.from <= before.to ? [before] : []), ...history.absences],
    [{ from: 0, to: sinceSlot - 1 }]
  )
}
