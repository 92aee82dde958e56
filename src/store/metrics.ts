import { Gauge, type Registry } from 'prom-client'

/** Metrics of the store, and of the connection to other processes. */
export interface StoreMetrics {
  readonly outageSeconds: Gauge
  readonly waitingReads: Gauge
  /** Sets what returns the duration of the current outage of Redis in seconds, read at each scrape; null when it ends. */
  showRedisOutage(seconds: (() => number) | null): void
}

export function storeMetrics(registry: Registry): StoreMetrics {
  const registers = [registry]
  let redisOutage: (() => number) | null = null
  new Gauge({
    name: 'millrace_redis_outage_seconds',
    help: 'Duration of the current outage of Redis; 0 while it answers, and without Redis',
    registers,
    collect() {
      this.set(redisOutage?.() ?? 0)
    }
  })
  return {
    outageSeconds: new Gauge({
      name: 'millrace_storage_outage_seconds',
      help: 'Duration of the current outage of the store; 0 while it answers',
      registers
    }),
    waitingReads: new Gauge({
      name: 'millrace_storage_waiting_reads',
      help: 'Reads that wait in this process for the turn of their tenant at a shared store',
      registers
    }),
    showRedisOutage: (seconds) => void (redisOutage = seconds)
  }
}
