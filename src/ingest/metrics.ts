import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Metrics of the chain: blocks that this process commits or follows. */
export interface IngestMetrics {
  readonly blocks: Counter
  readonly blocksBackfilled: Counter
  readonly blocksRetracted: Counter
  readonly transactions: Counter<'kind'>
  readonly headSlot: Gauge
  readonly headTime: Gauge
  readonly commitSeconds: Histogram
  readonly lagSlots: Gauge
}

export function ingestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry]
  return {
    blocks: new Counter({ name: 'millrace_blocks_total', help: 'Blocks committed', registers }),
    blocksBackfilled: new Counter({
      name: 'millrace_blocks_backfilled_total',
      help: 'Late blocks inserted before later ones',
      registers
    }),
    blocksRetracted: new Counter({
      name: 'millrace_blocks_retracted_total',
      help: 'Committed blocks of a lost fork that were removed',
      registers
    }),
    transactions: new Counter({
      name: 'millrace_transactions_total',
      help: 'Transactions of committed blocks: votes, which are left out first, and the others',
      labelNames: ['kind'],
      registers
    }),
    headSlot: new Gauge({ name: 'millrace_head_slot', help: 'Newest committed slot', registers }),
    headTime: new Gauge({
      name: 'millrace_head_block_time',
      help: 'Block time of the newest committed slot, Unix seconds',
      registers
    }),
    commitSeconds: new Histogram({
      name: 'millrace_commit_seconds',
      help: 'Time of a durable commit of one block',
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
      registers
    }),
    lagSlots: new Gauge({
      name: 'millrace_follower_lag_slots',
      help: 'Slots from the newest block that this process has published to the newest committed block',
      registers
    })
  }
}
