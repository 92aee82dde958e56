import type { Storage } from '../../storage/port.ts'
import { aborted } from '../supervision/aborted.ts'
import { cacheGauges } from './cache-gauges.ts'
import { logDamage } from '../ingest/damage-watch.ts'
import { watchOutages, type WatchDeps } from './outage-watch.ts'
import { retryWhileUnavailable } from './retry.ts'
import type { Run } from '../supervision/process.ts'

/**
 * Owns the store: opens it, runs `prepare` on it, and closes it last. A store that must be reopened crashes this
 * process at once, so that everything built on it restarts. A shared store can be unavailable for a while; the
 * process logs that and survives it.
 */
export function store(
  open: () => Promise<Storage>,
  prepare: (storage: Storage) => Promise<void>,
  watch: WatchDeps
): Run<unknown, Storage> {
  return async ({ draining, ready, gauge }) => {
    const storage = await open()
    const closing = new AbortController()
    if (!storage.isShared) void logDamage(storage, watch, closing.signal)
    try {
      await retryWhileUnavailable(storage, watch.clock)(() => prepare(storage), draining)
      const { accountPages, waitingReads } = storage
      cacheGauges(gauge, 'record', () => storage.recordCache)
      if (accountPages !== null) cacheGauges(gauge, 'account_page', () => accountPages)
      if (waitingReads !== null) gauge('reads_waiting', () => storage.waitingReads!)
      ready(storage)
      if (storage.isShared) void watchOutages(storage, watch, closing.signal)
      const failure = await Promise.race([aborted(draining), storage.failed])
      if (failure !== undefined) throw failure
    } finally {
      closing.abort()
      await storage.close()
    }
  }
}
