import {
  resendsUntilMs,
  routesOf,
  type Route,
  type Submission,
  type SubmissionProgress
} from './submission.ts'

/** A repeated request for a submission. */
export interface RepeatedRequest {
  readonly route: Route
  readonly revertProtection: boolean
  /** The signed transaction, which an ended submission no longer stores. */
  readonly wire: Uint8Array
  /** Unix milliseconds. */
  readonly atMs: number
}

/** A submission after a repeated request. */
export interface AfterRepeat {
  /** The stored object itself if the request changes nothing. */
  readonly submission: Submission
  /** Whether its sends had stopped and restart. */
  readonly isResumed: boolean
}

/**
 * Applies a repeated request to a submission.
 *
 * R1. Nothing changes once the transaction has landed, or can no longer land.
 * R2. Another route is added. Routes are never removed, and a route that is in use keeps its revert protection.
 * R3. Stopped sends with a durable nonce restart. Running sends do not: no request makes them more frequent.
 * R4. Tracking that ended without a known end restarts if the transaction has a durable nonce. If it has a blockhash,
 *     tracking ended because the transaction can no longer land.
 */
export function afterRepeat(
  submission: Submission,
  progress: SubmissionProgress | null,
  { route, revertProtection, wire, atMs }: RepeatedRequest
): AfterRepeat {
  const isEnded = submission.end !== null
  if (hasLanded(submission.end ?? progress) || (isEnded && !canLandAfterEnd(submission)))
    return { submission, isResumed: false }
  const routes = routesOf(submission)
  const isAdded = !routes.includes(route)
  // If a landing was revoked after the end, the bytes to send are deleted.
  const isWireless = submission.wire === null
  const isResumed = isWireless || atMs >= resendsUntilMs(submission, progress?.firstSentAtMs ?? null)
  if (!isAdded && !isResumed) return { submission, isResumed }
  return {
    submission: {
      ...submission,
      ...(isAdded && { routes: [...routes, route] }),
      ...(isAdded && route === 'jito' && { revertProtection }),
      ...(isResumed && { resumedAtMs: atMs }),
      ...(isEnded && { end: null }),
      ...(isWireless && { wire })
    },
    isResumed
  }
}

/** Returns whether a block has the transaction, in a way that stops its sends. */
function hasLanded(progress: SubmissionProgress | null): boolean {
  if (progress === null || progress.state === 'sent') return false
  return progress.state !== 'processed' || progress.err !== null
}

const canLandAfterEnd = ({ nonceAccount, end }: Submission): boolean =>
  nonceAccount !== null && end?.state === 'sent'
