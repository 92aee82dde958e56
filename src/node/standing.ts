/**
 * Whether a stream brings the chain that the store goes on with. `other` is certain, and stays so; of `unknown` more may be
 * known later. Reasons are one line, about the server.
 */
export type Standing =
  | { readonly kind: 'same' }
  | { readonly kind: 'other'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

export const SAME: Standing = { kind: 'same' }

/** Of a stream that is of another cluster, and how it shows. */
export function other(how: string): Standing {
  return { kind: 'other', reason: `is of another cluster than what is stored: ${how}` }
}

/** A block by which a server shows which chain it brings. */
export interface WitnessedBlock {
  readonly slot: number
  readonly blockhash: string
  /** Whether there can be no other block of the slot on the same chain, as at processed there can. */
  readonly isSettled: boolean
}
