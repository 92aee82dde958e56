import type { z } from 'zod'
import type { SUBMISSION_CHANGE } from '../api/submission-change.ts'
import type { Submission, SubmissionProgress } from './submission.ts'

/** Data of an event of the channel `tx`, without the cursor that each connection adds. */
export type SubmissionChange = Omit<z.input<typeof SUBMISSION_CHANGE>, 'cursor'>

/** Returns the event that tells the state of a submission. */
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
    landed_ms: hasLanded ? Math.max(0, landedAtMs - firstSentAtMs) : null,
    received_at_ms: receivedAtMs,
    ts_ms: updatedAtMs
  }
}

/** Tells whether two states of one submission look the same to its tenant. */
export function isSameToTenant(a: SubmissionProgress | null, b: SubmissionProgress): boolean {
  return a?.state === b.state && a.slot === b.slot && a.commitment === b.commitment
}
