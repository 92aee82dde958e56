import { Gauge, type Registry } from 'prom-client'
import type { DecodingReport, VenueReport } from './decoding-report.ts'

/** Adds gauges of what the decoder found, by venue, read at each scrape. */
export function addDecodingMetrics(registry: Registry, decoding: DecodingReport): void {
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
      registers: [registry],
      labelNames: ['venue', ...labels],
      collect() {
        for (const [venue, report] of Object.entries(decoding.venues)) {
          for (const [label, count] of counts(report)) this.set({ venue, ...label }, count)
        }
      }
    })
  }
}
