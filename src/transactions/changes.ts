import type { z } from 'zod'
import type { SUBMISSION_CHANGE } from './bodies/submission-change.ts'
import type { Submission, SubmissionProgress } from './submission.ts'

/** Data of an event of the channel `tx`, without the cursor that each connection adds. */
export type SubmissionChange = Omit<z.input<typeof SUBMISSION_CHANGE>, 'cursor'>

/** Returns the event that reports the state of a submission. */
export function submissionChange(
  { signature, route, bundleId, receivedAtMs }: Submission,
  progress: SubmissionProgress
): SubmissionChange {
  const { state, slot, err, commitment, firstSentAtMs, landedAtMs, rebroadcasts, updatedAtMs } = progress
  const hasLanded = landedAtMs !== null && firstSentAtMs !== null
  return {
    event: state,
    signature,
    route,
    bundle_id: bundleId,
    commitment,
    slot,
    err,
    rebroadcasts,
    landed_ms: hasLanded ? Math.max(0, Math.round(landedAtMs - firstSentAtMs)) : null,
    received_at_ms: receivedAtMs,
    ts_ms: updatedAtMs
  }
}

/** The facts by which a tenant distinguishes two states of a submission. */
export type SeenState = Pick<SubmissionProgress, 'state' | 'slot' | 'commitment'>

export const seenStateOf = ({ state, slot, commitment }: SeenState): SeenState => ({
  state,
  slot,
  commitment
})

/** Returns whether a tenant would see two states of a submission as equal. */
export function isSameToTenant(a: SeenState | null, b: SeenState): boolean {
  return a?.state === b.state && a.slot === b.slot && a.commitment === b.commitment
}

/** Returns the state that an event reported. */
export function publishedState({ event, slot, commitment }: SubmissionChange): SeenState {
  return { state: event, slot, commitment }
}

/** Returns whether two events of one submission report equal states. */
export function isSameChange(a: SubmissionChange | null, b: SubmissionChange): boolean {
  return isSameToTenant(a && publishedState(a), publishedState(b))
}

/**
 * Returns progress at the state last reported to the tenant. A change is stored before its progress, so the reported
 * state is as new as the stored progress, or newer. Only changes before the first block are stored late.
 */
export function progressAsPublished(
  progress: SubmissionProgress,
  published: SubmissionChange
): SubmissionProgress {
  const seen = publishedState(published)
  if (isSameToTenant(progress, seen) || progress.updatedAtMs > published.ts_ms) return progress
  const { err = null, slot, landed_ms: landedMs, ts_ms: updatedAtMs } = published
  const { firstSentAtMs } = progress
  return {
    ...progress,
    ...seen,
    err,
    index: null,
    confirmations: null,
    // Its evidence is not published. It restarts, unless the block is the stored one.
    ...(slot !== progress.slot && {
      evidence: slot === null ? null : 'claim',
      claimedAtMs: null,
      claimedSlot: null
    }),
    landedAtMs: landedMs === null || firstSentAtMs === null ? null : firstSentAtMs + landedMs,
    updatedAtMs
  }
}
