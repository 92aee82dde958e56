import { Gauge, type Registry } from 'prom-client'
import type { RecordedReport } from '../recorded/report.ts'
import type { NodeStateName, SourceStateName, SourceStatus } from '../node/source-status.ts'

const SOURCE_STATES: readonly SourceStateName[] = [
  'connecting',
  'advancing',
  'full',
  'stalled',
  'waiting',
  'refused'
]
const NODE_STATES: readonly NodeStateName[] = ['probing', 'healthy', 'lagging', 'down', 'refused']

/** Adds gauges of the block source and its nodes, read at each scrape; empty while this process has no source. */
export function addSourceMetrics(registry: Registry, read: () => SourceStatus | null): void {
  const registers = [registry]
  new Gauge({
    name: 'millrace_source_state',
    help: '1 at the state of the source of blocks, 0 at the others',
    labelNames: ['state'],
    registers,
    collect() {
      const status = read()
      this.reset()
      if (status === null) return
      for (const state of SOURCE_STATES) this.set({ state }, Number(status.state === state))
    }
  })
  new Gauge({
    name: 'millrace_source_node_state',
    help: '1 at the state of each node of the source, by host and port, 0 at the others',
    labelNames: ['node', 'state'],
    registers,
    collect() {
      this.reset()
      for (const { name: node, state: now } of read()?.nodes ?? []) {
        for (const state of NODE_STATES) this.set({ node, state }, Number(now === state))
      }
    }
  })
}

/** Adds gauges of the recorded folder's problems by reason, read at each scrape; empty if the source is not recorded. */
export function addRecordedMetrics(registry: Registry, report: RecordedReport): void {
  new Gauge({
    name: 'millrace_recorded_problems',
    help: 'files, records and transactions of the recorded folder that are left out, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(report.problems.counts)) this.set({ reason }, count)
    }
  })
}
