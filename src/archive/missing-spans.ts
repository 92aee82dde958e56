/** Slots from the first to the last, both included. */
export interface SlotSpan {
  readonly from: number
  readonly to: number
}

/** The slot of a stored block, and a way to learn its parent; null if that is unknown. */
export interface StoredSlot {
  readonly slot: number
  readonly parentSlot: () => number | null
}

/** Slots that are searched for a block after a span: leaders skip a few slots in a row. */
const NEAR = 64

/**
 * Returns the spans of slots that a store may lack, ascending. A slot between a stored block and its parent has no block on
 * the chain, so it does not count. Slots after the last block count, and so do those around a block of unknown parent.
 * `stored` begins at the span, ascending. Rejects with its error.
 */
export async function missingSpans(
  stored: AsyncIterable<readonly StoredSlot[]>,
  { from, to }: SlotSpan
): Promise<SlotSpan[]> {
  const spans: SlotSpan[] = []
  /** The first slot that is not known to be covered. */
  let next = from
  search: for await (const some of stored)
    for (const { slot, parentSlot } of some) {
      if (next > to || slot > to + NEAR) break search
      // The parent of a block that follows the one before tells nothing, and reading it takes time.
      const before = slot === next ? slot - 1 : Math.min(parentSlot() ?? slot - 1, to)
      if (before >= next) spans.push({ from: next, to: before })
      next = slot + 1
    }
  if (next <= to) spans.push({ from: next, to })
  return spans
}
