import { z } from 'zod'
import { without, type SlotRange, type TimedRange } from './slot-ranges.ts'

/** Maximum ranges that are imported for a watch; they and the absences fit into a document. */
export const IMPORTED_MAX = 100

/** Maximum imported rows of a watch: ten times those of an address with 100,000 signatures. */
export const IMPORTED_ROWS_MAX = 1_000_000

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

/** Where a ledger begins. */
export const ledgerStart = z.object({
  /** The first slot whose blocks are recorded. */
  slot: z.number(),
  /** Block time of the newest block before it, unix seconds. */
  ts: z.number()
})
export type LedgerStart = z.infer<typeof ledgerStart>

/** A ledger whose watch has ended: its start, and the last block whose rows are all stored. */
export const endedLedger = z.object({
  captureFrom: ledgerStart,
  endSlot: z.number(),
  /** Unix seconds; null if unknown. */
  endTs: z.number().nullable()
})
export type EndedLedger = z.infer<typeof endedLedger>

/** The part of a ledger from before its watch, or from between two watches of the address. */
export const watchHistory = z.object({
  /** Null if no backfill was requested. */
  since: ledgerSince.nullable(),
  /** Time of the last request, unix milliseconds; it names the request. */
  requestedAtMs: z.number(),
  /** Slots whose rows were imported from files, ascending; they become archived once their sums are stored. */
  imported: z.array(timedRange).default([]),
  /** Archived slots of which rows were imported afterwards, ascending: their pages are stored again. */
  restaged: z.array(timedRange).default([]),
  /** Rows that were imported from files. */
  importedRows: z.number().default(0),
  /** Slots whose archived rows are stored, ascending. */
  archived: z.array(timedRange),
  /** Number of the archived ranges, which grows with each further one; 0 before the first. */
  generation: z.number(),
  /** Whether the archived rows are pages. Those of an earlier version are documents until another range is archived. */
  isPaged: z.boolean().default(false),
  /** Slots after `captureFrom` in which the tenant did not watch the address, ascending. */
  absences: z.array(timedRange),
  /** The ledger of the previous watch, until the ledger of this one begins and continues it. */
  resumes: endedLedger.nullable()
})
export type WatchHistory = z.infer<typeof watchHistory>

export const NO_HISTORY: WatchHistory = {
  since: null,
  requestedAtMs: 0,
  imported: [],
  restaged: [],
  importedRows: 0,
  archived: [],
  generation: 0,
  isPaged: false,
  absences: [],
  resumes: null
}

/** The slots of a ledger: those since its start, and its history. */
interface LedgerExtent {
  readonly captureFrom: LedgerStart | null
  readonly history?: WatchHistory | undefined
}

/** A range of slots whose rows are all archived or all live. `to` of the newest one is infinite. */
export interface LedgerSegment extends SlotRange {
  readonly isArchive: boolean
}

/**
 * Returns the segments of a ledger, ascending. Slots have live rows while the address was watched, and archived rows
 * elsewhere. So no row is there twice.
 */
export function segmentsOf({ captureFrom, history = NO_HISTORY }: LedgerExtent): readonly LedgerSegment[] {
  if (captureFrom === null) return []
  const { archived, absences } = history
  const live = without([{ from: captureFrom.slot, to: Infinity }], absences)
  return [
    ...without(archived, live).map((range) => ({ ...range, isArchive: true })),
    ...live.map((range) => ({ ...range, isArchive: false }))
  ].toSorted((a, b) => a.from - b.from)
}

/** Returns the first slot since which the address is watched without an absence. */
export const watchedFrom = (
  captureFrom: LedgerStart,
  { absences }: Pick<WatchHistory, 'absences'> = NO_HISTORY
): number => Math.max(captureFrom.slot, (absences.at(-1)?.to ?? -1) + 1)

/** Begins a ledger at a block, or continues that of the previous watch: the slots between are an absence. */
export function begun(
  captureFrom: LedgerStart,
  history: WatchHistory | undefined
): { readonly captureFrom: LedgerStart; readonly history?: WatchHistory } {
  if (history === undefined) return { captureFrom }
  const { resumes, absences } = history
  if (resumes === null) return { captureFrom, history }
  const { endSlot, endTs } = resumes
  const absence = { from: endSlot + 1, to: captureFrom.slot - 1, fromTs: endTs, toTs: captureFrom.ts }
  const all = absence.from <= absence.to ? [...absences, absence] : absences
  return {
    captureFrom: resumes.captureFrom,
    history: { ...history, resumes: null, absences: limited(all) }
  }
}

/** Joins the two oldest absences, with the slots between them, if there are too many. */
function limited(absences: readonly TimedRange[]): TimedRange[] {
  const [first, second, ...later] = absences
  if (absences.length <= ABSENCES_MAX || first === undefined || second === undefined) return [...absences]
  return [{ ...first, to: second.to, toTs: second.toTs }, ...later]
}

/** Returns the slots that a backfill since a slot has to archive, ascending, whether or not they are archived. */
export function wantedSlots(
  { captureFrom, history = NO_HISTORY }: LedgerExtent,
  sinceSlot: number
): readonly SlotRange[] {
  if (captureFrom === null) return []
  const before = { from: sinceSlot, to: captureFrom.slot - 1 }
  return without(
    [...(before.from <= before.to ? [before] : []), ...history.absences],
    [{ from: 0, to: sinceSlot - 1 }]
  )
}

/** Returns the slots whose rows were found by signatures, from the first to the last one; null if no slots were read that way. */
export function slotsBySignatures({ history = NO_HISTORY }: Pick<LedgerExtent, 'history'>): SlotRange | null {
  const read = without(history.archived, history.imported)
  const [first, last] = [read[0], read.at(-1)]
  return first === undefined || last === undefined ? null : { from: first.from, to: last.to }
}

/** The last block whose rows are stored. */
export interface StoredEnd {
  readonly slot: number
  readonly blockTime: number | null
}

/** Returns the history of a watch that ends; null if it has no rows. */
export function ended(
  captureFrom: LedgerStart | null,
  history: WatchHistory = NO_HISTORY,
  end: StoredEnd | null
): WatchHistory | null {
  // A ledger that has not begun leaves that of the previous watch as it is.
  if (captureFrom === null) return history.resumes === null ? null : history
  if (end === null) return null
  const endSlot = Math.max(end.slot, captureFrom.slot - 1)
  return { ...history, resumes: { captureFrom, endSlot, endTs: end.blockTime } }
}
