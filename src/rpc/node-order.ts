import type { Commitment } from './commitment.ts'
import type { RpcUpstream } from './upstreams.ts'

/** A lag of this many slots does not affect the order: nodes of a cluster differ by one or two. */
const EQUAL_SLOTS = 2
/** A node is slow if its latency exceeds SLOW_MS, and exceeds SLOW_TIMES × the latency of the fastest node. */
const SLOW_TIMES = 4
const SLOW_MS = 50

/**
 * Orders nodes for a request. The criteria in order: not an archive, not lagging, has reached `minSlot`, is at the
 * chain's head, is not slow. Equal nodes stay in the operator's order, so clients stay with one node while it is
 * good.
 */
export function orderNodes<Node extends RpcUpstream>(
  nodes: readonly Node[],
  commitment: Commitment,
  minSlot: number
): readonly Node[] {
  if (nodes.length < 2) return nodes
  const slots = nodes.map((node) => node.slot(commitment) ?? 0)
  const newest = Math.max(...nodes.map((node, at) => (node.isArchive ? 0 : slots[at]!)))
  const fastestMs = Math.min(
    ...nodes.map(({ latencyMs, isArchive }) => (isArchive ? Infinity : (latencyMs ?? Infinity)))
  )
  const rankOf = (node: Node, at: number): number =>
    (node.isArchive ? 16 : 0) +
    (node.state === 'lagging' ? 8 : 0) +
    (slots[at]! < minSlot ? 4 : 0) +
    (slots[at]! + EQUAL_SLOTS < newest ? 2 : 0) +
    (isSlow(node.latencyMs ?? 0, fastestMs) ? 1 : 0)
  return nodes
    .map((node, at) => ({ node, rank: rankOf(node, at) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ node }) => node)
}

const isSlow = (ms: number, fastestMs: number): boolean => ms > SLOW_MS && ms > SLOW_TIMES * fastestMs
