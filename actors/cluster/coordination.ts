import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import type { Clock } from '../../src/ports.ts'
import type { StoreMetrics } from '../../src/store/metrics.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

export interface CoordinationDeps {
  readonly clock: Clock
  readonly metrics: Pick<StoreMetrics, 'showRedisOutage'>
}

/** Owns the connection to the other processes (Redis). An outage of Redis does not end this process. */
export function coordination(
  open: () => Promise<ClusterCoordination>,
  { clock, metrics }: CoordinationDeps
): Run<unknown, ClusterCoordination> {
  return async ({ draining, ready, gauge }) => {
    const opened = await open()
    const secondsAway = (): number =>
      opened.outage === null ? 0 : Math.max(0, clock.now() - opened.outage.sinceMs) / 1000
    try {
      gauge('seconds_away', secondsAway)
      metrics.showRedisOutage(secondsAway)
      ready(opened)
      await aborted(draining)
    } finally {
      metrics.showRedisOutage(null)
      await opened.close()
    }
  }
}
