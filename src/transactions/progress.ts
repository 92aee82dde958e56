import type { TransactionContext, TransactionMachineState } from '../../machines/transaction.machine.ts'
import type { SubmissionProgress } from './submission.ts'

/** A transaction as its machine has it. */
export interface TransactionSnapshot {
  readonly value: TransactionMachineState
  readonly context: TransactionContext
}

/** Returns the progress that a machine stands for. Of a failure whose error is not known yet nothing is shown. */
export function progressOf(
  { value, context }: TransactionSnapshot,
  rest: Pick<SubmissionProgress, 'token' | 'lastValidBlockHeight' | 'updatedAtMs'>
): SubmissionProgress {
  const { sends, ...facts } = context
  const progress = { ...rest, ...facts, rebroadcasts: Math.max(0, sends - 1) }
  // It stays as it was known last: nothing else is true of it.
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

/** Returns the context with which a machine goes on from stored progress. */
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
