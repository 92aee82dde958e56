import { AnswerCache } from '../../src/rpc/answer-cache.ts'
import { SharedReads } from '../../src/rpc/shared-reads.ts'
import { SlotFloors, type OnAbandon } from '../../src/rpc/slot-floors.ts'
import type { Ports } from '../../src/ports.ts'
import type { RpcMetrics } from '../../src/rpc/metrics.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'
import type { RpcNodesOptions } from './node-pool.ts'
import { RpcNodes } from './upstreams.ts'

/** The parts of JSON-RPC that HTTP and sockets share. */
export interface OpenRpc {
  readonly nodes: RpcNodes
  readonly reads: SharedReads
  readonly floors: SlotFloors
}

export interface RpcDeps extends Ports {
  readonly logger: { warn(about: object, text: string): void }
  readonly cacheBytes: number
  readonly metrics: RpcMetrics
}

/** Owns the connections to the nodes behind the RPC URL, the cached answers, and the slots that keys have seen. */
export function rpcNodes<Needs>(
  { cacheBytes, metrics, logger, clock, random }: RpcDeps,
  options: (given: Needs) => RpcNodesOptions
): Run<Needs, OpenRpc> {
  return async ({ input, draining, ready, gauge }) => {
    const nodes = new RpcNodes(options(input), { clock, random })
    const cache = new AnswerCache(cacheBytes, clock)
    const reads = new SharedReads(nodes, cache, clock)
    const floors = new SlotFloors({
      onRise: (commitment, slot) => nodes.stated(commitment, slot),
      onAbandon: reportedRarely(logger, clock)
    })
    gauge('nodes', () => nodes.nodes.length)
    gauge('nodes_usable', () => nodes.nodes.filter(({ isUsable }) => isUsable).length)
    gauge('nodes_cordoned', () => nodes.nodes.filter(({ cordonedAtMs }) => cordonedAtMs !== null).length)
    gauge('slot', () => nodes.newest('processed') ?? 0)
    gauge('requests_in_flight', () => nodes.inFlight)
    gauge('reads_in_flight', () => reads.inFlight)
    gauge('kept_bytes', () => cache.bytes)
    gauge('kept_bytes_max', () => cacheBytes)
    gauge('keys_seen', () => floors.size)
    metrics.show(() => ({
      reads: reads.counts,
      nodes: nodes.counts,
      floorsAbandoned: floors.abandoned,
      falseSlots: nodes.nodes.reduce((sum, { falseSlots }) => sum + falseSlots, 0),
      cacheBytes: cache.bytes,
      byNode: nodes.control.statuses().map((status) => ({
        node: status.id.id,
        isUsable: status.isUsable,
        isCordoned: status.cordonedAtMs !== null,
        slotsBehind: status.slotsBehind,
        falseSlots: status.falseSlots,
        budgetLeft: status.budget.left,
        learnedRate: status.budget.learned,
        totals: status.totals,
        recent: status.recent
      }))
    }))
    const end = new AbortController()
    const running = nodes.run(end.signal)
    try {
      ready({ nodes, reads, floors })
      await aborted(draining)
    } finally {
      metrics.show(null)
      end.abort()
      await running
    }
  }
}

/**
 * Shortest interval of reports of abandoned floors, in milliseconds: a false slot of one node concerns every key that saw
 * it.
 */
const REPORT_INTERVAL_MS = 60_000

/** Returns a function that reports abandoned floors, at most once a minute. */
function reportedRarely(logger: RpcDeps['logger'], clock: Ports['clock']): OnAbandon {
  let reportedAtMs = -Infinity
  return (floor, reached) => {
    if (clock.now() - reportedAtMs < REPORT_INTERVAL_MS) return
    reportedAtMs = clock.now()
    logger.warn(
      { floor, reached },
      `no node has reached slot ${floor} for 5 s, although an earlier answer stated it; answers to its key continue ` +
        `from slot ${reached}. A node has claimed a false slot, or lost its state`
    )
  }
}
