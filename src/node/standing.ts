/**
 * Whether a stream continues the stored chain. `other` is final; `unknown` may change. Reasons are one line about the
 * server.
 */
export type Standing =
  | { readonly kind: 'same' }
  | { readonly kind: 'other'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

export const SAME: Standing = { kind: 'same' }

/** Builds the verdict for a stream of another cluster; `how` names the evidence. */
export function other(how: string): Standing {
  return { kind: 'other', reason: `is of another cluster than the stored blocks: ${how}` }
}

/** A block that shows which chain a server is on. */
export interface WitnessedBlock {
  readonly slot: number
  readonly blockhash: string
  /** Whether a slot has only one block on a chain; false at `processed`. */
  readonly isSettled: boolean
}
