import type { ChainNode } from './chain-node.ts'
import { NodeError } from './node-fault.ts'

/**
 * Lists slots with blocks from one on, at most `limit`, from the first node that has the beginning. Blocks that only other
 * nodes list are found as parents. Throws NodeError if no node lists slots.
 */
export async function listSlots(
  nodes: readonly ChainNode[],
  from: number,
  limit: number,
  signal: AbortSignal
): Promise<readonly number[]> {
  let fault: NodeError | undefined
  let slots: readonly number[] = []
  for (const node of nodes) {
    try {
      const listed = await node.slotsFrom(from, limit, signal)
      // A node that has pruned the beginning leaves it to the archive.
      if (slots.length === 0 || (listed[0] ?? Infinity) < slots[0]!) slots = listed
      if (slots[0] === from) return slots
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      fault = error
    }
  }
  if (slots.length === 0 && fault !== undefined) throw fault
  return slots
}
