import type { Storage } from '../../storage/port.ts'
import { aborted } from '../supervision/aborted.ts'
import { cacheGauges } from './cache-gauges.ts'
import { tellOfDamage } from '../chain/damage-watch.ts'
import { watchOutages, type WatchDeps } from './outage-watch.ts'
import { patienceWith } from './patience.ts'
import type { Run } from '../supervision/process.ts'

/**
 * The process that owns the store: opens it, lets `prepare` make it fit for use, and closes it last. A store that must
 * be opened again crashes it, so that this happens at once and not only after everything built on it has given up. One
 * that other processes have, too, can be away for a while, which it says and lives through.
 */
export function store(
  open: () => Promise<Storage>,
  prepare: (storage: Storage) => Promise<void>,
  watch: WatchDeps
): Run<unknown, Storage> {
  return async ({ draining, ready, gauge }) => {
    const storage = await open()
    const closing = new AbortController()
    if (!storage.isShared) void tellOfDamage(storage, watch, closing.signal)
    try {
      await patienceWith(storage, watch.clock)(() => prepare(storage), draining)
      cacheGauges(gauge, 'record', () => storage.recordCache)
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
