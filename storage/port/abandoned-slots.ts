/**
 * Slots, first and last, whose versions of accounts count as not there: a mirror ended before they were complete, and the next
 * one began with a snapshot of a later slot. A process that has lost its lease may still write such a version.
 */
export interface AbandonedSlots {
  readonly from: number
  readonly to: number
}

/** Returns the range that has a slot; undefined if the slot was not abandoned. */
export const abandonedAt = (
  abandoned: readonly AbandonedSlots[] | undefined,
  slot: number
): AbandonedSlots | undefined => abandoned?.find(({ from, to }) => from <= slot && slot <= to)
