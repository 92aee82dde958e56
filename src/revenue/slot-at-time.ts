import type { HistoryNode } from './history-node.ts'

/**
 * Returns the first slot whose block is not before a time, unix seconds, by some thirty requests; `before` if all earlier
 * blocks are before it. If the node's first block is after the time, returns 0: the slot cannot be known.
 */
export async function slotAtTime(
  node: Pick<HistoryNode, 'firstSlot' | 'blockFrom'>,
  time: number,
  before: number,
  signal: AbortSignal
): Promise<number> {
  let low = await node.firstSlot(signal)
  if (low >= before) return 0
  const first = await node.blockFrom(low, signal)
  if (first?.ts != null && first.ts >= time) return 0
  // The block of `low` is before the time; that of `high` is not.
  let high = before
  while (high - low > 1) {
    const middle = (low + high) >> 1
    const block = await node.blockFrom(middle, signal)
    // A block without a time is taken for a late one: the history begins too early rather than too late.
    if (block === null || block.slot >= high || block.ts === null || block.ts >= time) high = middle
    else low = block.slot
  }
  return high
}
