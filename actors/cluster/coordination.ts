import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { StoreMetrics } from '../../src/store/metrics.ts'
import type { Run } from '../supervision/process.ts'

/** Update interval of the outage metric, in milliseconds. */
const UPDATE_INTERVAL_MS = 1_000

export interface CoordinationDeps {
  readonly clock: Clock
  readonly metrics: Pick<StoreMetrics, 'redisOutageSeconds'>
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
      ready(opened)
      while (!draining.aborted) {
        metrics.redisOutageSeconds.set(secondsAway())
        await sleep(clock, UPDATE_INTERVAL_MS, draining)
      }
    } finally {
      await opened.close()
    }
  }
}
