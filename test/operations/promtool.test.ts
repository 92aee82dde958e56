import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { ALERTS } from '../../src/operations/alerts.ts'
import type { Samples } from '../../src/operations/alert.ts'
import { ROOT } from '../house/sources.ts'
import { notShown } from '../servers/not-run.ts'
import { ownDirectory } from '../own-directory.ts'

const RULES = join(ROOT, 'src/operations/prometheus/millrace.rules.yml')
const PROMTOOL = process.env['PROMTOOL'] ?? 'promtool'
const AT = 'job="millrace", instance="a:8900"'

/** Series of a healthy service. */
const HEALTHY: readonly Samples[] = [
  { series: `up{${AT}}`, values: '1x20' },
  { series: `millrace_head_block_time{${AT}}`, values: '0+60x20' },
  { series: `millrace_storage_outage_seconds{${AT}}`, values: '0x20' },
  { series: `millrace_redis_outage_seconds{${AT}}`, values: '0x20' },
  { series: `millrace_role_missing{${AT}, role="delivery"}`, values: '0x20' },
  { series: `millrace_lease_held{${AT}, lease="ingest"}`, values: '1x20' },
  { series: 'millrace_lease_held{job="millrace", instance="b:8900", lease="ingest"}', values: '0x20' },
  { series: `millrace_source_state{${AT}, state="advancing"}`, values: '1x20' },
  { series: `millrace_source_state{${AT}, state="stalled"}`, values: '0x20' },
  { series: `millrace_source_state{${AT}, state="refused"}`, values: '0x20' },
  { series: `millrace_follower_lag_slots{${AT}}`, values: '1x20' },
  { series: `nodejs_eventloop_lag_p99_seconds{${AT}}`, values: '0.012x20' },
  { series: `millrace_http_request_seconds_count{${AT}, route="/a", status="200"}`, values: '0+900x20' },
  { series: `millrace_http_request_seconds_count{${AT}, route="/a", status="503"}`, values: '0+1x20' },
  { series: `millrace_blocks_retracted_total{${AT}}`, values: '0+1x20' },
  { series: `millrace_drift{${AT}, venue="phoenix"}`, values: '7x20' },
  { series: `millrace_disagreements{${AT}, venue="phoenix"}`, values: '7x20' },
  { series: `millrace_webhook_dropped_total{${AT}}`, values: '9x20' },
  { series: `millrace_webhooks{${AT}, state="behind"}`, values: '0x20' },
  { series: 'millrace_tenant_transactions_total{job="millrace", outcome="expired"}', values: '0+1x20' },
  { series: 'millrace_tenant_transactions_total{job="millrace", outcome="finalized"}', values: '0+50x20' },
  { series: `millrace_transaction_rebroadcast_late_seconds_bucket{${AT}, le="0.5"}`, values: '0+10x20' },
  { series: `millrace_transaction_rebroadcast_late_seconds_bucket{${AT}, le="+Inf"}`, values: '0+10x20' },
  { series: `millrace_rpc_node{${AT}, node="n:8899", what="usable"}`, values: '1x20' },
  { series: `millrace_ledger_gaps_total{${AT}, reason="ingest_down"}`, values: '3x20' },
  { series: `millrace_holder_lists{${AT}, state="stale"}`, values: '0x20' },
  { series: `millrace_mirror_failures_total{${AT}}`, values: '2x20' },
  { series: `millrace_disk_free_bytes{${AT}}`, values: '1e11x20' }
]

/** Returns a test of promtool: what fires of the rules at ten minutes, and with `names` null that nothing does. */
function ruleTest(series: readonly Samples[], name: string | null) {
  return {
    interval: '1m',
    input_series: series,
    promql_expr_test: [
      {
        expr: `count by (alertname) (ALERTS{alertstate="firing"${name === null ? '' : `, alertname="${name}"`}})`,
        eval_time: '12m',
        exp_samples: name === null ? [] : [{ labels: `{alertname="${name}"}`, value: 1 }]
      }
    ]
  }
}

/** Runs promtool's tests of the rules. Resolves with what it prints, and its exit code. */
async function runTests(t: Test, tests: readonly object[]): Promise<{ code: number; text: string }> {
  const file = join(ownDirectory(t), 'tests.json')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  return promisify(execFile)(PROMTOOL, ['test', 'rules', file]).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      text: error.stdout + error.stderr
    })
  )
}

const isThere = spawnSync(PROMTOOL, ['--version']).status === 0
if (!isThere)
  notShown(t, 'the alert rules are evaluated', 'there is no promtool (package prometheus; PROMTOOL names it)')
else {
  t.test('each alert fires on its example, and none on a healthy service', async (t) => {
    const fired = ALERTS.map(({ name, firedBy }) =>
      ruleTest(
        firedBy.map(({ series, values }) => ({ series, values: values.replace(/x\d+$/, 'x20') })),
        name
      )
    )
    t.match(await runTests(t, [...fired, ruleTest(HEALTHY, null)]), { code: 0 })
    t.match(await runTests(t, [ruleTest(HEALTHY, ALERTS[0]!.name)]), { code: 1 }, 'the test can fail')
  })

  t.test('the scrape configuration is valid with the rules beside it', async (t) => {
    const { status, stderr, stdout } = spawnSync(
      PROMTOOL,
      ['check', 'config', join(ROOT, 'src/operations/prometheus/prometheus.yml')],
      { encoding: 'utf8' }
    )
    t.equal(status, 0, stderr + stdout)
    t.match(readFileSync(RULES, 'utf8'), /alert: MillraceDown/)
  })
}
