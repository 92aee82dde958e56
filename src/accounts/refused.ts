/** Account data that does not have the expected form. */
export interface Refused {
  readonly kind: 'refused'
  /** Follows "the account": `is owned by another program`. */
  readonly reason: string
}

export const refused = (reason: string): Refused => ({ kind: 'refused', reason })
