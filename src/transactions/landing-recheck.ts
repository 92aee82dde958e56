import type { Submission, SubmissionProgress } from './submission.ts'

/**
 * Milliseconds from the end of a submission, and from each check, until the landing that one node alone states is checked
 * again. A fault of a node shows within minutes as a rule; an hour leaves time to restart it.
 */
const RECHECK_AFTER_MS = [60_000, 600_000, 3_600_000] as const

/** Returns when the landing of an ended submission is checked after a number of checks; null if it needs none. */
export function recheckAtMs(
  { evidence, slot, updatedAtMs }: Pick<SubmissionProgress, 'evidence' | 'slot' | 'updatedAtMs'>,
  checks: number
): number | null {
  const afterMs = RECHECK_AFTER_MS[checks]
  return slot === null || evidence !== 'node' || afterMs === undefined ? null : updatedAtMs + afterMs
}

/**
 * Returns an ended submission as it is tracked again for a check of its landing; the same object if no check is due. Its
 * signed bytes are gone, so a landing that is taken back is not sent again before a repeated request.
 */
export function reopenedForCheck(submission: Submission): Submission {
  const { recheckAtMs: dueAtMs, rechecks = 0, ...rest } = submission
  if (submission.end === null || dueAtMs === undefined) return submission
  return { ...rest, end: null, rechecks: rechecks + 1 }
}

/** Returns the progress with which the check begins: the word of one node, which the next answers bear out or refute. */
export const progressForCheck = (end: SubmissionProgress, token: number): SubmissionProgress => ({
  ...end,
  token,
  evidence: 'claim'
})
