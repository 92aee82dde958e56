import { Counter, Registry, collectDefaultMetrics } from 'prom-client'
import { answerMetrics } from './answer-metrics.ts'
import { RequestSeconds } from './request-seconds.ts'
import type { WorkTally } from '../../access/work-tally.ts'
import { workUnitMetrics } from './work-unit-metrics.ts'

/** The registry of a process, as served by `/metrics`, and what the kernel counts. Products add groups of their own. */
export interface Metrics {
  readonly registry: Registry
  readonly requestSeconds: RequestSeconds
  readonly connectionsRefused: Counter<'code'>
  readonly work: WorkTally
}

/**
 * Sampling interval of the event loop's lag, in milliseconds. At the default of 10, sampling wakes an idle process a hundred
 * times a second: a tenth of an idle localnet's work. The metric is the time from one sample to the next, so it is this long
 * even without lag.
 */
export const LAG_SAMPLE_MS = 100

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS })
  answerMetrics(registry)
  return {
    registry,
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
