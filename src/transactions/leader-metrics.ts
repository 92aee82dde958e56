import { Counter, Gauge, type Registry } from 'prom-client'

/** Metrics of sending to leaders. */
export interface LeaderMetrics {
  readonly writes: Counter<'outcome'>
  /** Sets the source of the gauge of connections; null while this process sends to no leaders. */
  show(connections: (() => number) | null): void
}

export function leaderMetrics(registry: Registry): LeaderMetrics {
  const registers = [registry]
  let shown: (() => number) | null = null
  new Gauge({
    name: 'millrace_leader_connections',
    help: 'Connections to the QUIC ports of leaders',
    registers,
    collect() {
      this.set(shown?.() ?? 0)
    }
  })
  return {
    writes: new Counter<'outcome'>({
      name: 'millrace_leader_writes_total',
      help: 'Transactions to leaders, by outcome at each; a written one may still not have arrived',
      labelNames: ['outcome'],
      registers
    }),
    show: (connections) => void (shown = connections)
  }
}
