import type { QuicFault } from './quic.ts'

/** The outcome of one transaction at one leader. A written transaction may still never arrive. */
export type LeaderOutcome =
  | 'written'
  /** Too many transactions waited for this leader. */
  | 'queue_full'
  /** It waited too long: the leader's slots were over. */
  | 'late'
  /** Not connected, and the last attempt is too recent to reconnect. */
  | 'unreachable'
  | QuicFault

/** Counts outcomes. */
export type CountOutcome = (outcome: LeaderOutcome) => void
