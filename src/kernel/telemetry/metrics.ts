import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { DecodingReport, VenueReport } from '../../ingest/decoding-report.ts'
import { answerMetrics } from './answer-metrics.ts'
import { leaderMetrics, type LeaderMetrics } from '../../transactions/leader-metrics.ts'
import { RequestSeconds } from './request-seconds.ts'
import { transactionMetrics, type TransactionMetrics } from '../../transactions/metrics.ts'
import { holderMetrics, type HolderMetrics } from '../../holders/metrics.ts'
import { ledgerMetrics, type LedgerMetrics } from '../../revenue/metrics.ts'
import { mirrorMetrics, type MirrorMetrics } from '../../program-accounts/metrics.ts'
import { pubsubMetrics, type PubsubMetrics } from '../../rpc/pubsub-metrics.ts'
import { rpcMetrics, type RpcMetrics } from '../../rpc/metrics.ts'
import type { WorkTally } from '../../access/work-tally.ts'
import { workUnitMetrics } from './work-unit-metrics.ts'
import { webhookMetrics, type WebhookMetrics } from '../../webhooks/metrics.ts'

/** The service's metrics, as served by `/metrics`. */
export interface Metrics {
  readonly registry: Registry
  readonly blocks: Counter
  readonly blocksBackfilled: Counter
  readonly blocksRetracted: Counter
  readonly transactions: Counter<'kind'>
  readonly headSlot: Gauge
  readonly headTime: Gauge
  readonly commitSeconds: Histogram
  readonly requestSeconds: RequestSeconds
  readonly connectionsRefused: Counter<'code'>
  readonly outageSeconds: Gauge
  readonly redisOutageSeconds: Gauge
  readonly leaseHeld: Gauge<'lease'>
  readonly lagSlots: Gauge
  readonly work: WorkTally
  readonly webhooks: WebhookMetrics
  readonly mirror: MirrorMetrics
  readonly holders: HolderMetrics
  readonly ledger: LedgerMetrics
  readonly pubsub: PubsubMetrics
  readonly leaders: LeaderMetrics
  readonly rpc: RpcMetrics
  readonly sentTransactions: TransactionMetrics
}

/**
 * Sampling interval of the event loop's lag, in milliseconds. At the default of 10, sampling wakes an idle process a hundred
 * times a second: a tenth of an idle localnet's work. The metric is the time from one sample to the next, so it is this long
 * even without lag.
 */
export const LAG_SAMPLE_MS = 100

export function createMetrics(decoding: DecodingReport): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS })
  const registers = [registry]
  answerMetrics(registry)
  decodingGauge('millrace_events', 'Events decoded, by venue and kind', ['kind'], (report) =>
    Object.entries(report.events).map(([kind, count]) => [{ kind }, count])
  )
  decodingGauge(
    'millrace_missing',
    'Candidates that gave no event, by venue and reason',
    ['reason'],
    (report) => Object.entries(report.missing).map(([reason, count]) => [{ reason }, count])
  )
  decodingGauge('millrace_disagreements', 'Facts whose two readings differed, by venue', [], (report) => [
    [{}, report.disagreements]
  ])
  decodingGauge('millrace_drift', 'Bodies longer than the newest known layout', ['layout'], (report) =>
    Object.entries(report.drift).map(([layout, count]) => [{ layout }, count])
  )
  decodingGauge(
    'millrace_unknown_instructions',
    'Instructions without a known layout',
    ['discriminator'],
    (report) =>
      Object.entries(report.unknownInstructions).map(([discriminator, count]) => [{ discriminator }, count])
  )
  decodingGauge(
    'millrace_vault_transfers',
    'Transactions that moved tokens of a pool past its program without a trade',
    ['transfer'],
    (report) => Object.entries(report.vaultTransfers).map(([transfer, count]) => [{ transfer }, count])
  )

  function decodingGauge(
    name: string,
    help: string,
    labels: readonly string[],
    counts: (report: VenueReport) => (readonly [Record<string, string>, number])[]
  ): void {
    new Gauge({
      name,
      help,
      registers,
      labelNames: ['venue', ...labels],
      collect() {
        for (const [venue, report] of Object.entries(decoding.venues)) {
          for (const [label, count] of counts(report)) this.set({ venue, ...label }, count)
        }
      }
    })
  }

  return {
    registry,
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
    requestSeconds: new RequestSeconds(registry),
    work: workUnitMetrics(registry),
    connectionsRefused: new Counter({
      name: 'millrace_http_refused_total',
      help: 'Connections closed at a limit, for a malformed or late request, or for an answer that was not read, by problem code',
      labelNames: ['code'],
      registers
    }),
    outageSeconds: new Gauge({
      name: 'millrace_storage_outage_seconds',
      help: 'Duration of the current outage of the store; 0 while it answers',
      registers
    }),
    redisOutageSeconds: new Gauge({
      name: 'millrace_redis_outage_seconds',
      help: 'Duration of the current outage of Redis; 0 while it answers, and without Redis',
      registers
    }),
    leaseHeld: new Gauge({
      name: 'millrace_lease_held',
      help: '1 while this process does the work of the lease',
      labelNames: ['lease'],
      registers
    }),
    lagSlots: new Gauge({
      name: 'millrace_follower_lag_slots',
      help: 'Slots from the newest block that this process has published to the newest committed block',
      registers
    }),
    webhooks: webhookMetrics(registry),
    mirror: mirrorMetrics(registry),
    holders: holderMetrics(registry),
    ledger: ledgerMetrics(registry),
    pubsub: pubsubMetrics(registry),
    leaders: leaderMetrics(registry),
    rpc: rpcMetrics(registry),
    sentTransactions: transactionMetrics(registry)
  }
}
