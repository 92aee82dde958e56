import type { Dashboard } from './dashboard.ts'

/** Selects the processes that the reader has chosen. */
const AT = 'instance=~"$instance"'

const rate = (metric: string, by: string): string => `sum by (${by}) (rate(${metric}{${AT}}[5m]))`
const quantile = (share: number, metric: string, by = 'instance'): string =>
  `histogram_quantile(${share}, sum by (${by}, le) (rate(${metric}_bucket{${AT}}[5m])))`

/** All dashboards, by the question that each answers. */
export const DASHBOARDS: readonly Dashboard[] = [
  {
    name: 'service',
    title: 'Millrace: service',
    panels: [
      {
        title: 'Age of the data',
        unit: 's',
        queries: { '{{instance}}': `time() - millrace_head_block_time{${AT}}` }
      },
      {
        title: 'Blocks and transactions committed a second',
        unit: 'short',
        queries: {
          'blocks {{instance}}': rate('millrace_blocks_total', 'instance'),
          'transactions {{kind}}': rate('millrace_transactions_total', 'kind')
        }
      },
      {
        title: 'Requests a second, by status',
        unit: 'reqps',
        queries: { '{{status}}': rate('millrace_http_request_seconds_count', 'status') }
      },
      {
        title: 'Latency of requests',
        unit: 's',
        queries: {
          'p50 {{instance}}': quantile(0.5, 'millrace_http_request_seconds'),
          'p99 {{instance}}': quantile(0.99, 'millrace_http_request_seconds')
        }
      },
      {
        title: 'Durable commit of a block',
        unit: 's',
        queries: {
          'p50 {{instance}}': quantile(0.5, 'millrace_commit_seconds'),
          'p99 {{instance}}': quantile(0.99, 'millrace_commit_seconds')
        }
      },
      {
        title: 'Work by tenant: seconds a second',
        unit: 'percentunit',
        queries: { '{{tenant}}': rate('millrace_work_seconds_total', 'tenant') }
      },
      {
        title: 'Delay of the event loop, p99',
        unit: 's',
        queries: { '{{instance}}': `nodejs_eventloop_lag_p99_seconds{${AT}}` }
      },
      {
        title: 'CPU time and memory',
        unit: 'short',
        queries: {
          'cores {{instance}}': rate('process_cpu_seconds_total', 'instance'),
          'GB {{instance}}': `process_resident_memory_bytes{${AT}} / 1e9`
        }
      },
      {
        title: 'Free disk space',
        unit: 'bytes',
        queries: { '{{instance}}': `millrace_disk_free_bytes{${AT}}` }
      }
    ]
  },
  {
    name: 'decoding',
    title: 'Millrace: decoding',
    panels: [
      {
        title: 'Trades a second, by venue',
        unit: 'short',
        queries: { '{{venue}}': `sum by (venue) (deriv(millrace_events{${AT}, kind="trade"}[5m]))` }
      },
      {
        title: 'Candidates without an event, by venue and reason',
        unit: 'short',
        queries: { '{{venue}} {{reason}}': `sum by (venue, reason) (delta(millrace_missing{${AT}}[30m]))` }
      },
      {
        title: 'Readings that disagree, in 30 minutes',
        unit: 'short',
        queries: { '{{venue}}': `sum by (venue) (delta(millrace_disagreements{${AT}}[30m]))` }
      },
      {
        title: 'Bodies longer than the known layout, in 30 minutes',
        unit: 'short',
        queries: { '{{venue}}': `sum by (venue) (delta(millrace_drift{${AT}}[30m]))` }
      },
      {
        title: 'Instructions without a known layout, in 30 minutes',
        unit: 'short',
        queries: { '{{venue}}': `sum by (venue) (delta(millrace_unknown_instructions{${AT}}[30m]))` }
      },
      {
        title: 'State of the block source',
        unit: 'short',
        queries: { '{{state}}': `millrace_source_state{${AT}} == 1` }
      }
    ]
  },
  {
    name: 'delivery',
    title: 'Millrace: delivery',
    panels: [
      {
        title: 'Webhook POSTs a second, by outcome',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('millrace_webhook_posts_total', 'outcome') }
      },
      {
        title: 'Webhook events a second',
        unit: 'short',
        queries: {
          accepted: `sum(rate(millrace_webhook_events_total{${AT}}[5m]))`,
          dropped: `sum(rate(millrace_webhook_dropped_total{${AT}}[5m]))`
        }
      },
      {
        title: 'Webhooks by state',
        unit: 'short',
        queries: { '{{state}}': `sum by (state) (millrace_webhooks{${AT}})` }
      },
      {
        title: 'Duration of a POST',
        unit: 's',
        queries: {
          p50: quantile(0.5, 'millrace_webhook_post_seconds', 'job'),
          p99: quantile(0.99, 'millrace_webhook_post_seconds', 'job')
        }
      },
      {
        title: 'Transactions that are tracked, by state',
        unit: 'short',
        queries: { '{{state}}': `sum by (state) (millrace_transactions_tracked{${AT}})` }
      },
      {
        title: 'Transactions that ended, by outcome, in 5 minutes',
        unit: 'short',
        queries: {
          '{{outcome}}': `sum by (outcome) (increase(millrace_tenant_transactions_total{${AT}}[5m]))`
        }
      },
      {
        title: 'Time from the first send to the block',
        unit: 's',
        queries: {
          'p50 {{route}}': quantile(0.5, 'millrace_transaction_landed_seconds', 'route'),
          'p90 {{route}}': quantile(0.9, 'millrace_transaction_landed_seconds', 'route')
        }
      },
      {
        title: 'Sends a second, by route and outcome',
        unit: 'short',
        queries: { '{{route}} {{outcome}}': rate('millrace_transaction_sends_total', 'route, outcome') }
      }
    ]
  },
  {
    name: 'cluster',
    title: 'Millrace: cluster',
    panels: [
      {
        title: 'Leases held',
        unit: 'short',
        queries: { '{{lease}} {{instance}}': `millrace_lease_held{${AT}}` }
      },
      {
        title: 'Slots behind the newest committed block',
        unit: 'short',
        queries: { '{{instance}}': `millrace_follower_lag_slots{${AT}}` }
      },
      {
        title: 'Outages of the store and of Redis',
        unit: 's',
        queries: {
          'store {{instance}}': `millrace_storage_outage_seconds{${AT}}`,
          'Redis {{instance}}': `millrace_redis_outage_seconds{${AT}}`
        }
      },
      {
        title: 'Nodes behind the RPC URL: slots behind',
        unit: 'short',
        queries: { '{{node}}': `max by (node) (millrace_rpc_node{${AT}, what="slots_behind"})` }
      },
      {
        title: 'Requests to nodes a second, by outcome',
        unit: 'reqps',
        queries: { '{{node}} {{outcome}}': rate('millrace_rpc_node_requests_total', 'node, outcome') }
      },
      {
        title: 'Blocks of lost forks, in 10 minutes',
        unit: 'short',
        queries: { '{{instance}}': `increase(millrace_blocks_retracted_total{${AT}}[10m])` }
      }
    ]
  }
]
