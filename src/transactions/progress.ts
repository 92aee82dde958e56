import type { TransactionContext, TransactionMachineState } from '../../machines/transaction.machine.ts'
import type { SubmissionProgress } from './submission.ts'

/** A snapshot of a transaction's machine. */
export interface TransactionSnapshot {
  readonly value: TransactionMachineState
  readonly context: TransactionContext
}

/** Returns the progress for a machine's snapshot. A failure is not shown while its error is unknown. */
export function progressOf(
  { value, context }: TransactionSnapshot,
  rest: Pick<SubmissionProgress, 'token' | 'lastValidBlockHeight' | 'updatedAtMs'>
): SubmissionProgress {
  const { sends, ...facts } = context
  const progress = { ...rest, ...facts, rebroadcasts: Math.max(0, sends - 1) }
  // The progress stays at the last known state, because nothing newer is known.
  if (value === 'unresolved') return { ...progress, state: context.commitment ?? 'sent' }
  if (value !== 'failing') return { ...progress, state: value }
  return {
    ...progress,
    state: 'sent',
    slot: null,
    commitment: null,
    index: null,
    err: null,
    confirmations: null,
    landedAtMs: null
  }
}

/** Returns the context with which a machine resumes from stored progress. */
export function contextOf({
  rebroadcasts,
  leadersSent,
  firstSentAtMs,
  lastSentAtMs,
  firstSentSlot,
  slot,
  commitment,
  index,
  err,
  confirmations,
  landedAtMs
}: SubmissionProgress): TransactionContext {
  return {
    sends: firstSentAtMs === null ? 0 : rebroadcasts + 1,
    leadersSent,
    firstSentAtMs,
    lastSentAtMs,
    firstSentSlot,
    slot,
    commitment,
    index,
    err,
    confirmations,
    landedAtMs
  }
}
