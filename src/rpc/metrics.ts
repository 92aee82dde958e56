import { Counter, Gauge, type Registry } from 'prom-client'

/** Counts of the JSON-RPC side since the process started, read when metrics are collected. */
export interface RpcCounts {
  readonly reads: { readonly hits: number; readonly joined: number; readonly misses: number }
  readonly nodes: { readonly requests: number; readonly failovers: number; readonly hedges: number }
  readonly falseSlots: number
  readonly floorsAbandoned: number
  readonly cacheBytes: number
  readonly byNode: readonly RpcNodeFigures[]
}

/** Figures of one node. Null values are not shown. */
export interface RpcNodeFigures {
  /** The node's id, which is not secret. */
  readonly node: string
  readonly isUsable: boolean
  readonly isCordoned: boolean
  readonly slotsBehind: number | null
  readonly falseSlots: number
  /** Costs: the remaining budget, and the learned rate a second. */
  readonly budgetLeft: number | null
  readonly learnedRate: number | null
  /** Counts since the start by method of the table. */
  readonly totals: readonly { readonly method: string; readonly answered: number; readonly failed: number }[]
  /** Recent latencies in milliseconds by method. */
  readonly recent: readonly {
    readonly method: string
    readonly p50Ms: number | null
    readonly p99Ms: number | null
  }[]
}

/** Metrics of JSON-RPC. */
export interface RpcMetrics {
  /** Counts an element: a counter of prom-client sorts and joins the labels each time, which takes a microsecond. */
  countElement(method: string, outcome: string): void
  /** Sets the source of the gauges; null while this process serves no JSON-RPC. */
  show(counts: (() => RpcCounts) | null): void
}

export function rpcMetrics(registry: Registry): RpcMetrics {
  const registers = [registry]
  let shown: (() => RpcCounts) | null = null
  new Gauge({
    name: 'millrace_rpc_reads',
    help: 'JSON-RPC reads since the unit started: answered from the cache, shared with one in flight, or requested from a node',
    labelNames: ['from'],
    registers,
    collect() {
      const { hits = 0, joined = 0, misses = 0 } = shown?.().reads ?? {}
      this.set({ from: 'cache' }, hits)
      this.set({ from: 'joined' }, joined)
      this.set({ from: 'node' }, misses)
    }
  })
  new Gauge({
    name: 'millrace_rpc_upstream',
    help: 'Requests to nodes since the unit started: all, those to another node after a fault or an absent block, and hedged ones beside a slow one. Also slots that were not accepted, and floors of keys that no node reached for 5 s',
    labelNames: ['what'],
    registers,
    collect() {
      const counts = shown?.()
      const { requests = 0, failovers = 0, hedges = 0 } = counts?.nodes ?? {}
      this.set({ what: 'requests' }, requests)
      this.set({ what: 'failovers' }, failovers)
      this.set({ what: 'hedges' }, hedges)
      this.set({ what: 'false_slots' }, counts?.falseSlots ?? 0)
      this.set({ what: 'floors_abandoned' }, counts?.floorsAbandoned ?? 0)
    }
  })
  new Gauge({
    name: 'millrace_rpc_node',
    help: 'State of each node behind the RPC URL: usable and cordoned (1 or 0), slots behind the newest usable node, slots that were not accepted, requests that its budget has left, and the learned limit of requests a second',
    labelNames: ['node', 'what'],
    registers,
    collect() {
      this.reset()
      for (const each of shown?.().byNode ?? []) {
        const { node } = each
        const set = (what: string, value: number | null): void => {
          if (value !== null) this.set({ node, what }, value)
        }
        set('usable', Number(each.isUsable))
        set('cordoned', Number(each.isCordoned))
        set('slots_behind', each.slotsBehind)
        set('false_slots', each.falseSlots)
        set('budget_left', each.budgetLeft)
        set('learned_rate', each.learnedRate)
      }
    }
  })
  new Counter({
    name: 'millrace_rpc_node_requests_total',
    help: 'Requests of clients to each node, by method and outcome; an element of a batch is one. `failed`: without an answer, or with an error of the node itself',
    labelNames: ['node', 'method', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const { node, totals } of shown?.().byNode ?? [])
        for (const { method, answered, failed } of totals) {
          this.inc({ node, method, outcome: 'answered' }, answered)
          this.inc({ node, method, outcome: 'failed' }, failed)
        }
    }
  })
  new Gauge({
    name: 'millrace_rpc_node_latency_seconds',
    help: 'Latency of each node in the last five to ten minutes, by method and quantile; at most 19 % too high',
    labelNames: ['node', 'method', 'quantile'],
    registers,
    collect() {
      this.reset()
      for (const { node, recent } of shown?.().byNode ?? [])
        for (const { method, p50Ms, p99Ms } of recent) {
          if (p50Ms !== null) this.set({ node, method, quantile: '0.5' }, p50Ms / 1_000)
          if (p99Ms !== null) this.set({ node, method, quantile: '0.99' }, p99Ms / 1_000)
        }
    }
  })
  /** Counts by method, then by outcome; methods are those of the method table. */
  const elements = new Map<string, Map<string, number>>()
  new Counter({
    name: 'millrace_rpc_elements_total',
    help: 'JSON-RPC requests, by method and outcome; an element of a batch is one',
    labelNames: ['method', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const [method, counts] of elements)
        for (const [outcome, count] of counts) this.inc({ method, outcome }, count)
    }
  })
  return {
    countElement(method, outcome) {
      const counts = elements.get(method) ?? new Map<string, number>()
      if (counts.size === 0) elements.set(method, counts)
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    },
    show: (counts) => void (shown = counts)
  }
}
