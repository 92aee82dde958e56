import type { Commitment } from '../market/rows.ts'

/** The commitments of a node, from the newest state to the most settled one. */
export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const satisfies readonly Commitment[]

/** The commitment of a node's answer to a request that names none. */
export const DEFAULT_COMMITMENT: Commitment = 'finalized'

export type { Commitment }

/** Narrows a value to a commitment. */
export const isCommitment = (value: unknown): value is Commitment =>
  (COMMITMENTS as readonly unknown[]).includes(value)
