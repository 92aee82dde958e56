import { NodeError } from '../../node/node-fault.ts'
import type { RpcNode } from '../../node/rpc-node.ts'

const PROBE_TIMEOUT_MS = 10_000

/** Nodes that answer, belong to one cluster and have reached the end of a range. */
export interface RangeNodes {
  readonly nodes: readonly RpcNode[]
  /** The genesis of their cluster; null if no node is left. */
  readonly genesis: string | null
}

/** Selects the nodes that can give a range up to a slot. Prints the reason for each excluded node. */
export async function rangeNodes(
  candidates: readonly RpcNode[],
  to: number,
  complain: (line: string) => void,
  signal: AbortSignal
): Promise<RangeNodes> {
  const nodes: RpcNode[] = []
  let cluster: string | null = null
  for (const node of candidates) {
    try {
      const genesis = await node.genesis(signal, PROBE_TIMEOUT_MS)
      const head = await node.slot(signal, PROBE_TIMEOUT_MS)
      cluster ??= genesis
      if (genesis !== cluster) complain(`${node.name} belongs to another cluster and is not used: ${genesis}`)
      else if (head < to && !node.isArchive)
        complain(`${node.name} is at slot ${head} and has not reached ${to}`)
      else {
        node.headSlot = head
        nodes.push(node)
      }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      complain(error.message)
    }
  }
  return { nodes, genesis: nodes.length === 0 ? null : cluster }
}
