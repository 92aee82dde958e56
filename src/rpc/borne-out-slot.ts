/**
 * Returns the highest slot that a majority of nodes has reached, given the slot of each; with two nodes this is the
 * lower one. Returns `indexed`, the slot of the newest block in the store, if that is higher: the blocks themselves
 * prove it. Returns 0 if no slot is known.
 */
export function borneOutSlot(slots: readonly number[], indexed: number | null): number {
  const descending = slots.toSorted((a, b) => b - a)
  return Math.max(indexed ?? 0, descending[Math.floor(descending.length / 2)] ?? 0)
}
