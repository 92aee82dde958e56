import { Counter, Gauge, type Registry } from 'prom-client'

/** Numbers of holder lists, read when metrics are collected. */
export interface HolderCounts {
  readonly loading: () => number
  readonly live: () => number
  readonly stale: () => number
  readonly accounts: () => number
  readonly waiting: () => number
}

/** Metrics of holder lists. */
export interface HolderMetrics {
  readonly readings: Counter<'reason'>
  readonly blocks: Counter
  readonly rollbacks: Counter
  readonly failures: Counter
  readonly evicted: Counter
  /** Sets the source of the gauges; null while this process maintains no lists. */
  show(counts: HolderCounts | null): void
}

export function holderMetrics(registry: Registry): HolderMetrics {
  const registers = [registry]
  let shown: HolderCounts | null = null
  new Gauge({
    name: 'millrace_holder_lists',
    help: 'Holder lists of this process, by state',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of ['loading', 'live', 'stale'] as const) this.set({ state }, shown?.[state]() ?? 0)
    }
  })
  new Gauge({
    name: 'millrace_holder_accounts',
    help: 'Token accounts in the holder lists of this process',
    registers,
    collect() {
      this.set(shown?.accounts() ?? 0)
    }
  })
  new Gauge({
    name: 'millrace_holder_waiting_events',
    help: 'Blocks that wait for the follower of holder lists',
    registers,
    collect() {
      this.set(shown?.waiting() ?? 0)
    }
  })
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })
  return {
    readings: new Counter({
      name: 'millrace_holder_readings_total',
      help: 'Holder lists read from a node: first reads (start), and rereads by reason',
      labelNames: ['reason'],
      registers
    }),
    blocks: counter('millrace_holder_blocks_total', 'Blocks applied to holder lists'),
    rollbacks: counter('millrace_holder_rollbacks_total', 'Lost forks that were rolled back in holder lists'),
    failures: counter('millrace_holder_failures_total', 'Reads of holder lists that failed at the node'),
    evicted: counter('millrace_holder_evicted_total', 'Holder lists evicted for other lists'),
    show: (counts) => void (shown = counts)
  }
}
