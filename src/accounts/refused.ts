/** Account data that is not what it was read as. */
export interface Refused {
  readonly kind: 'refused'
  /** Follows "the account": `is owned by another program`. */
  readonly reason: string
}

export const refused = (reason: string): Refused => ({ kind: 'refused', reason })
