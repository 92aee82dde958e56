import type { BackfillJob } from './backfill-document.ts'
import { jobOf } from './backfill-jobs.ts'
import { GAP_REASONS } from './ledger-gap.ts'
import { united, without, type SlotRange, type TimedRange } from './slot-ranges.ts'
import { NO_HISTORY } from './watch-history.ts'
import type { WatchedAddress } from './watched-address.ts'

/**
 * Reasons why slots of one ledger are missing: its tenant did not watch the address, or its requested history is not stored
 * yet.
 */
export const HISTORY_GAP_REASONS = ['not_registered', 'between_archive_and_live'] as const
/** All reasons why slots of a ledger are missing. */
export const ALL_GAP_REASONS = [...GAP_REASONS, ...HISTORY_GAP_REASONS] as const

/** Slots that a ledger lacks. */
export interface HistoryGap extends TimedRange {
  readonly reason: (typeof ALL_GAP_REASONS)[number]
}

/**
 * Lists the slots that a ledger lacks for another reason than a gap of the live ledgers, ascending: those that a backfill
 * has not archived yet or cannot archive, and those in which the address was not watched.
 */
export function historyGaps(watched: WatchedAddress, stored: BackfillJob | null): readonly HistoryGap[] {
  const { captureFrom, history = NO_HISTORY } = watched
  if (captureFrom === null) return []
  const { archived, absences } = history
  const unread = jobOf(watched, stored)?.unread ?? null
  const absent = absences.flatMap((absence) =>
    without([absence], archived).map((range) => ({
      ...timed(range, absence),
      reason: 'not_registered' as const
    }))
  )
  const lost =
    unread === null ? [] : [{ ...unread, fromTs: null, toTs: null, reason: 'upstream_missing' as const }]
  return [...gapsBefore(watched, stored), ...absent, ...lost.map(({ count: _, ...gap }) => gap)].sort(
    (a, b) => a.from - b.from
  )
}

/** Returns the slots between the archived rows and the first live one; null if all are stored. */
export function gapBeforeLive(watched: WatchedAddress, stored: BackfillJob | null): TimedRange | null {
  const last = united(gapsBefore(watched, stored)).at(-1)
  if (last === undefined || last.to !== watched.captureFrom!.slot - 1) return null
  return { from: last.from, to: last.to, fromTs: last.fromTs, toTs: last.toTs }
}

/** Lists the requested slots before the live ledger that are not archived. */
function gapsBefore(watched: WatchedAddress, stored: BackfillJob | null): readonly HistoryGap[] {
  const { captureFrom, history = NO_HISTORY } = watched
  const { since, archived } = history
  if (captureFrom === null || since === null) return []
  const job = jobOf(watched, stored)
  // The slot of a time is unknown before the first answer of the node.
  const from = job?.sinceSlot ?? since.slot ?? 0
  const whole = { from, to: captureFrom.slot - 1, fromTs: since.ts, toTs: captureFrom.ts }
  if (whole.from > whole.to) return []
  const missing = without([whole], archived)
  const pending = without(missing, job?.unavailable ?? [])
  return [
    ...pending.map((range) => ({ ...timed(range, whole), reason: 'between_archive_and_live' as const })),
    ...without(missing, pending).map((range) => ({
      ...timed(range, whole),
      reason: 'upstream_missing' as const
    }))
  ]
}

/** Adds the times of a whole range to a part of it, where they have the same ends. */
const timed = ({ from, to }: SlotRange, whole: TimedRange): TimedRange => ({
  from,
  to,
  fromTs: from === whole.from ? whole.fromTs : null,
  toTs: to === whole.to ? whole.toTs : null
})
