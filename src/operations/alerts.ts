import { FRESHNESS_SECONDS_MAX } from '../edge/routes/health-reasons.ts'
import type { Alert } from './alert.ts'

/** Labels of a series in the examples. */
const AT = 'job="millrace", instance="a:8900"'

/** All alerts, the most urgent first. */
export const ALERTS: readonly Alert[] = [
  {
    name: 'MillraceDown',
    severity: 'critical',
    expr: 'up{job="millrace"} == 0',
    for: '1m',
    summary: '{{ $labels.instance }} does not answer',
    meaning: 'A process has exited, hangs, or cannot be reached. Its clients get no answer.',
    look: 'The log of the process, and the exit code in its unit. Exit code 1 follows a line that names the fault.',
    action: 'Restart the process. It continues at the last committed block.',
    firedBy: [{ series: `up{${AT}}`, values: '0x10' }]
  },
  {
    name: 'MillraceDataStale',
    severity: 'critical',
    expr: `time() - millrace_head_block_time > ${FRESHNESS_SECONDS_MAX}`,
    for: '1m',
    summary: '{{ $labels.instance }} serves data that is {{ $value | humanizeDuration }} old',
    meaning: 'No block was committed for two minutes. Health is 503, and prices and candles stand still.',
    look: '`/v1/health` has the reason. `/v1/admin/tree` has the state of the source and of ingest.',
    action: 'Follow the reason that health gives.',
    firedBy: [{ series: `millrace_head_block_time{${AT}}`, values: '0x10' }]
  },
  {
    name: 'MillraceStoreAway',
    severity: 'critical',
    expr: 'millrace_storage_outage_seconds > 30',
    for: '0m',
    summary: 'The store of {{ $labels.instance }} has not answered for {{ $value | humanizeDuration }}',
    meaning: 'Commits wait, and reads are refused with 503. Nothing is lost.',
    look: 'The nodes of the cluster (`nodetool status`) or the disk. The log has the error of the store.',
    action: 'Restore the store. The service resumes by itself.',
    firedBy: [{ series: `millrace_storage_outage_seconds{${AT}}`, values: '0+60x10' }]
  },
  {
    name: 'MillraceNoLeader',
    severity: 'critical',
    expr: 'max by (job, lease) (millrace_lease_held) == 0',
    for: '1m',
    summary: 'No process holds the lease {{ $labels.lease }}',
    meaning: 'No process does the work of a lease: ingest, or the deliveries of a share of the tenants.',
    look: 'Whether a process of the role runs, and whether Redis answers.',
    action: 'Start a process of the role. A takeover takes less than 5 s.',
    firedBy: [{ series: `millrace_lease_held{${AT}, lease="ingest"}`, values: '0x10' }]
  },
  {
    name: 'MillraceRoleMissing',
    severity: 'critical',
    expr: 'max by (job, role) (millrace_role_missing) == 1',
    for: '30s',
    summary: 'No process has the role {{ $labels.role }}',
    meaning:
      'Requests that leave work to the role are refused with 503 `role_missing`: transactions and webhooks without `delivery`, watches without `ingest`.',
    look: '`npx millrace fleet`: the live processes and their roles. The log of the processes that had the role.',
    action: 'Start a process of the role. Requests are accepted again within a second.',
    firedBy: [{ series: `millrace_role_missing{${AT}, role="delivery"}`, values: '1x10' }]
  },
  {
    name: 'MillraceSourceRefused',
    severity: 'critical',
    expr: 'millrace_source_state{state="refused"} == 1',
    for: '1m',
    summary: 'The block source of {{ $labels.instance }} refuses the configuration',
    meaning: 'Retries do not help: a wrong token, another cluster, or a node without the needed method.',
    look: '`/v1/admin/tree`, the process `source`: its last error.',
    action: 'Correct the setting that the error names, and restart.',
    firedBy: [{ series: `millrace_source_state{${AT}, state="refused"}`, values: '1x10' }]
  },
  {
    name: 'MillraceSourceAway',
    severity: 'warning',
    expr: 'millrace_source_state{state=~"waiting|stalled"} == 1',
    for: '1m',
    summary: 'The block source of {{ $labels.instance }} is {{ $labels.state }}',
    meaning: 'No node sends newer slots. After two minutes the data counts as stale.',
    look: 'The nodes of `MILLRACE_RPC_URL` or `MILLRACE_YELLOWSTONE_URL`: do they answer `getSlot`, and does it grow?',
    action: 'Restore a node, or add another one to the list. Missed blocks are fetched afterwards.',
    firedBy: [{ series: `millrace_source_state{${AT}, state="stalled"}`, values: '1x10' }]
  },
  {
    name: 'MillraceRedisAway',
    severity: 'warning',
    expr: 'millrace_redis_outage_seconds > 30',
    for: '0m',
    summary: 'Redis has not answered {{ $labels.instance }} for {{ $value | humanizeDuration }}',
    meaning:
      'Each process enforces its own share of every quota, and a takeover takes longer. No data is lost.',
    look: 'Redis, and the network to it.',
    action: 'Restart Redis. Processes reconnect by themselves.',
    firedBy: [{ series: `millrace_redis_outage_seconds{${AT}}`, values: '0+60x10' }]
  },
  {
    name: 'MillraceFollowerBehind',
    severity: 'warning',
    expr: 'millrace_follower_lag_slots > 50',
    for: '2m',
    summary: '{{ $labels.instance }} is {{ $value }} slots behind the newest committed block',
    meaning: 'A gateway or a delivery process sends events late.',
    look: 'Its CPU time and event loop delay, and the latency of the store.',
    action: 'Give the process a core of its own, or add another one of its role.',
    firedBy: [{ series: `millrace_follower_lag_slots{${AT}}`, values: '80x10' }]
  },
  {
    name: 'MillraceEventLoopDelayed',
    severity: 'warning',
    expr: 'nodejs_eventloop_lag_p99_seconds{job="millrace"} > 0.1',
    for: '5m',
    summary: 'The event loop of {{ $labels.instance }} is delayed by {{ $value | humanizeDuration }}',
    meaning: 'Every answer of the process takes longer: it lacks CPU time or memory.',
    look: '`process_cpu_seconds_total`, `millrace_work_seconds_total` by tenant, and the memory of the process.',
    action: 'Lower the quota `work` of the tenant that uses most, or add a gateway.',
    firedBy: [{ series: `nodejs_eventloop_lag_p99_seconds{${AT}}`, values: '0.3x10' }]
  },
  {
    name: 'MillraceErrors',
    severity: 'warning',
    expr: 'sum by (job, instance) (rate(millrace_http_request_seconds_count{status=~"5.."}[5m])) / sum by (job, instance) (rate(millrace_http_request_seconds_count[5m])) > 0.01',
    for: '2m',
    summary:
      '{{ $value | humanizePercentage }} of the answers of {{ $labels.instance }} are errors of the service',
    meaning: 'More than one answer in a hundred is a 5xx.',
    look: 'The log by `request_id`, and the routes with `status` 5xx in `millrace_http_request_seconds_count`.',
    action: 'Look up the problem code below.',
    firedBy: [
      { series: `millrace_http_request_seconds_count{${AT}, route="/a", status="500"}`, values: '0+10x10' },
      { series: `millrace_http_request_seconds_count{${AT}, route="/a", status="200"}`, values: '0+90x10' }
    ]
  },
  {
    name: 'MillraceForkRemovals',
    severity: 'warning',
    expr: 'increase(millrace_blocks_retracted_total[10m]) > 50',
    for: '0m',
    summary: '{{ $labels.instance }} removed {{ $value | humanize }} blocks of lost forks in ten minutes',
    meaning: 'The nodes disagree about the chain, or one of them follows a minority fork.',
    look: 'The slots and hashes of the nodes in `/v1/admin/tree`.',
    action: 'Remove the node that differs from the cluster, or index at `finalized`.',
    firedBy: [{ series: `millrace_blocks_retracted_total{${AT}}`, values: '0+20x10' }]
  },
  {
    name: 'MillraceLayoutDrift',
    severity: 'warning',
    expr: 'sum by (job, venue) (delta(millrace_drift[30m])) > 0',
    for: '0m',
    summary: 'A program of {{ $labels.venue }} has a newer layout than the decoder',
    meaning: 'The program was upgraded. Its events are decoded by the known fields; new fields are not read.',
    look: '`/v1/admin/decoding`, and `npx millrace decode --explain` on a transaction that it names.',
    action: 'Compare with the published layout, and upgrade Millrace.',
    firedBy: [{ series: `millrace_drift{${AT}, venue="phoenix"}`, values: '0+1x10' }]
  },
  {
    name: 'MillraceReadingsDisagree',
    severity: 'warning',
    expr: 'sum by (job, venue) (delta(millrace_disagreements[30m])) > 0',
    for: '0m',
    summary: 'Two readings of trades of {{ $labels.venue }} differ',
    meaning:
      'The event of a program and the token transfers state different amounts. One of them is served, and the other is counted.',
    look: '`/v1/admin/decoding` names transactions.',
    action: 'Report the transaction: a program has changed its accounting.',
    firedBy: [{ series: `millrace_disagreements{${AT}, venue="phoenix"}`, values: '0+1x10' }]
  },
  {
    name: 'MillraceWebhookEventsDropped',
    severity: 'warning',
    expr: 'rate(millrace_webhook_dropped_total[5m]) > 0',
    for: '5m',
    summary: '{{ $labels.instance }} drops {{ $value | humanize }} events a second for webhooks',
    meaning:
      'Receivers are slow or fail. Their tenants see the count, and can replay the events from the stream.',
    look: '`millrace_webhook_posts_total` by outcome, and `GET /v1/webhooks` with the key of the tenant.',
    action: 'Tell the tenant. If all receivers fail, check the egress of the process.',
    firedBy: [{ series: `millrace_webhook_dropped_total{${AT}}`, values: '0+60x10' }]
  },
  {
    name: 'MillraceWebhooksBehind',
    severity: 'warning',
    expr: 'millrace_webhooks{state="behind"} > 0',
    for: '5m',
    summary: '{{ $value }} webhooks of {{ $labels.instance }} are behind',
    meaning: 'Their events are read from the log, and arrive late.',
    look: '`millrace_webhook_post_seconds`: a receiver that takes longer than a second is the usual cause.',
    action: 'Nothing for a single receiver. If all are behind, add a delivery process.',
    firedBy: [{ series: `millrace_webhooks{${AT}, state="behind"}`, values: '2x10' }]
  },
  {
    name: 'MillraceTransactionsExpire',
    severity: 'warning',
    expr: 'sum by (job) (rate(millrace_tenant_transactions_total{outcome="expired"}[10m])) / sum by (job) (rate(millrace_tenant_transactions_total[10m])) > 0.2',
    for: '5m',
    summary: '{{ $value | humanizePercentage }} of the submitted transactions expire',
    meaning: 'Transactions do not land within the life of their blockhash.',
    look: '`millrace_transaction_sends_total` by route and outcome, `millrace_leader_writes_total`, and the priority fees of the cluster.',
    action: 'If sends fail, restore the route. If they succeed, the fees of the tenants are too low.',
    firedBy: [
      { series: 'millrace_tenant_transactions_total{job="millrace", outcome="expired"}', values: '0+5x12' },
      { series: 'millrace_tenant_transactions_total{job="millrace", outcome="finalized"}', values: '0+5x12' }
    ]
  },
  {
    name: 'MillraceRebroadcastsLate',
    severity: 'warning',
    expr: 'histogram_quantile(0.99, sum by (job, instance, le) (rate(millrace_transaction_rebroadcast_late_seconds_bucket[5m]))) > 0.5',
    for: '5m',
    summary: 'Rebroadcasts of {{ $labels.instance }} are late by {{ $value | humanizeDuration }}',
    meaning: 'Transactions are resent later than every two seconds, and land less often.',
    look: 'The event loop delay and the CPU time of the process.',
    action: 'Give deliveries a process of their own (`--role delivery`).',
    firedBy: [
      {
        series: `millrace_transaction_rebroadcast_late_seconds_bucket{${AT}, le="0.5"}`,
        values: '0x12'
      },
      {
        series: `millrace_transaction_rebroadcast_late_seconds_bucket{${AT}, le="1"}`,
        values: '0+10x12'
      },
      {
        series: `millrace_transaction_rebroadcast_late_seconds_bucket{${AT}, le="+Inf"}`,
        values: '0+10x12'
      }
    ]
  },
  {
    name: 'MillraceRpcNodeUnusable',
    severity: 'warning',
    expr: 'millrace_rpc_node{what="usable"} == 0',
    for: '1m',
    summary: 'The node {{ $labels.node }} is not used by {{ $labels.instance }}',
    meaning: 'The node lags, fails, or is cordoned. The RPC URL uses the others.',
    look: '`GET /v1/admin/nodes` has the reason.',
    action: 'Restore the node. `npx millrace nodes free` ends a cordon.',
    firedBy: [{ series: `millrace_rpc_node{${AT}, node="n:8899", what="usable"}`, values: '0x10' }]
  },
  {
    name: 'MillraceLedgerGap',
    severity: 'warning',
    expr: 'increase(millrace_ledger_gaps_total[10m]) > 0',
    for: '0m',
    summary: 'The revenue ledger of {{ $labels.instance }} lacks slots ({{ $labels.reason }})',
    meaning: 'Balance changes of watched addresses may be missing. Coverage reports the gap.',
    look: '`GET /v1/revenue/coverage` with the key of a tenant.',
    action:
      'Late blocks close the gap by themselves. If the node no longer has them, set `MILLRACE_ARCHIVE_RPC_URL`.',
    firedBy: [{ series: `millrace_ledger_gaps_total{${AT}, reason="ingest_down"}`, values: '0+1x10' }]
  },
  {
    name: 'MillraceHolderListsStale',
    severity: 'warning',
    expr: 'millrace_holder_lists{state="stale"} > 0',
    for: '10m',
    summary: '{{ $value }} holder lists of {{ $labels.instance }} are stale',
    meaning: 'The lists show an older slot, and say so.',
    look: '`millrace_holder_failures_total`, and the node that answers `getProgramAccounts`.',
    action: 'Add a node that answers `getProgramAccounts`.',
    firedBy: [{ series: `millrace_holder_lists{${AT}, state="stale"}`, values: '3x20' }]
  },
  {
    name: 'MillraceMirrorFails',
    severity: 'warning',
    expr: 'increase(millrace_mirror_failures_total[15m]) > 3',
    for: '0m',
    summary: 'The mirror of program accounts of {{ $labels.instance }} restarts again and again',
    meaning: '`getProgramAccounts` and its REST equivalent may answer from an older slot.',
    look: '`GET /v1/admin/programs`, and the node that sends account updates.',
    action: 'Restore the node, or configure another one.',
    firedBy: [{ series: `millrace_mirror_failures_total{${AT}}`, values: '0+1x20' }]
  },
  {
    name: 'MillraceDiskFilling',
    severity: 'warning',
    expr: 'predict_linear(millrace_disk_free_bytes[6h], 3 * 86400) < 0 or millrace_disk_free_bytes < 2e9',
    for: '5m',
    summary: 'The disk of {{ $labels.instance }} has {{ $value | humanize1024 }}B left',
    meaning: 'The disk will be full within three days, or has less than 2 GB. A full disk stops ingest.',
    look: '`npx millrace storage` has the bytes by kind of rows, and the days left.',
    action: 'Free space, shorten `MILLRACE_RETENTION_DAYS`, or use a larger disk.',
    firedBy: [{ series: `millrace_disk_free_bytes{${AT}}`, values: '1e9x10' }]
  }
]
