import { Gauge, type Registry } from 'prom-client'

/** Metrics of the store, and of the connection to other processes. */
export interface StoreMetrics {
  readonly outageSeconds: Gauge
  readonly waitingReads: Gauge
  readonly redisOutageSeconds: Gauge
}

export function storeMetrics(registry: Registry): StoreMetrics {
  const registers = [registry]
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
    redisOutageSeconds: new Gauge({
      name: 'millrace_redis_outage_seconds',
      help: 'Duration of the current outage of Redis; 0 while it answers, and without Redis',
      registers
    })
  }
}
