import type { NodeBudgetState } from './node-budget.ts'
import type { NodeId } from './node-ids.ts'
import type { MethodFigures, MethodTotals } from './node-statistics.ts'
import type { RpcUpstream } from './upstreams.ts'

/** A node behind the RPC URL, as operators see it. */
export interface NodeStatus {
  readonly id: NodeId
  readonly isArchive: boolean
  readonly state: RpcUpstream['state']
  /** Whether clients' requests may go to it now. */
  readonly isUsable: boolean
  /** Reason why its last probe failed; null if it succeeded. */
  readonly reason: string | null
  /** Unix milliseconds; null if the node is not cordoned. */
  readonly cordonedAtMs: number | null
  /** The newest slot that it has proven at processed; null before the first. */
  readonly slot: number | null
  /** Slots behind the newest one of the usable nodes; null if either is unknown. */
  readonly slotsBehind: number | null
  /** Average latency of recent requests and probes in milliseconds; null before the first. */
  readonly latencyMs: number | null
  readonly falseSlots: number
  readonly inFlight: number
  readonly budget: NodeBudgetState
  /** Recent requests by method, and counts since the start. */
  readonly recent: readonly MethodFigures[]
  readonly totals: readonly MethodTotals[]
}

/** The nodes of this process, for its operators. */
export interface NodeControl {
  statuses(): NodeStatus[]
  /** Reads the cordons from the store, and acts on them. Rejects if the store does. */
  followCordons(): Promise<void>
}
