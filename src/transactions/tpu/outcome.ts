import type { QuicFault } from './quic.ts'

/** The outcome of one transaction at one leader. A written one may still never arrive. */
export type LeaderOutcome =
  | 'written'
  /** Too many transactions waited for this leader. */
  | 'queue_full'
  /** It waited too long: the leader's slots were over. */
  | 'late'
  /** There is no connection, and the last attempt is too recent for another one. */
  | 'unreachable'
  | QuicFault

/** Counts outcomes. */
export type CountOutcome = (outcome: LeaderOutcome) => void
