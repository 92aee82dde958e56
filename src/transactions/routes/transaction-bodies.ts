import type { z } from 'zod'
import { momentText } from '../../access/bodies/api-key.ts'
import type { sentTransactionAnswer, submissionAnswer } from '../bodies/transaction.ts'
import type { FoundMember } from '../bundle-intake.ts'
import type { SignatureStatus } from '../ports.ts'
import { resendsUntilMs, routesOf, type SubmissionProgress } from '../submission.ts'
import { stateOf, type RepeatOutcome, type SubmissionState } from '../submissions.ts'

type SubmissionBody = z.input<typeof submissionAnswer>
type LandedFields = Pick<
  SubmissionBody,
  'status' | 'err' | 'slot' | 'confirmations' | 'tracking' | 'state' | 'expired' | 'evidence'
>

/**
 * Renders a submission for its tenant. A status from the chain can add a block that tracking has not seen, but never
 * removes a block.
 */
export function submissionBody(
  { submission, progress }: SubmissionState,
  nowMs: number,
  onChain: SignatureStatus | null = null
): SubmissionBody {
  const isUnseen = progress === null || progress.slot === null
  const fields = isUnseen && onChain !== null ? landedFields(onChain) : trackedFields(progress)
  const landed = { ...fields, tracking: fields.tracking && isSentAgain({ submission, progress }, nowMs) }
  const { firstSentAtMs, landedAtMs } = progress ?? { firstSentAtMs: null, landedAtMs: null }
  return {
    signature: submission.signature,
    ...landed,
    rebroadcasts: progress?.rebroadcasts ?? 0,
    route: submission.route,
    routes: [...routesOf(submission)],
    received_at: momentText(submission.receivedAtMs),
    first_sent_at: momentOrNull(firstSentAtMs),
    last_sent_at: momentOrNull(progress?.lastSentAtMs ?? null),
    landed_ms:
      firstSentAtMs === null || landedAtMs === null
        ? null
        : Math.max(0, Math.round(landedAtMs - firstSentAtMs)),
    last_valid_block_height: progress?.lastValidBlockHeight ?? null,
    leaders_sent: progress?.leadersSent ?? 0,
    bundle_id: submission.bundleId
  }
}

/** Renders the answer to a repeated request. An ended submission shows its status. */
export function repeatBody(
  { state, isResumed }: Pick<RepeatOutcome, 'state' | 'isResumed'>,
  nowMs: number,
  onChain: SignatureStatus | null
): z.input<typeof sentTransactionAnswer> {
  const { signature, routes, ...shown } = submissionBody(state, nowMs, onChain)
  const { status, state: last, slot, err, expired } = shown
  const ended = { status, ...(last !== null && { state: last }), slot, err, expired }
  return {
    signature,
    repeated: true,
    routes,
    resumed: isResumed,
    ...(state.submission.end !== null && ended)
  }
}

/**
 * Renders a member of a bundle of the tenant. The bundle is sent to the engine once. The chain states the member's
 * outcome; the end of the bundle states that the member can no longer land.
 */
export function memberBody(
  { member, bundle, progress }: FoundMember,
  onChain: SignatureStatus | null
): SubmissionBody {
  const { end } = bundle
  const expired =
    onChain === null && member.isRecent && end?.state === 'failed' && end.reason !== 'dropped_bundle'
  const landed = foreignBody(member.signature, onChain)
  const sentAt = momentOrNull(progress?.submittedAtMs ?? null)
  return {
    ...landed,
    state: onChain === null ? (expired ? 'expired' : 'sent') : landedFields(onChain).state,
    expired,
    route: 'jito',
    routes: ['jito'],
    received_at: momentText(bundle.receivedAtMs),
    first_sent_at: sentAt,
    last_sent_at: sentAt,
    last_valid_block_height: progress?.lastValidBlockHeight ?? null,
    bundle_id: bundle.bundleId
  }
}

/** Renders a transaction that the tenant has not submitted: only public facts of the chain. */
export function foreignBody(signature: string, onChain: SignatureStatus | null): SubmissionBody {
  return {
    signature,
    status: 'unknown',
    err: null,
    slot: null,
    confirmations: null,
    expired: false,
    evidence: null,
    ...(onChain === null ? {} : landedFields(onChain)),
    state: null,
    tracking: false,
    rebroadcasts: 0,
    route: null,
    routes: [],
    received_at: null,
    first_sent_at: null,
    last_sent_at: null,
    landed_ms: null,
    last_valid_block_height: null,
    leaders_sent: 0,
    bundle_id: null
  }
}

/**
 * Tells whether a transaction that has not landed is sent again: while it is tracked, and with a durable nonce only
 * for a limited time.
 */
function isSentAgain(
  { submission, progress }: Pick<SubmissionState, 'submission' | 'progress'>,
  nowMs: number
): boolean {
  if (submission.end !== null) return false
  return nowMs < resendsUntilMs(submission, progress?.firstSentAtMs ?? null)
}

function trackedFields(progress: SubmissionProgress | null): LandedFields {
  const state = stateOf(progress)
  const { err = null, slot = null, confirmations = null, evidence = null } = progress ?? {}
  const facts = { err, slot, confirmations, state, evidence }
  switch (state) {
    case 'sent':
      return { ...facts, status: 'unknown', tracking: true, expired: false }
    case 'processed':
      return { ...facts, status: 'processed', tracking: err === null, expired: false }
    case 'confirmed':
    case 'finalized':
      return { ...facts, status: state, tracking: false, expired: false }
    case 'failed':
      return { ...facts, status: progress?.commitment ?? 'finalized', tracking: false, expired: false }
    case 'expired':
      return { ...facts, status: 'unknown', tracking: false, expired: true }
  }
}

function landedFields({ commitment, err, slot, confirmations, nodes = 1 }: SignatureStatus): LandedFields {
  return {
    evidence: nodes > 1 ? 'nodes' : 'claim',
    status: commitment,
    err: err ?? null,
    slot,
    confirmations,
    tracking: commitment === 'processed' && (err ?? null) === null,
    state: commitment === 'finalized' && (err ?? null) !== null ? 'failed' : commitment,
    expired: false
  }
}

function momentOrNull(unixMs: number | null): string | null {
  return unixMs === null ? null : momentText(unixMs)
}
