/** A range of slots, both ends included. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** Parses a range like `300000000..300000999`; null for any other word. */
export function slotRange(word: string): SlotRange | null {
  const [, from, to] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(word) ?? []
  return from === undefined || Number(to) < Number(from) ? null : { from: Number(from), to: Number(to) }
}
