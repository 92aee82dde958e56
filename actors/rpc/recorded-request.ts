import { NodeError, RPC_CODE, refusesRequest } from '../../src/node/node-fault.ts'
import type { Clock } from '../../src/ports.ts'
import { NoUpstream, type UpstreamCall } from '../../src/rpc/upstreams.ts'
import type { NodeOutcome } from './node-request.ts'
import type { UpstreamNode } from './upstream-node.ts'

/** Sends a request, and records its outcome and latency in the figures of the node, for each call that it carries. */
export async function recorded<Outcomes extends NodeOutcome | readonly (NodeOutcome | null)[]>(
  node: UpstreamNode,
  calls: readonly UpstreamCall[],
  clock: Clock,
  send: () => Promise<Outcomes>
): Promise<Outcomes> {
  const { statistics, budget } = node
  const wasResting = node.link.isResting
  const startedMs = clock.now()
  try {
    const outcomes = await send()
    const nowMs = clock.now()
    const list: readonly (NodeOutcome | null)[] = Array.isArray(outcomes) ? outcomes : [outcomes]
    for (const [at, outcome] of list.entries()) {
      // The calls of a refused batch are sent again.
      if (outcome === null) continue
      const isError = outcome.verdict === 'failed' || outcome.answer.code === RPC_CODE.nodeUnhealthy
      statistics.answered(calls[at]!.method.name, nowMs - startedMs, isError, nowMs)
      if (outcome.answer.code === RPC_CODE.rateLimited) budget.refused(nowMs)
    }
    return outcomes
  } catch (error) {
    if (isFailureOf(error, wasResting))
      for (const { method } of calls) statistics.failed(method.name, clock.now())
    throw error
  }
}

/**
 * Tells whether a request that has no answer counts as an error of its node: it was sent, and was not the client's fault.
 */
function isFailureOf(error: unknown, wasResting: boolean): boolean {
  // At the deadline of a request, its node has not answered in time.
  if (error instanceof NoUpstream) return true
  if (!(error instanceof NodeError) || refusesRequest(error.fault)) return false
  const { kind } = error.fault
  return kind !== 'too-large' && kind !== 'busy' && !(kind === 'throttled' && wasResting)
}
