import { Counter, Gauge, type Registry } from 'prom-client'

/** Counts of the JSON-RPC side since the process started, read when metrics are collected. */
export interface RpcCounts {
  readonly reads: { readonly hits: number; readonly joined: number; readonly misses: number }
  readonly nodes: { readonly requests: number; readonly failovers: number; readonly hedges: number }
  readonly falseSlots: number
  readonly floorsAbandoned: number
  readonly cacheBytes: number
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
    help: 'JSON-RPC reads since the unit started: answered from the cache, shared with one in flight, or asked of a node',
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
    help: 'Requests to nodes since the unit started: all, those to another node after a fault or an absent block, second ones beside a slow one, slots that were not believed, and floors of keys that no node reached for 5 s',
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
