import { AggregatorRegistry, Counter, Registry, collectDefaultMetrics } from 'prom-client'
import { answerMetrics } from './answer-metrics.ts'
import { RequestSeconds } from './request-seconds.ts'
import type { WorkTally } from '../../access/work-tally.ts'
import { workUnitMetrics } from './work-unit-metrics.ts'

/** The registry of a process, as served by `/metrics`, and what the kernel counts. Products add groups of their own. */
export interface Metrics {
  readonly registry: Registry
  /** Returns the metrics of the process, and of those that share its port, in Prometheus' text format. */
  readonly text: () => Promise<string>
  readonly requestSeconds: RequestSeconds
  readonly connectionsRefused: Counter<'code'>
  readonly work: WorkTally
}

/** The metrics of one process, as its registry returns them. */
type RegistryJson = readonly Readonly<Record<string, unknown>>[]

/** Processes that share a port: Prometheus gets the metrics of all of them from whichever answers. */
export interface MetricPeers {
  /** Marks the metrics of a registry with the process, and gives them to the others. */
  share(registry: Registry): void
  /** Resolves with the metrics of the others. */
  othersMetrics(): Promise<readonly RegistryJson[]>
}

/**
 * Sampling interval of the event loop's lag, in milliseconds. At the default of 10, sampling wakes an idle process a hundred
 * times a second: a tenth of an idle localnet's work. The metric is the time from one sample to the next, so it is this long
 * even without lag.
 */
export const LAG_SAMPLE_MS = 100

export function createMetrics(peers: MetricPeers | null = null): Metrics {
  const registry = new Registry()
  peers?.share(registry)
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS })
  answerMetrics(registry)
  return {
    registry,
    text: () => (peers === null ? registry.metrics() : textOfAll(registry, peers)),
    requestSeconds: new RequestSeconds(registry),
    work: workUnitMetrics(registry),
    connectionsRefused: new Counter({
      name: 'millrace_http_refused_total',
      help: 'Connections closed at a limit, for a malformed or late request, or for an answer that was not read, by problem code',
      labelNames: ['code'],
      registers: [registry]
    })
  }
}

async function textOfAll(registry: Registry, peers: MetricPeers): Promise<string> {
  const others = await peers.othersMetrics()
  const own = (await registry.getMetricsAsJSON()) as unknown as RegistryJson
  // No two processes have a series in common, so that nothing is summed or left out.
  const all = [own, ...others].map((metrics) => metrics.map((each) => ({ ...each, aggregator: 'first' })))
  return AggregatorRegistry.aggregate(all).metrics()
}
