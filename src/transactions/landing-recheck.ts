import type { Submission, SubmissionProgress } from './submission.ts'

/**
 * Delay of each check of a landing that only one node states, in milliseconds: from the end of the submission, then from the
 * previous check. A fault of a node shows within minutes as a rule; an hour leaves time to restart it.
 */
const RECHECK_AFTER_MS = [60_000, 600_000, 3_600_000] as const

/** Returns when the landing of an ended submission is checked after a number of checks; null if no check is due. */
export function recheckAtMs(
  { evidence, slot, updatedAtMs }: Pick<SubmissionProgress, 'evidence' | 'slot' | 'updatedAtMs'>,
  checks: number
): number | null {
  const afterMs = RECHECK_AFTER_MS[checks]
  return slot === null || evidence !== 'node' || afterMs === undefined ? null : updatedAtMs + afterMs
}

/**
 * Returns an ended submission, to be tracked again for a check of its landing; `submission` itself if no check is
 * due. Its signed bytes are deleted, so a landing that is revoked is not resent before a repeated request.
 */
export function reopenedForCheck(submission: Submission): Submission {
  const { recheckAtMs: dueAtMs, rechecks = 0, ...rest } = submission
  if (submission.end === null || dueAtMs === undefined) return submission
  return { ...rest, end: null, rechecks: rechecks + 1 }
}

/** Returns the progress with which the check begins: the claim of one node, which later answers confirm or refute. */
export const progressForCheck = (end: SubmissionProgress, token: number): SubmissionProgress => ({
  ...end,
  token,
  evidence: 'claim'
})
