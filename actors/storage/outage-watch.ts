import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { StoreMetrics } from '../../src/store/metrics.ts'
import type { Outage, Storage } from '../../storage/port.ts'

/**
 * Probe interval of the store, in milliseconds: an outage and its end are seen even without other traffic. A read is abandoned
 * after seconds, so that more probes would hardly show an outage earlier.
 */
const PROBE_INTERVAL_MS = 1_000
/** The same during an outage, whose end clients wait for. These are also the intervals of the metrics. */
const OUTAGE_PROBE_INTERVAL_MS = 250
/** Milliseconds for which an answered read stands for a probe. A process that follows blocks reads at least once a second. */
const ANSWER_COUNTS_MS = 1_500

export interface WatchDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<StoreMetrics, 'outageSeconds' | 'waitingReads'>
}

/**
 * Logs the begin and the end of each outage of a shared store once, and sets its metrics, until `end` aborts. Never
 * rejects.
 */
export async function watchOutages(
  storage: Pick<Storage, 'answeredAtMs' | 'blocks' | 'outage' | 'waitingReads'>,
  { clock, logger, metrics }: WatchDeps,
  end: AbortSignal
): Promise<void> {
  let said: Outage | null = null
  const note = (): void => {
    const { outage, waitingReads } = storage
    metrics.waitingReads.set(waitingReads ?? 0)
    const seconds = (since: Outage): number => Math.max(0, clock.now() - since.sinceMs) / 1000
    metrics.outageSeconds.set(outage === null ? 0 : seconds(outage))
    if (said === null && outage !== null) {
      logger.error(
        `the store does not answer: ${outage.detail}; ingest waits, and reads are refused with 503`
      )
    } else if (said !== null && outage === null) {
      logger.info(`the store is back after ${seconds(said).toFixed(1)} s`)
    }
    said = outage === null ? null : (said ?? outage)
  }
  let isProbing = false
  while (!end.aborted) {
    const { outage, answeredAtMs } = storage
    const isKnown = outage === null && clock.now() - (answeredAtMs ?? -Infinity) < ANSWER_COUNTS_MS
    // One probe at a time: a store that is unavailable may take seconds to fail.
    if (!isProbing && !isKnown) {
      isProbing = true
      const answered = (): void => void (isProbing = false)
      storage.blocks.head().then(answered, answered)
    }
    note()
    await sleep(clock, storage.outage === null ? PROBE_INTERVAL_MS : OUTAGE_PROBE_INTERVAL_MS, end)
  }
}
