/** Slots from the first to the last, both included. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** The slots of a word like `300000000..300000999`; null for any other. */
export function slotRange(word: string): SlotRange | null {
  const [, from, to] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(word) ?? []
  return from === undefined || Number(to) < Number(from) ? null : { from: Number(from), to: Number(to) }
}
