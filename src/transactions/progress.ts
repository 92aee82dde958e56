import { NOWHERE, type Evidence } from '../../machines/landing.ts'
import type { TransactionContext, TransactionMachineState } from '../../machines/transaction.machine.ts'
import type { SubmissionProgress, TransactionState } from './submission.ts'

/** A snapshot of a transaction's machine. */
export interface TransactionSnapshot {
  readonly value: TransactionMachineState
  readonly context: TransactionContext
}

/** Returns the progress for a machine's snapshot. A failure is not shown while its error is unknown. */
export function progressOf(
  { value, context }: TransactionSnapshot,
  rest: Pick<SubmissionProgress, 'token' | 'lastValidBlockHeight' | 'updatedAtMs' | 'absentSlot'>
): SubmissionProgress {
  const { sends, ...facts } = context
  const progress = { ...rest, ...facts, rebroadcasts: Math.max(0, sends - 1) }
  // The progress stays at the last known state, because nothing newer is known.
  if (value === 'unresolved' || value === 'claimed') return { ...progress, state: shownState(context) }
  if (value !== 'failing') return { ...progress, state: value }
  return { ...progress, ...NOWHERE, state: 'sent' }
}

/** Returns the state that follows from the known block. */
function shownState({ commitment, err }: TransactionContext): TransactionState {
  if (commitment === null) return 'sent'
  return commitment === 'finalized' && err !== null ? 'failed' : commitment
}

/**
 * Returns whether stored progress is the end of a submission. A final state that only one node states does not count yet: it
 * may be revoked.
 */
export function isEnd({
  state,
  slot,
  evidence
}: Pick<SubmissionProgress, 'state' | 'slot' | 'evidence'>): boolean {
  if (state === 'expired') return true
  return (state === 'finalized' || state === 'failed') && evidenceOf(slot, evidence) !== 'claim'
}

/** Returns the evidence of stored progress. Earlier versions stored no evidence, and believed one node. */
const evidenceOf = (slot: number | null, evidence: Evidence | null | undefined): Evidence | null =>
  slot === null ? null : (evidence ?? 'claim')

/** Returns the context with which a machine resumes from stored progress. */
export const contextOf = (progress: SubmissionProgress): TransactionContext => ({
  sends: progress.firstSentAtMs === null ? 0 : progress.rebroadcasts + 1,
  leadersSent: progress.leadersSent,
  firstSentAtMs: progress.firstSentAtMs,
  lastSentAtMs: progress.lastSentAtMs,
  firstSentSlot: progress.firstSentSlot,
  slot: progress.slot,
  commitment: progress.commitment,
  index: progress.index,
  err: progress.err,
  confirmations: progress.confirmations,
  landedAtMs: progress.landedAtMs,
  evidence: evidenceOf(progress.slot, progress.evidence),
  claimedAtMs: progress.claimedAtMs ?? null,
  claimedSlot: progress.claimedSlot ?? null
})
